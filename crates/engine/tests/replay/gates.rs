//! People who are asked for leave, and what they answer.

use std::sync::Arc;

use semel_engine::gate::Asking;
use semel_engine::journal::{Happening, Kept, Requested, Waits, WaitsFor};
use semel_flow::Value;
use semel_ledger::{Fence, Millis, Time};

use super::Life;

impl Life<'_> {
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
        match self.draw(4) {
            0 => self.wait_for_answer(step, until),
            1 => self.commit(&[Happening::GaveUp {
                step,
                message: "rejected by ann".into(),
            }]),
            _ => self.done(step, Value::Null),
        }
    }
}
