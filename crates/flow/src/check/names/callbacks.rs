//! `callbacks.<id>`: the address of a step that waits for its callback.

use super::super::index::Reach;
use super::Names;
use crate::codes::{C002, C005, C006};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Action, Step, Wait};
use crate::near::nearest;

impl<'f> Names<'_, '_, 'f> {
    /// Only steps that wait for a callback have an address, and of those only what belongs to one run.
    pub(super) fn callbacks(&mut self, members: &[(&'f str, Span)], span: Span) {
        let Some((id, span)) = members.first().copied() else {
            let title = "`callbacks` has an address for each step, and none of its own";
            let found = Diagnostic::error(C006, span, title, "which step is missing");
            return self.found.push(self.with_waiting(found));
        };
        let waiting = self.tracer.index.get(id);
        let Some(other) = waiting.filter(|at| waits_for_callback(at.step)) else {
            let there = self.tracer.index.get(id).map(|at| at.step.id.span);
            let title = match there {
                Some(_) => format!("`{id}` does not wait for a callback"),
                None => format!("there is no step `{id}`"),
            };
            let mut found = Diagnostic::error(C002, span, title, "no such callback");
            if let Some(there) = there {
                found = found.also(there, format!("`{id}` is here"));
            }
            return self.found.push(match nearest(id, self.waiting()) {
                Some(near) if near != id => found.help(format!("did you mean `callbacks.{near}`?")),
                _ => self.with_waiting(found),
            });
        };
        let reach = self.place.at.map(|at| at.reaches(other, false));
        if let Some(Reach::InLoop(each)) = reach {
            let title = format!("`callbacks.{id}` cannot be used here");
            let label = format!("it is inside `{each}`: every item has its own");
            let found = Diagnostic::error(C005, span, title, label);
            self.found
                .push(found.also(other.step.id.span, format!("`{id}` is here")));
        }
    }

    /// The steps that wait for a callback, in the order of their names.
    fn waiting(&self) -> Vec<&'f str> {
        let index = self.tracer.index;
        let waits = |id: &&str| index.get(id).is_some_and(|at| waits_for_callback(at.step));
        let mut ids: Vec<&'f str> = index.ids().filter(waits).collect();
        ids.sort_unstable();
        ids
    }

    fn with_waiting(&self, found: Diagnostic) -> Diagnostic {
        let all = self.waiting();
        if all.is_empty() {
            return found.help(
                "no step of this flow waits for a callback: wait: {callback: {timeout: 24h}}",
            );
        }
        let all: Vec<String> = all.iter().map(|id| format!("callbacks.{id}")).collect();
        found.help(format!("there are: {}", all.join(", ")))
    }
}

fn waits_for_callback(step: &Step) -> bool {
    matches!(step.action, Action::Wait(Wait::Callback(_)))
}
