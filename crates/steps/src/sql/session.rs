//! What every database must be able to do for a step.
//!
//! Owns the words between the course of a step ([`super::course`]) and the databases. A session is
//! one connection; one that is dropped is closed, and the database gives up what was not committed.

use std::time::Duration;

use semel_ledger::EffectId;

use super::fault::Fault;
use super::plan::Plan;
use super::receipts::Claim;
use super::rows::Found;

/// What a transaction may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Where sessions come from.
pub(super) trait Door: Send + Sync {
    type Session: Session;

    /// Opens a session; `password` if the connection has one.
    async fn open(&self, password: Option<&str>) -> Result<Self::Session, Fault>;

    /// Whether a statement that begins with that word commits by itself, whatever is done around it.
    fn commits_itself(&self, word: &str) -> bool;
}

/// One connection to a database.
pub(super) trait Session: Send {
    /// Begins a transaction that the database itself ends after about that long.
    async fn begin(&mut self, access: Access, left: Duration) -> Result<(), Fault>;

    /// Makes the mark of an effect, without its result. Waits for whoever is making the same mark.
    async fn claim(&mut self, effect: &EffectId) -> Result<Claim, Fault>;

    /// Makes the table of marks, outside of any transaction.
    async fn make_table(&mut self) -> Result<(), Fault>;

    /// Checks the work as far as it can be without doing any of it.
    async fn prepare(&mut self, plan: &Plan) -> Result<(), Fault>;

    /// Does the work.
    async fn carry_out(&mut self, plan: &Plan) -> Result<Found, Fault>;

    /// Writes the result into the mark that this transaction made.
    async fn record(&mut self, effect: &EffectId, result: &str) -> Result<(), Fault>;

    /// Commits. [`super::fault::FaultKind::Gone`] leaves in doubt whether it did.
    async fn commit(&mut self) -> Result<(), Fault>;

    async fn rollback(&mut self) -> Result<(), Fault>;
}
