//! How a run begins: who holds it, when it wakes, and where it stands with its lane.
//!
//! Every backend asks here, inside the transaction that writes the run, so they cannot disagree.

use semel_ledger::Time;

use super::{NewRun, RunState};
use crate::node::Membership;

/// What a run is sent whose place in the lane a newer one takes.
pub(crate) const REPLACED: &str = r#"{"cancel":{"by":"replaced"}}"#;

/// Where a run stands with its lane. The numbers are those of the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It waits to be let in.
    Waits = 0,
    /// It is in the lane and counts.
    In = 1,
    /// It let the next one pass and counts no more.
    Left = 2,
}

/// How a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beginning {
    pub(crate) state: RunState,
    pub(crate) place: Option<Place>,
    pub(crate) wake: Option<Time>,
    pub(crate) node: Option<u64>,
}

impl Beginning {
    /// Of this run, if its lane is `full` or not, started by `member`.
    pub(crate) fn of(run: &NewRun, full: bool, member: Option<Membership>, now: Time) -> Beginning {
        let resting = |state, place, wake| Beginning {
            state,
            place,
            wake,
            node: None,
        };
        if full {
            return resting(RunState::Queued, Some(Place::Waits), None);
        }
        let place = run.lane.map(|_| Place::In);
        match (run.state, run.wake, member) {
            (RunState::Parked, _, _) => resting(RunState::Parked, place, None),
            (state, Some(wake), _) => resting(state, place, Some(wake)),
            (state, None, None) => resting(state, place, Some(now)),
            (state, None, Some(member)) => Beginning {
                state,
                place,
                wake: None,
                node: Some(member.node),
            },
        }
    }

    /// Whether whoever commits must begin it now.
    pub(crate) fn is_held(&self) -> bool {
        self.node.is_some()
    }
}
