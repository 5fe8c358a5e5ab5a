//! What the worker is asked to do.

use std::sync::Arc;

use semel_flow::Value;
use semel_ledger::{EffectId, Fence, Time};
use semel_store::run::RunState;

use crate::gate::Asking;
use crate::journal::Ending;
use crate::kv::Asked;
use crate::resolve::Call;
use crate::state::Grant;

/// How a run rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// What people see.
    pub state: RunState,
    /// Why.
    pub why: String,
    /// When it goes on by itself.
    pub wake: Option<Time>,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest {
            state: RunState::Running,
            why: "running".to_owned(),
            wake: None,
        }
    }
}

/// Something for the worker to do.
#[derive(Debug)]
pub enum Move {
    /// Perform; a repeat is harmless or deduped by the destination.
    Perform(Box<Call>),
    /// Claim the effect, then perform.
    Claim(Box<Call>),
    /// Ask the destination; the step says how the answer is read.
    Ask(Box<Call>),
    /// A claim was asked for before: ask the ledger what came of it.
    Inspect {
        /// Which step.
        step: Arc<str>,
        /// Its grant.
        grant: Grant,
    },
    /// The destination was asked about an effect that was lost: settle it in the ledger.
    Conclude {
        /// Which step.
        step: Arc<str>,
        /// Which effect.
        effect: EffectId,
        /// Whether it happened.
        happened: bool,
        /// What later steps see, if it did.
        result: Value,
    },
    /// The destination may have been asked so long ago that it has forgotten our key: its outcome
    /// is unknown.
    Forgotten {
        /// Which step.
        step: Arc<str>,
        /// What would have been asked again.
        call: Box<Call>,
        /// Since when.
        since: Time,
    },
    /// Change what an `ensure` found; a repeat is harmless.
    Update(Box<Call>),
    /// Enter a lock.
    Lock {
        /// Which step.
        step: Arc<str>,
        /// The lock as an effect.
        effect: EffectId,
        /// The claim's fence.
        fence: Fence,
    },
    /// Leave a lock; its steps have ended.
    Unlock {
        /// Which step.
        step: Arc<str>,
        /// Its grant.
        grant: Grant,
    },
    /// Start runs for the next items, or the called flow, or an event's receivers.
    Spawn {
        /// Which step.
        step: Arc<str>,
    },
    /// The runs that a step waited for are over: take what came of them.
    Collect {
        /// Which step.
        step: Arc<str>,
    },
    /// End the run; locks that it still holds are given back.
    End {
        /// How.
        how: Ending,
        /// One line for people.
        why: String,
        /// Locks it still holds.
        held: Vec<Grant>,
    },
    /// Begin to wait for an event, and look for one that came before.
    Listen {
        /// Which step.
        step: Arc<str>,
        /// Until when at the most.
        until: Time,
    },
    /// Nothing came in time, unless it did at the last moment.
    Expire {
        /// Which step.
        step: Arc<str>,
    },
    /// Ask people for leave, unless the ledger knows a yes to one of these: the first round, and the one after it.
    Request(Vec<Asking>),
    /// People were asked: the ledger knows what they answered, and after its time silence counts.
    Answer {
        /// Which step.
        step: Arc<str>,
    },
    /// Tell those that wait for the event of a step.
    Announce {
        /// Which step.
        step: Arc<str>,
    },
    /// The run goes back, and nobody knows whether this step happened: ask the ledger, and if it
    /// does not know, a person. The step itself is not done any more.
    Settle {
        /// Which step.
        step: Arc<str>,
        /// Its effect.
        effect: EffectId,
    },
    /// Read or change a value in the store.
    Kv {
        /// The step's call.
        call: Box<Call>,
        /// What is asked.
        asked: Asked,
    },
}

impl Rest {
    /// Several branches rest: what matters most to a person is shown, the earliest wakes.
    pub(super) fn together(rests: Vec<Rest>) -> Rest {
        let wake = rests.iter().filter_map(|rest| rest.wake).min();
        let weight = |state: RunState| match state {
            RunState::Parked => 4,
            RunState::Unknown => 3,
            RunState::Retrying => 2,
            RunState::Waiting => 1,
            _ => 0,
        };
        let most = rests.into_iter().max_by_key(|rest| weight(rest.state));
        Rest {
            wake,
            ..most.unwrap_or_default()
        }
    }
}
