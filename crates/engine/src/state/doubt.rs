//! What may have happened although no happening says so, and whose it is.
//!
//! Only undoing needs to know: going forward, what may have happened is asked for again under the
//! same key or decided first; going back, it must be known before anything is taken back.

use std::sync::Arc;

use semel_ledger::Time;

use super::{Phase, State};
use crate::journal::How;

/// Who speaks for a destination that was asked.
pub(crate) const LOOKUP: &str = "lookup";

impl State {
    /// An attempt without a claim begins. If one was under way already, its node died during it.
    pub(super) fn begin(&mut self, step: &Arc<str>) {
        if !self.steps.contains_key(step) {
            self.set(step, Phase::Ready { at: Time(0) });
        }
        let before = self.steps.get(step);
        let maybe = before.is_some_and(|step| step.begun || step.maybe);
        self.doubt(step, true, maybe);
    }

    /// What began was not sent after all.
    pub(super) fn not_sent(&mut self, step: &Arc<str>) {
        if let Some(state) = self.steps.get_mut(step) {
            state.begun = false;
        }
    }

    pub(super) fn doubt(&mut self, step: &Arc<str>, begun: bool, maybe: bool) {
        if let Some(state) = self.steps.get_mut(step) {
            (state.begun, state.maybe) = (begun, maybe);
        }
    }

    /// A destination that was asked and has nothing of it settles all doubt: as if it had never been tried.
    pub(super) fn was_asked(&mut self, step: &Arc<str>, by: &str) {
        if by == LOOKUP
            && let Some(state) = self.steps.get_mut(step)
        {
            state.first_at = None;
            (state.begun, state.maybe) = (false, false);
        }
    }

    /// Whether a step that becomes done was done by this run, or by one that it does again.
    pub(super) fn is_own(&self, step: &str, how: &How) -> bool {
        let before = self.steps.get(step);
        match how {
            // What it waited or asked for, somebody else did; or nobody did anything.
            How::Reused(_) | How::Arrived | How::TimedOut | How::Answered(_) | How::Unchanged => {
                false
            }
            // Found after an attempt of ours was lost; what was there before we came is not ours.
            How::LookedUp => before.is_some_and(|step| step.maybe),
            // A called run that somebody else had called.
            How::Act => !matches!(before.map(|step| &step.phase),
                Some(Phase::Returned(spawned)) if spawned.run.is_some() && !spawned.waits),
            How::Decided | How::TakenAsDone | How::TakenOver(_) => true,
        }
    }
}
