//! Outcomes that every kind of step tells alike.

use semel_act::{Failure, FailureClass, Outcome};

use crate::limits::Held;

/// It did not happen, and nothing was said about it.
pub(crate) fn failed(class: FailureClass, message: String) -> Outcome {
    Outcome::Failed(Failure {
        class,
        message,
        retry_after: None,
        answer: None,
    })
}

/// Of a task that was held back.
pub(crate) fn held(held: &Held) -> Outcome {
    Outcome::Failed(Failure {
        class: FailureClass::NeverSent,
        message: held.to_string(),
        retry_after: Some(held.retry_after()),
        answer: None,
    })
}

/// Whether the destination did what destinations are for, as its breaker counts; `None` if the
/// outcome says nothing about it.
pub(crate) fn is_healthy(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::Done(_) => Some(true),
        Outcome::Unknown { .. } => Some(false),
        Outcome::Failed(failure) => match failure.class {
            FailureClass::Refused => Some(true),
            FailureClass::NeverSent | FailureClass::Transient => Some(false),
            FailureClass::Permanent => None,
        },
    }
}
