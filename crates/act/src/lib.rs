//! What the engine asks of the world, and what can come of it.
//!
//! Owns the words that the engine and the kinds of steps share: a [`Task`] goes out, an [`Outcome`] comes
//! back. It stands between them so that neither knows the other: a step cannot see runs or the
//! store, the engine cannot see a protocol, and a simulation can take the steps' place.
//!
//! The invariant: an outcome says what is known about the *effect*. Whoever performs a task calls
//! [`Trace::sent`] before the first byte that could have an effect leaves, and answers
//! [`Outcome::Unknown`] whenever it left and no definite answer came.

mod destination;
mod secrets;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Act, Class};
use semel_ledger::{Key, Millis, Scope};

pub use destination::{Breaker, Destination, LATENCIES};
pub use secrets::{LEAST_BYTES, Redactor, SecretSet, Secrets};

/// One call to the world, ready to go.
#[derive(Clone, Debug)]
pub struct Task {
    /// What the file says: the kind, and the expressions over each answer.
    pub act: Arc<Act>,
    /// Its fields with every template rendered; secrets still by name.
    pub input: Value,
    /// What a repeat would do.
    pub class: Class,
    /// Which action it is, if it has an effect: the half of its name that keeps two mails about
    /// one order apart.
    pub scope: Option<Scope>,
    /// Which thing it is about, if it has an effect; a native idempotency key is its text.
    pub key: Option<Key>,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// How long it may take in all.
    pub timeout: Millis,
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A definite answer: it happened. What later steps and expressions see of it, such as
    /// `status`, `headers` and `body`.
    Done(Answer),
    /// It definitely did not happen.
    Failed(Failure),
    /// It may have happened.
    Unknown {
        /// What went wrong, for people; no secrets.
        message: String,
        /// The answer, if there was one, as evidence.
        evidence: Option<Answer>,
    },
}

/// What the destination said.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The names that expressions over the answer may use.
    pub names: Value,
    /// What later steps see if the file says nothing else.
    pub result: Value,
}

/// Why it definitely did not happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What may be done about it.
    pub class: FailureClass,
    /// For people; no secrets.
    pub message: String,
    /// Transient: not before this long from now.
    pub retry_after: Option<Millis>,
    /// The answer, if there was one.
    pub answer: Option<Answer>,
}

/// What may be done about a definite failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// No byte left: try again freely.
    NeverSent,
    /// The destination was busy and did nothing: come back later.
    Transient,
    /// The destination will not do it.
    Refused,
    /// The task itself is wrong, such as a forbidden address.
    Permanent,
}

impl FailureClass {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FailureClass::NeverSent => "never_sent",
            FailureClass::Transient => "transient",
            FailureClass::Refused => "refused",
            FailureClass::Permanent => "permanent",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<FailureClass> {
        [
            FailureClass::NeverSent,
            FailureClass::Transient,
            FailureClass::Refused,
            FailureClass::Permanent,
        ]
        .into_iter()
        .find(|class| class.name() == name)
    }

    /// Whether trying again may help.
    #[must_use]
    pub fn may_pass(self) -> bool {
        matches!(self, FailureClass::NeverSent | FailureClass::Transient)
    }
}

/// Told how far a task has come, at the moment it comes there.
pub trait Trace: Send + Sync {
    /// The next byte may have an effect. Called before it leaves, every time.
    fn sent(&self);
}

/// A trace for tasks whose repeat is harmless.
#[derive(Clone, Copy, Debug)]
pub struct Untraced;

impl Trace for Untraced {
    fn sent(&self) {}
}

/// The answer to come.
pub type Performing<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Whoever can perform tasks: the real steps, or a simulation.
pub trait Perform: Send + Sync {
    /// Performs one task once, within its timeout. Never repeats anything by itself that
    /// could have an effect. Dropping the future ends the call as far as it can be ended.
    fn perform<'a>(&'a self, task: &'a Task, trace: &'a dyn Trace) -> Performing<'a>;

    /// What a call asks for in full, if that is more than its fields say and its effect is named by
    /// it: what a name in the configuration stands for today. Pure; secrets by name only.
    ///
    /// # Errors
    /// Why it cannot be performed at all, for people.
    fn identity(&self, act: &Act, input: &Value) -> Result<Option<Value>, String> {
        let _ = (act, input);
        Ok(None)
    }

    /// How the destinations are doing that were spoken to lately, by name.
    fn destinations(&self) -> Vec<Destination> {
        Vec::new()
    }
}
