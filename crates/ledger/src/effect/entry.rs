//! What the ledger knows of one effect.

use crate::fingerprint::{Digest, Fingerprint};
use crate::time::{Millis, Time};

/// Where an effect stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Somebody may be acting right now.
    Claimed,
    /// It happened; the result is on record.
    Done,
    /// It definitely did not happen.
    Failed,
    /// It may or may not have happened.
    Unknown,
    /// A person has been asked: what became of it, or for leave.
    Review,
    /// It happened and was undone.
    Undone,
    /// Given back unused, or a person approved a resend: free to be claimed.
    Released,
}

impl State {
    /// Every state, in the order of their numbers in the stores.
    pub const ALL: [State; 7] = [
        State::Claimed,
        State::Done,
        State::Failed,
        State::Unknown,
        State::Review,
        State::Undone,
        State::Released,
    ];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Claimed => "claimed",
            State::Done => "done",
            State::Failed => "failed",
            State::Unknown => "unknown",
            State::Review => "review",
            State::Undone => "undone",
            State::Released => "released",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether something is still to come: these are never swept.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, State::Claimed | State::Unknown | State::Review)
    }
}

/// What a grant is recognised by: drawn at random for each claim, never used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fence(pub [u8; 16]);

/// A process on some machine, recognisable for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Which boot of which machine (and which process namespace in it).
    pub machine: [u8; 16],
    /// Its number there.
    pub pid: u32,
    /// When it started, in the machine's own ticks: tells it from a later process of that number.
    pub started: u64,
}

/// Who holds a claim, and so whose death makes it unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Whoever has the token; only the lease tells that it is gone.
    Client,
    /// A process, whose death can be seen on its machine.
    Process(Process),
    /// A node of the server; its own lease governs, not the claim's.
    Node {
        /// The node's number.
        node: u64,
        /// Which life of that node.
        epoch: u64,
    },
}

impl Owner {
    /// The node that holds the claim, if one does.
    #[must_use]
    pub fn node(self) -> Option<u64> {
        match self {
            Owner::Node { node, .. } => Some(node),
            Owner::Client | Owner::Process(_) => None,
        }
    }
}

/// What to do when an earlier attempt's outcome is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnUnknown {
    /// Ask a person.
    #[default]
    Ask,
    /// Act again: the caller says that a repeat is harmless.
    Retry,
    /// Take it as done.
    Skip,
}

impl OnUnknown {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OnUnknown::Ask => "ask",
            OnUnknown::Retry => "retry",
            OnUnknown::Skip => "skip",
        }
    }

    /// The rule of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<OnUnknown> {
        [OnUnknown::Ask, OnUnknown::Retry, OnUnknown::Skip]
            .into_iter()
            .find(|rule| rule.name() == name)
    }
}

/// What the ledger knows of one effect, apart from texts that no rule depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub state: State,
    /// How many grants there have been.
    pub attempt: u32,
    /// The latest grant.
    pub fence: Fence,
    /// Who got the latest grant.
    pub owner: Owner,
    /// What the input was, if it was ever said.
    pub fingerprint: Option<Fingerprint>,
    /// The rule that came with the latest grant, if one did.
    pub on_unknown: Option<OnUnknown>,
    /// How long it protects after it is settled.
    pub remember: Millis,
    /// When it was first claimed.
    pub created_at: Time,
    /// When the latest grant was given.
    pub claimed_at: Time,
    /// Until when the latest grant holds.
    pub lease_until: Time,
    /// When the present state began.
    pub changed_at: Time,
    /// What the settlement or decision that led here said.
    pub settled: Option<Digest>,
    /// Only the outcome is kept: input, result and receipts are gone.
    pub tombstone: bool,
}

impl Entry {
    /// When it stops protecting, if it is settled.
    #[must_use]
    pub fn forgotten_at(&self) -> Option<Time> {
        (!self.state.is_open()).then(|| self.changed_at.after(self.remember))
    }

    /// The entry as it is at `now`: a lease that ran out is already unknown.
    #[must_use]
    pub fn seen_at(&self, now: Time) -> Entry {
        if self.state == State::Claimed && now >= self.lease_until {
            let changed_at = self.lease_until;
            return Entry {
                state: State::Unknown,
                changed_at,
                settled: None,
                ..*self
            };
        }
        *self
    }
}
