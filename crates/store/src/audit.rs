//! Who did what to what, from where.
//!
//! An entry is written before the thing is done, and what came of it behind: one without a status is of a request
//! during which the process died, or whose end could not be written. Names and targets only.

use semel_ledger::Time;

/// How long entries are kept.
pub const AUDIT_KEPT: semel_ledger::Millis = semel_ledger::Millis::days(400);

/// What is known of a request before it is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Who: a person's or a token's name.
    pub who: Box<str>,
    /// How they came to be known.
    pub via: Box<str>,
    /// From where.
    pub address: Option<Box<str>>,
    /// What was asked for.
    pub action: Box<str>,
    /// To what it was to be done.
    pub target: Box<str>,
    /// A word on how, such as which decision.
    pub note: Option<Box<str>>,
    /// What came of it, as the status of the answer.
    pub status: Option<u16>,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place.
    pub seq: i64,
    /// When.
    pub at: Time,
    /// What.
    pub deed: Deed,
}

/// What can happen to the log.
#[derive(Clone, Debug)]
pub enum AuditChange {
    /// One more entry.
    Add(Deed),
    /// What came of it. Changes nothing if that is known.
    End {
        /// Which entry.
        seq: i64,
        /// The status of the answer.
        status: u16,
        /// To what it was done, if more is known by now.
        target: Option<Box<str>>,
        /// A word on how.
        note: Option<Box<str>>,
    },
    /// Forget up to so many entries from before a time.
    Sweep {
        /// From before when.
        until: Time,
        /// How many at most.
        limit: u32,
    },
}

/// Which entries.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only by this one.
    pub who: Option<Box<str>>,
    /// Only at or after this.
    pub since: Option<Time>,
    /// Only before this.
    pub until: Option<Time>,
    /// Only before this place.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: usize,
}
