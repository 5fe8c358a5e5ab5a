//! What people tell a run, and what they answer when they are asked for leave.

use std::sync::Arc;

use semel_engine::gate::Asking;
use semel_engine::journal::{Happening, Kept, Requested, Waits, WaitsFor};
use semel_engine::state::Phase;
use semel_flow::Value;
use semel_ledger::{Fence, Millis, Time};

use super::Life;

impl Life<'_> {
    /// Nothing goes on by itself: a person says something.
    pub(super) fn told(&mut self) {
        let parked: Vec<Arc<str>> = self
            .state
            .steps
            .iter()
            .filter(|(_, step)| matches!(step.phase, Phase::Parked { .. } | Phase::Requested(_)))
            .map(|(id, _)| Arc::clone(id))
            .collect();
        for step in parked {
            let by = "ada".into();
            self.commit(&[Happening::Resumed {
                step,
                by,
                note: None,
            }]);
        }
        let posted: Arc<str> = "posted".into();
        let waits = matches!(self.state.phase(&posted), Some(Phase::Waiting { .. }));
        if waits && self.draw(3) == 1 {
            self.done(posted, Value::Int(1));
        }
        if self.draw(30) == 7 {
            let undo = self.draw(2) == 0;
            let by = "ada".into();
            self.commit(&[Happening::Cancelled { by, undo }]);
        }
    }

    /// Asks; whether it was asked or known is read at once, or after a crash.
    pub(super) fn request(&mut self, rounds: &[Asking]) {
        let round = usize::from(self.draw(2));
        let asking = &rounds[round];
        let asked = Happening::Requested(Box::new(Requested {
            step: Arc::clone(&asking.step),
            round: asking.round,
            fence: Fence([4; 16]),
            scope: asking.effect.scope.as_str().into(),
            key: asking.effect.key.as_str().into(),
            until: asking.until,
            shown: Kept::Is(asking.shown.clone()),
            hash: asking.hash.clone(),
        }));
        self.commit(&[asked]);
        if self.draw(3) > 0 {
            self.wait_for_answer(Arc::clone(&asking.step), asking.until);
        }
    }

    fn wait_for_answer(&mut self, step: Arc<str>, until: Time) {
        let what = WaitsFor::Approval;
        self.commit(&[Happening::Waits(Box::new(Waits { step, until, what }))]);
    }

    pub(super) fn answer(&mut self, step: Arc<str>) {
        let until = self.now.after(Millis(3_000));
        // When nothing is left to draw, somebody says yes.
        match self.draw(4) {
            3 => self.wait_for_answer(step, until),
            1 => self.commit(&[Happening::GaveUp {
                step,
                message: "rejected by ann".into(),
            }]),
            _ => self.done(step, Value::Null),
        }
    }
}
