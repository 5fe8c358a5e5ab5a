//! The first row of a run, an attempt that failed, and all rows folded.

use semel_act::{Failure, FailureClass, Outcome};
use semel_engine::journal::{self, Happening, Headers, Kept, Opening, Origin};
use semel_engine::state::State;
use semel_flow::Value;
use semel_ledger::Time;

pub(crate) fn opening(n: i64) -> Opening {
    Opening {
        by: Origin::Manual,
        event: Kept::Is(Value::map([("id", Value::Int(1)), ("n", Value::Int(n))])),
        at: Time(0),
        from: None,
        raw: None,
        headers: Headers::new(),
        within: None,
        again: None,
    }
}

pub(crate) fn folded(rows: &[Box<str>]) -> State {
    let mut state: Option<State> = None;
    for (at, row) in rows.iter().enumerate() {
        for happening in journal::read(u32::try_from(at).expect("few"), row).expect("own row") {
            match (&mut state, happening) {
                (None, Happening::Opened(opening)) => state = Some(State::opened(*opening)),
                (Some(state), happening) => state.apply(&happening),
                (None, other) => panic!("{other:?} before the opening"),
            }
        }
    }
    state.expect("an opening")
}

pub(crate) fn failed(class: FailureClass) -> Outcome {
    Outcome::Failed(Failure {
        class,
        message: class.name().to_owned(),
        retry_after: None,
        answer: None,
    })
}
