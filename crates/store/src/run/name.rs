//! What runs and releases are called, and the words for where a run stands.

use crate::blob::{hex, unhex};

/// The name of a run; sorts by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub [u8; 16]);

impl RunId {
    /// `run_…`
    #[must_use]
    pub fn text(self) -> String {
        format!("run_{}", hex(&self.0))
    }

    /// The id that [`RunId::text`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<RunId> {
        text.strip_prefix("run_").and_then(unhex).map(RunId)
    }

    /// The name of the event that started it: `evt_…`
    #[must_use]
    pub fn event_text(self) -> String {
        format!("evt_{}", hex(&self.0))
    }

    /// The run that the event of this name started.
    #[must_use]
    pub fn parse_event(text: &str) -> Option<RunId> {
        text.strip_prefix("evt_").and_then(unhex).map(RunId)
    }
}

/// The name of a release: the hash of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReleaseId(pub [u8; 32]);

/// Where a run stands, as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunState {
    /// Not begun, or waiting for its turn.
    Queued,
    /// Being worked on.
    Running,
    /// A step will be tried again.
    Retrying,
    /// For a time, a lock, another run.
    Waiting,
    /// A step's outcome is being found out.
    Unknown,
    /// For a person.
    Parked,
    /// All steps are done.
    Done,
    /// A step has finally failed.
    Failed,
    /// Failed or cancelled, and taken back.
    Undone,
    /// Ended by a person or by a newer run.
    Cancelled,
}

impl RunState {
    /// Every state, in the order of their numbers in the stores.
    pub const ALL: [RunState; 10] = [
        RunState::Queued,
        RunState::Running,
        RunState::Retrying,
        RunState::Waiting,
        RunState::Unknown,
        RunState::Parked,
        RunState::Done,
        RunState::Failed,
        RunState::Undone,
        RunState::Cancelled,
    ];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RunState::Queued => "queued",
            RunState::Running => "running",
            RunState::Retrying => "retrying",
            RunState::Waiting => "waiting",
            RunState::Unknown => "unknown",
            RunState::Parked => "parked",
            RunState::Done => "done",
            RunState::Failed => "failed",
            RunState::Undone => "undone",
            RunState::Cancelled => "cancelled",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<RunState> {
        RunState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether something is still to come: these are never swept.
    #[must_use]
    pub fn is_open(self) -> bool {
        self < RunState::Done
    }
}
