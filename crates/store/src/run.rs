//! Runs as the store keeps them: one small row each, a journal that only grows, and mail.
//!
//! Owns what can happen to a run's row ([`Start`], [`Advance`], [`Next`]) and what is kept of it ([`Run`]).
//! What the journal's rows say is the engine's business: here they are text.
//!
//! The invariants: a run is started only together with the effect that stands for its key; a
//! journal row is written once, by whoever holds the run, in the commit that writes what it
//! tells; at most one node holds a run; mail is never lost between two looks at it.

mod begin;
mod name;
mod release;

use semel_ledger::{Key, Time};

use crate::change::{Answered, EffectChange};
use crate::kv::KvPut;

pub(crate) use begin::{Beginning, Place, REPLACED};
pub use name::{ReleaseId, RunId, RunState};
pub use release::{CursorChange, Release, ReleaseChange};

/// A queue that runs go through, so many at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Which queue.
    pub id: [u8; 16],
    /// How many at a time.
    pub width: u32,
    /// What happens when it is full.
    pub when_full: WhenFull,
}

/// What happens to a run whose lane is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits for its turn.
    Queue,
    /// It is not started.
    Skip,
    /// It waits, and whoever is in the lane, or waits for it, is sent this mail (a request to end).
    Replace,
}

/// The newest version of a thing that was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latest {
    /// Which thing (a hash of flow and name).
    pub of: [u8; 16],
    /// Its version; older than what was applied is stale.
    pub version: i64,
}

/// A run to be started.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its name.
    pub id: RunId,
    /// Of which flow.
    pub flow: Box<str>,
    /// By which text of it.
    pub release: ReleaseId,
    /// What it is about: the flow's key, for people and for finding it again.
    pub key: Key,
    /// The run that waits for it.
    pub parent: Option<RunId>,
    /// The queue it goes through.
    pub lane: Option<Lane>,
    /// When it may begin; `None`: at once, by the committing node, which must be a member.
    pub wake: Option<Time>,
    /// Where it stands from the beginning: queued, running, or parked.
    pub state: RunState,
    /// One line for people.
    pub why: Box<str>,
    /// The journal's first row.
    pub opening: Box<str>,
    /// New large values that the row refers to.
    pub contents: Vec<Vec<u8>>,
}

/// Starts a run together with the effect that stands for its key.
#[derive(Clone, Debug)]
pub struct Start {
    /// The effect (a `Once`); its result names the run. Without one the run is started in any case.
    pub once: Option<EffectChange>,
    /// Only if nothing newer was applied.
    pub latest: Option<Latest>,
    /// The effect's result in place of its own if the event is stale, or the run is skipped.
    pub otherwise: Option<Box<str>>,
    /// The run.
    pub run: NewRun,
}

/// What became of a [`Start`].
#[derive(Clone, Debug)]
pub struct Started {
    /// What the effect answered, if there is one.
    pub answered: Option<Answered>,
    /// What became of the run.
    pub outcome: StartOutcome,
}

impl Started {
    /// Whether the committing node must begin it now.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.outcome == StartOutcome::Started { held: true }
    }
}

/// What became of a run that was to be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    /// It is there; `held`: by the committing node, which must begin it now.
    Started {
        /// By the committing node.
        held: bool,
    },
    /// The effect refused it: see its verdict. Or, if there is none, a run of that name is there.
    Refused,
    /// Something newer was applied; that is on record.
    Stale,
    /// Its lane is full and says skip; that is on record.
    Skipped,
}

/// One more row in a run's journal, and what becomes of the run.
#[derive(Clone, Debug)]
pub struct Advance {
    /// Which run; the committing node must hold it.
    pub run: RunId,
    /// The position of the new row: how many rows there are before it.
    pub at: u32,
    /// What the row says; `None` writes no row.
    pub row: Option<Box<str>>,
    /// New large values that the row refers to.
    pub contents: Vec<Vec<u8>>,
    /// Values that the row tells of: put there if it is written, behind all other changes of the commit.
    pub puts: Vec<KvPut>,
    /// Mail up to this position has been read and goes.
    pub read_mail: Option<i64>,
    /// What becomes of the run.
    pub next: Next,
}

/// What becomes of a run after a row.
#[derive(Clone, Debug)]
pub enum Next {
    /// The node goes on with it; the run's row is not touched.
    GoOn,
    /// The node goes on with it, and people see this.
    Show {
        /// Where it stands.
        state: RunState,
        /// One line for people.
        why: Box<str>,
    },
    /// The node lets go of it. If mail waits that is not among `read_mail`, it wakes at once.
    Rest {
        /// Where it stands.
        state: RunState,
        /// One line for people.
        why: Box<str>,
        /// When it goes on by itself; `None`: only by mail.
        wake: Option<Time>,
        /// The next in its lane may pass.
        yields: bool,
    },
    /// It is over. Its lane moves on. Mail that waits is dropped.
    Finish {
        /// How it ended.
        state: RunState,
        /// One line for people.
        why: Box<str>,
        /// To the run that waits for it, if one does: sent when no other run of the same lane is
        /// open, or at once if it has no lane.
        tell: Option<Box<str>>,
    },
}

/// A run as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// Of which flow.
    pub flow: Box<str>,
    /// By which text of it.
    pub release: ReleaseId,
    /// What it is about.
    pub key: Key,
    /// The run that waits for it.
    pub parent: Option<RunId>,
    /// Where it stands.
    pub state: RunState,
    /// One line for people.
    pub why: Box<str>,
    /// When it was started.
    pub created_at: Time,
    /// When its state or its line for people was last written.
    pub changed_at: Time,
    /// When it goes on by itself.
    pub wake: Option<Time>,
    /// Which node holds it.
    pub node: Option<u64>,
    /// Its lane has not let it in: whoever holds it may end it, but not begin it.
    pub waits: bool,
}

/// One row of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRow {
    /// Its position, from 0.
    pub at: u32,
    /// When it was written.
    pub written_at: Time,
    /// What it says.
    pub row: Box<str>,
}

/// Something that a run is told from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Its position; grows.
    pub seq: i64,
    /// When it came.
    pub at: Time,
    /// What it says.
    pub note: Box<str>,
}

/// A run with everything that is needed to go on with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Its row.
    pub run: Run,
    /// Its journal, from the first row on.
    pub journal: Vec<JournalRow>,
    /// What it was told and has not read, oldest first.
    pub mail: Vec<Mail>,
}

/// Which runs are asked for.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Of this flow.
    pub flow: Option<String>,
    /// In one of these states; empty: any.
    pub states: Vec<RunState>,
    /// About this key, exactly.
    pub key: Option<String>,
    /// Children of this run; without it only runs that have no parent.
    pub parent: Option<RunId>,
    /// Started at or after.
    pub since: Option<Time>,
    /// Started before.
    pub until: Option<Time>,
    /// Whose state or line for people was written at or after.
    pub changed: Option<Time>,
    /// Whose key or line for people has this in it, in capitals or not.
    pub text: Option<String>,
    /// Older than this one: where the page before ended.
    pub before: Option<RunId>,
    /// At most so many.
    pub limit: usize,
}

/// What the sweeper needs to know of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) id: RunId,
    /// When it ended; `None` if it is open.
    pub(crate) at: Option<Time>,
}

impl Ended {
    pub(crate) fn of(run: &Run) -> Ended {
        Ended {
            id: run.id,
            at: Some(run.changed_at).filter(|_| !run.state.is_open()),
        }
    }
}
