//! A run's history, in the words it is stored in.
//!
//! Owns the happenings ([`Happening`]) and their text form: one journal row is one JSON list of
//! what became true in one commit. A run's state is nothing but its happenings, folded in order.
//! The invariant: what is written here was decided or observed already; reading it back never asks
//! a clock, an expression or the world again.

mod done;
mod ended;
mod gate;
mod kept;
mod opening;
mod text;
mod usage;
mod waiting;

use std::sync::Arc;

use semel_ledger::{Fence, Time};
use serde::{Deserialize, Serialize};

pub use done::{Done, How};
pub use ended::{Ending, Failed};
pub use gate::Requested;
pub use kept::Kept;
pub use opening::{Again, Headers, Opening, Origin, Raw, Within};
pub use usage::Usage;
pub use waiting::{Emitted, Waits, WaitsFor};

/// Something that became true of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// It began.
    Opened(Box<Opening>),
    /// A step's `if` was false, or its branch was not taken.
    Skipped {
        /// Which.
        step: Arc<str>,
    },
    /// A step with steps inside began; of a `switch`, with this case.
    Entered {
        /// Which.
        step: Arc<str>,
        /// The case of a switch, counted from 0; `otherwise` is one past the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        case: Option<u32>,
    },
    /// A claim was asked for, under this fence; whether it was granted the ledger knows.
    Asked {
        /// Which.
        step: Arc<str>,
        /// Counted from 1.
        attempt: u32,
        /// The claim's fence.
        #[serde(with = "text::fence")]
        fence: Fence,
        /// The effect's scope.
        scope: Box<str>,
        /// The effect's key.
        key: Box<str>,
    },
    /// It happened, with this result.
    Done(Box<Done>),
    /// An attempt definitely did nothing; another will follow.
    Failed(Box<Failed>),
    /// An attempt's outcome is not known.
    Lost {
        /// Which.
        step: Arc<str>,
        /// Which attempt.
        attempt: u32,
        /// What went wrong.
        message: Box<str>,
        /// When the attempt began.
        #[serde(with = "text::millis")]
        at: Time,
        /// When nobody could know any more; left out, then. What it did may be as young as that.
        #[serde(
            default,
            with = "text::millis_option",
            skip_serializing_if = "Option::is_none"
        )]
        noticed: Option<Time>,
    },
    /// The destination was asked whether it happened, or whether a thing is there.
    Probed {
        /// Which.
        step: Arc<str>,
        /// Whether it was there; `None`: no answer that tells.
        found: Option<bool>,
        /// What it said.
        evidence: Kept,
        /// When to ask again, if there was no answer that tells.
        #[serde(
            default,
            with = "text::millis_option",
            skip_serializing_if = "Option::is_none"
        )]
        again_at: Option<Time>,
    },
    /// Somebody else is at it, or the lock is taken.
    Busy {
        /// Which.
        step: Arc<str>,
        /// When to look again.
        #[serde(with = "text::millis")]
        until: Time,
        /// Since when it waits.
        #[serde(with = "text::millis")]
        since: Time,
    },
    /// A person has to decide.
    Parked {
        /// Which.
        step: Arc<str>,
        /// Why.
        why: Box<str>,
        /// The effect that is in review.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<(Box<str>, Box<str>)>,
    },
    /// A person decided, or asked to go on; the step is looked at again.
    Resumed {
        /// Which.
        step: Arc<str>,
        /// Who.
        by: Box<str>,
        /// What they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Box<str>>,
    },
    /// It rested and goes on: from here on a step may be under way.
    Woken,
    /// Runs for items or a called flow were started.
    Spawned(Box<Spawned>),
    /// Those runs are over.
    Returned {
        /// Which step waited for them.
        step: Arc<str>,
    },
    /// A step has finally failed.
    GaveUp {
        /// Which.
        step: Arc<str>,
        /// Why.
        message: Box<str>,
    },
    /// A `stop` was reached.
    Stopped {
        /// Which.
        step: Arc<str>,
        /// What it says.
        message: Box<str>,
    },
    /// Somebody asked the run to end.
    Cancelled {
        /// Who, or `replaced`.
        by: Box<str>,
        /// They want what is done taken back.
        #[serde(default, skip_serializing_if = "is_false")]
        undo: bool,
    },
    /// It is over.
    Ended {
        /// How.
        how: Ending,
        /// One line for people.
        why: Box<str>,
    },
    /// A step that can be taken back is about to act, and no claim says so: from here on it may
    /// have happened.
    Begun {
        /// Which.
        step: Arc<str>,
    },
    /// It is known by now that a step did not happen; the run is being undone, so it will not.
    NotDone {
        /// Which.
        step: Arc<str>,
    },
    /// It rests until a time, or until something has come.
    Waits(Box<Waits>),
    /// A callback came before its turn; it is used when that comes.
    CameEarly {
        /// Which step will wait for it.
        step: Arc<str>,
        /// What was posted.
        result: Kept,
    },
    /// An event was emitted; whoever waits for it is told before the step is done.
    Emitted(Box<Emitted>),
    /// People were asked for leave; what they answer is in the ledger.
    Requested(Box<Requested>),
}

/// Runs that were started for a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spawned {
    /// Which step waits for them.
    pub step: Arc<str>,
    /// A `for_each`: how many items there are.
    pub total: u64,
    /// How many of them were looked at so far.
    pub begun: u64,
    /// How many of those the ledger knew as done already.
    pub reused: u64,
    /// A `for_each`: where the rest of the items is kept, in pieces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Kept>,
    /// A `call`: the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<str>>,
    /// Whether any of them is to be waited for.
    pub waits: bool,
}

/// What a run can be told from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// End.
    Cancel {
        /// Who asks.
        by: Box<str>,
        /// Whether what is done is to be taken back.
        #[serde(default, skip_serializing_if = "is_false")]
        undo: bool,
    },
    /// A person has decided something, or wants it looked at again now.
    Resume {
        /// Who.
        by: Box<str>,
        /// What they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Box<str>>,
    },
    /// A child, or the last of a group, is over.
    Child {
        /// Which step waits.
        step: Arc<str>,
    },
    /// A callback came; what was posted is in the ledger.
    Callback {
        /// Which step it is for.
        step: Arc<str>,
    },
    /// An event came that may be waited for.
    Heard {
        /// The run that has it: which it started, or which emitted it.
        run: Box<str>,
        /// The step that emitted it; without one, it started the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        emit: Option<Arc<str>>,
    },
}

/// Why a stored row cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("row {at} of the journal cannot be read")]
pub struct Unreadable {
    /// Which row.
    pub at: u32,
    /// Why.
    pub source: serde_json::Error,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(it: &bool) -> bool {
    !*it
}

/// The text of one row.
#[must_use]
pub fn write(happenings: &[Happening]) -> Box<str> {
    // Only text, numbers and values that are JSON already: there is nothing that could fail.
    serde_json::to_string(happenings).unwrap_or_default().into()
}

/// The happenings of one row.
///
/// # Errors
/// [`Unreadable`] if it was not written by [`write()`].
pub fn read(at: u32, row: &str) -> Result<Vec<Happening>, Unreadable> {
    serde_json::from_str(row).map_err(|source| Unreadable { at, source })
}
