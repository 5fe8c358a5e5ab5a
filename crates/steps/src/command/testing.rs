//! What the tests of both kinds say and read.

use semel_act::{Failure, Outcome};
use semel_flow::Value;

/// The field of a command with these words.
pub(crate) fn command(words: &[&str]) -> (&'static str, Value) {
    let words = words.iter().map(|word| Value::text(word)).collect();
    ("command", Value::list(words))
}

/// The answer of what is done.
pub(crate) fn done(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done(answer) => {
            assert_eq!(answer.names, answer.result);
            answer.result
        }
        other => panic!("{other:?}"),
    }
}

/// Why it is not.
pub(crate) fn failure(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

/// A member that is text.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_text).unwrap()
}
