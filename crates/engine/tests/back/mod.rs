//! What must hold of a run that goes back.

use std::sync::Arc;

use semel_engine::journal::{Done, Ending, Happening, How, Kept};
use semel_engine::places;
use semel_engine::state::Phase;
use semel_flow::Value;
use semel_ledger::Millis;

use crate::Life;

impl Life<'_> {
    pub(crate) fn undoable(&self, step: &str) -> bool {
        places::undoable(self.flow, step).is_some()
    }

    pub(crate) fn find_out(&mut self, step: Arc<str>) {
        match self.draw(4) {
            0 => self.commit(&[Happening::NotDone { step }]),
            1 => {
                let (since, until) = (self.now, self.now.after(Millis(1000)));
                self.commit(&[Happening::Busy { step, until, since }]);
            }
            2 => {
                let (why, effect) = ("ask".into(), Some(("s".into(), "k".into())));
                self.commit(&[Happening::Parked { step, why, effect }]);
            }
            _ => self.commit(&[Happening::Done(Box::new(Done {
                how: How::TakenOver("run_1".into()),
                ..Done::plain(step, Kept::Is(Value::Null))
            }))]),
        }
    }

    /// What must hold whenever an undo begins: whatever was done after it is taken back, and nobody
    /// wonders whether anything else happened.
    pub(crate) fn assert_backwards(&self, undo: &str) {
        let Some(of) = undo.strip_suffix("/undo") else {
            return;
        };
        assert!(self.state.failure.is_some() || self.state.undo);
        let is_undone = |id: &Arc<str>| self.state.result(&format!("{id}/undo")).is_some();
        let later = self.state.own.iter().rev().take_while(|id| &***id != of);
        let mut left = later.filter(|id| self.undoable(id) && !is_undone(id));
        assert_eq!(left.next(), None, "{undo} before what was done later");
        for (id, known) in &self.state.steps {
            let open = !matches!(known.phase, Phase::Done(_));
            let doubtful = open && (known.maybe || known.begun);
            assert!(
                !(doubtful && self.undoable(id)),
                "{undo} before {id} is known"
            );
        }
    }

    /// What must hold when it is over: if it went back, nothing was forgotten, and it says so.
    pub(crate) fn assert_all_back(&self, how: Ending) {
        let state = &self.state;
        let undone = |id: &Arc<str>| state.result(&format!("{id}/undo")).is_some();
        let undoable = || state.own.iter().filter(|id| self.undoable(id));
        let failed = state.failure.is_some() && state.cancelled.is_none();
        let goes_back = state.undo || failed;
        if goes_back {
            assert!(undoable().all(undone), "something was forgotten");
        }
        assert_eq!(how == Ending::Undone, goes_back && undoable().any(undone));
    }
}
