//! Sentences about runs.

use semel_ledger::{EffectId, Key};
use semel_store::run::{
    Advance, Lane, Latest, NewRun, Next, ReleaseId, RunId, RunState, Start, WhenFull,
};
use semel_store::{Change, EffectChange};

/// The flow of every run that names no other.
pub(crate) const FLOW: &str = "orders";
/// The release of every run.
pub(crate) const RELEASE: ReleaseId = ReleaseId([7; 32]);

/// The run of that number; greater numbers are younger.
pub(crate) fn run_id(n: u64) -> RunId {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&n.to_be_bytes());
    RunId(id)
}

/// A run that begins at once, without an effect.
pub(crate) fn start(n: u64) -> Start {
    let run = NewRun {
        id: run_id(n),
        flow: FLOW.into(),
        release: RELEASE,
        key: format!("order/{n}").parse::<Key>().expect("a key"),
        parent: None,
        lane: None,
        wake: None,
        state: RunState::Running,
        why: "began".into(),
        opening: format!("{{\"opening\":{n}}}").into(),
        contents: Vec::new(),
    };
    Start {
        once: None,
        latest: None,
        otherwise: None,
        run,
    }
}

/// The effect that stands for a run's key, in the flow's own scope.
pub(crate) fn key_of(n: u64) -> EffectId {
    super::effect_in(FLOW, &format!("order/{n}"))
}

pub(crate) fn lane(id: u8, width: u32, when_full: WhenFull) -> Lane {
    Lane {
        id: [id; 16],
        width,
        when_full,
    }
}

/// The rest of a sentence that starts a run.
pub(crate) trait Starting: Sized {
    fn run(self, change: impl FnOnce(&mut NewRun)) -> Self;
    fn once(self, once: EffectChange) -> Self;
    fn latest(self, of: u8, version: i64) -> Self;
    fn otherwise(self, result: &str) -> Self;

    fn in_lane(self, lane: Lane) -> Self {
        self.run(|run| run.lane = Some(lane))
    }
    fn child_of(self, parent: u64) -> Self {
        self.run(|run| run.parent = Some(run_id(parent)))
    }
    fn flow(self, flow: &str) -> Self {
        self.run(|run| run.flow = flow.into())
    }
    fn key(self, key: &str) -> Self {
        self.run(|run| run.key = key.parse().expect("a key"))
    }
    fn state(self, state: RunState) -> Self {
        self.run(|run| run.state = state)
    }
}

impl Starting for Start {
    fn run(mut self, change: impl FnOnce(&mut NewRun)) -> Start {
        change(&mut self.run);
        self
    }
    fn once(mut self, once: EffectChange) -> Start {
        self.once = Some(once);
        self
    }
    fn latest(mut self, of: u8, version: i64) -> Start {
        let of = [of; 16];
        self.latest = Some(Latest { of, version });
        self
    }
    fn otherwise(mut self, result: &str) -> Start {
        self.otherwise = Some(result.into());
        self
    }
}

/// One more row at `at`, after which `next`.
pub(crate) fn advance(n: u64, at: u32, next: Next) -> Advance {
    Advance {
        run: run_id(n),
        at,
        row: Some(format!("{{\"row\":{at}}}").into()),
        contents: Vec::new(),
        puts: Vec::new(),
        read_mail: None,
        next,
    }
}

pub(crate) fn show(state: RunState) -> Next {
    let why = format!("shown as {}", state.name()).into();
    Next::Show { state, why }
}

/// Rests until mail comes.
pub(crate) fn rest(state: RunState) -> Next {
    Next::Rest {
        state,
        why: format!("rests as {}", state.name()).into(),
        wake: None,
        yields: false,
    }
}

pub(crate) fn rest_until(wake: semel_ledger::Time) -> Next {
    Next::Rest {
        state: RunState::Waiting,
        why: "for a time".into(),
        wake: Some(wake),
        yields: false,
    }
}

pub(crate) fn finish(state: RunState) -> Next {
    Next::Finish {
        state,
        why: format!("ended as {}", state.name()).into(),
        tell: None,
    }
}

pub(crate) fn finish_and_tell(note: &str) -> Next {
    Next::Finish {
        state: RunState::Done,
        why: "all steps are done".into(),
        tell: Some(note.into()),
    }
}

pub(crate) fn mail(n: u64, note: &str) -> Change {
    Change::Mail {
        run: run_id(n),
        note: note.into(),
    }
}
