//! Requests that people were asked, as a run remembers them.

use std::sync::Arc;

use semel_flow::Value;
use semel_ledger::Time;

use super::{Grant, Phase, State};
use crate::journal::{Requested, Waits, WaitsFor};

/// A request that people were asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The request in the ledger.
    pub grant: Grant,
    /// Which round, counted from 1.
    pub round: u32,
    /// Until when they may answer.
    pub until: Time,
    /// What they see: `ask` and `show`.
    pub shown: Value,
    /// Stands for that.
    pub hash: Box<str>,
    /// The ledger may know more: it is to be asked.
    pub look: bool,
}

impl State {
    /// What came of a request is in the ledger; until it was looked at there, nothing is known.
    pub(super) fn requested(&mut self, asked: &Requested) {
        let gate = Gate {
            grant: Grant {
                fence: asked.fence,
                scope: asked.scope.clone(),
                key: asked.key.clone(),
            },
            round: asked.round,
            until: asked.until,
            shown: asked.shown.value(),
            hash: asked.hash.clone(),
            look: true,
        };
        self.set(&asked.step, Phase::Requested(Box::new(gate)));
    }

    pub(super) fn wait(&mut self, waits: &Waits) {
        let (until, what) = (waits.until, waits.what);
        match self.gate(&waits.step) {
            Some(gate) if what == WaitsFor::Approval => {
                gate.until = until;
                gate.look = false;
            }
            _ => self.set(&waits.step, Phase::Waiting { until, what }),
        }
    }

    pub(super) fn resume(&mut self, step: &Arc<str>) {
        match self.gate(step) {
            Some(gate) => gate.look = true,
            None => self.set(step, Phase::Resumed),
        }
    }

    fn gate(&mut self, step: &str) -> Option<&mut Gate> {
        match &mut self.steps.get_mut(step)?.phase {
            Phase::Requested(gate) => Some(gate),
            _ => None,
        }
    }
}
