//! Why a database did not do it, told apart by what may be done about it.

use semel_act::{Failure, FailureClass, Outcome};

/// What went wrong. The message is for people; it may repeat values, and with them secrets, which
/// are taken out of every outcome.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    pub(super) message: String,
}

/// What kind of trouble it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// There is no connection, and there was none.
    Unreachable,
    /// The connection is gone, or nothing was heard in time. What was not committed will not be;
    /// what was on its way to be committed is in doubt.
    Gone,
    /// The database could not do it now: a deadlock, a lock, no room.
    Busy,
    /// The database will not do it.
    Refused,
    /// The task itself is wrong.
    Wrong,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault {
            kind,
            message: message.into(),
        }
    }

    pub(super) fn gone(message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Gone, message)
    }

    pub(super) fn wrong(message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Wrong, message)
    }

    pub(super) fn refused(message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Refused, message)
    }

    pub(super) fn unreachable(message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Unreachable, message)
    }

    /// Of work that was certainly not committed.
    pub(super) fn outcome(&self) -> Outcome {
        let class = match self.kind {
            FaultKind::Unreachable => FailureClass::NeverSent,
            FaultKind::Gone | FaultKind::Busy => FailureClass::Transient,
            FaultKind::Refused => FailureClass::Refused,
            FaultKind::Wrong => FailureClass::Permanent,
        };
        let message = match self.kind {
            FaultKind::Gone => format!("{}; nothing was committed", self.message),
            _ => self.message.clone(),
        };
        Outcome::Failed(Failure {
            class,
            message,
            retry_after: None,
            answer: None,
        })
    }
}
