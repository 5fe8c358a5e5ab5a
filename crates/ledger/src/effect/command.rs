//! What can be asked of an effect, and what can be answered.

use super::{Claim, Decision, Fence, Outcome, Request};
use crate::fingerprint::Digest;
use crate::time::{Millis, Time};

/// Something that is to happen to an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Ask to act.
    Claim(Claim),
    /// Claim and settle as done in one: "is this the first time?"
    Once(Claim),
    /// Go on holding the claim for another lease.
    Heartbeat {
        /// The grant.
        fence: Fence,
        /// How long from now.
        lease: Millis,
    },
    /// Say how the act ended.
    Settle {
        /// The grant.
        fence: Fence,
        /// How it ended.
        outcome: Outcome,
        /// All that was said, so that the same again is recognised.
        digest: Digest,
    },
    /// The owner of this grant is known to be dead.
    Abandon {
        /// The grant.
        fence: Fence,
    },
    /// Notice a lease that ran out.
    Lapse,
    /// A person says what is true of an unknown effect.
    Decide {
        /// What they say.
        decision: Decision,
        /// Which attempt they say it of, if they say: a decision that comes late must not speak
        /// for an attempt its author never saw.
        attempt: Option<u32>,
        /// All that was said, so that the same again is recognised.
        digest: Digest,
    },
    /// A done effect was taken back.
    Undo {
        /// All that was said, so that the same again is recognised.
        digest: Digest,
    },
    /// Record that it happened before Semel was there.
    Import {
        /// When it happened.
        at: Time,
        /// How long it protects, from then on.
        remember: Millis,
    },
    /// Give back what is no longer needed.
    Sweep {
        /// How long inputs and results are kept.
        keep: Millis,
    },
    /// Ask a person for leave.
    Request(Request),
}

impl Command {
    /// Whether it makes an entry where there is none.
    #[must_use]
    pub fn may_be_first(&self) -> bool {
        matches!(
            self,
            Command::Claim(_) | Command::Once(_) | Command::Import { .. } | Command::Request(_)
        )
    }
}

/// The answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Act now: the claim is yours.
    Granted,
    /// Asked with [`Command::Once`]: this is the first time.
    First,
    /// It happened already (or is taken as having happened).
    Done,
    /// Somebody else is at it.
    Busy,
    /// Nobody knows whether it happened: decide first.
    Unknown,
    /// The same key stood for another input.
    Conflict,
    /// The outcome is on record.
    Settled {
        /// It already was.
        again: bool,
    },
    /// The lease was extended.
    Extended,
    /// That grant no longer holds; nothing was changed.
    Stale,
    /// The decision is on record.
    Decided {
        /// It already was.
        again: bool,
    },
    /// There is nothing to decide or undo in this state.
    NotOpen,
    /// Recorded as done from before.
    Imported,
    /// Something is on record already; the import changed nothing.
    Exists,
    /// There is no such effect.
    Missing,
    /// A background duty changed it.
    Swept,
    /// A background duty left it alone.
    Kept,
    /// Asked with [`Command::Request`]: a person has it before them.
    Asked,
}

impl Verdict {
    /// Whether whoever asked got it: they may act, were the first, or a person is asked for them.
    #[must_use]
    pub fn is_grant(self) -> bool {
        matches!(self, Verdict::Granted | Verdict::First | Verdict::Asked)
    }

    /// Whether a claim or request was refused: each of these leaves a receipt.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            Verdict::Done | Verdict::Busy | Verdict::Unknown | Verdict::Conflict
        )
    }

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Granted => "granted",
            Verdict::First => "first",
            Verdict::Done => "done",
            Verdict::Busy => "busy",
            Verdict::Unknown => "unknown",
            Verdict::Conflict => "conflict",
            Verdict::Settled { .. } => "settled",
            Verdict::Extended => "extended",
            Verdict::Stale => "stale",
            Verdict::Decided { .. } => "decided",
            Verdict::NotOpen => "not_open",
            Verdict::Imported => "imported",
            Verdict::Exists => "exists",
            Verdict::Missing => "missing",
            Verdict::Swept => "swept",
            Verdict::Kept => "kept",
            Verdict::Asked => "asked",
        }
    }
}
