//! Why an evaluation has no value, while it is still under way.

use super::EvalError;
use crate::diagnostic::Span;
use crate::value::Value;

/// A value, or why there is none.
pub(super) type Outcome<T = Value> = Result<T, Fault>;

/// Why there is no value. Boxed, so that the good case stays small.
#[derive(Debug)]
pub(super) struct Fault(Box<Reason>);

#[derive(Debug)]
struct Reason {
    kind: FaultKind,
    message: String,
    /// Where; functions leave it to the evaluator, which knows.
    span: Option<Span>,
}

/// What may be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// Something is not there: `default` takes its second value instead.
    Missing,
    /// An operation does not fit its values: `false && …` does not care.
    Wrong,
    /// A limit was reached or a secret was looked at: nothing may hide that.
    Stop,
}

pub(super) fn wrong(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Wrong, message.into())
}

pub(super) fn missing(message: String) -> Fault {
    Fault::new(FaultKind::Missing, message)
}

pub(super) fn stop(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Stop, message.into())
}

/// Someone looked at a secret.
pub(super) fn secret() -> Fault {
    stop("a secret can be sent, never compared, printed or put in a key")
}

impl Fault {
    fn new(kind: FaultKind, message: String) -> Fault {
        Fault(Box::new(Reason {
            kind,
            message,
            span: None,
        }))
    }

    pub(super) fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// The place, unless a nearer one is known.
    pub(super) fn at(mut self, span: Span) -> Fault {
        self.0.span.get_or_insert(span);
        self
    }

    pub(super) fn into_error(self, whole: Span) -> EvalError {
        EvalError {
            message: self.0.message,
            span: self.0.span.unwrap_or(whole),
        }
    }
}
