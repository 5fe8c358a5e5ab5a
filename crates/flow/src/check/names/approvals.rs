//! `approvals.STEP.PERSON`: the link by which that person answers.

use super::super::index::Reach;
use super::Names;
use crate::codes::{C002, C005, C006};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Action, Approve, GROUP, Step};
use crate::near::nearest;

impl<'f> Names<'_, '_, 'f> {
    pub(super) fn approvals(&mut self, members: &[(&'f str, Span)], span: Span) {
        let Some((id, at)) = members.first().copied() else {
            return self.unfinished(span, "which step");
        };
        let Some((step, approve)) = self.gate(id) else {
            return self.no_gate(id, at);
        };
        let there = self.tracer.index.get(id);
        let reach = self
            .place
            .at
            .zip(there)
            .map(|(here, there)| here.reaches(there, false));
        if let Some(Reach::InLoop(each)) = reach {
            let title = format!("`approvals.{id}` cannot be used here");
            let label = format!("it is inside `{each}`: every item has its own");
            let found = Diagnostic::error(C005, at, title, label);
            return self
                .found
                .push(found.also(step.id.span, format!("`{id}` is here")));
        }
        let Some((person, at)) = members.get(1).copied() else {
            return self.unfinished(at, "for whom");
        };
        self.person(id, approve, person, at);
    }

    fn gate(&self, id: &str) -> Option<(&'f Step, &'f Approve)> {
        let step = self.tracer.index.get(id)?.step;
        match &step.action {
            Action::Approve(approve) => Some((step, approve)),
            _ => None,
        }
    }

    fn unfinished(&mut self, at: Span, what: &str) {
        let title = format!("the link does not say {what}");
        let label = "`approvals.STEP.PERSON` is due here";
        self.found.push(Diagnostic::error(C006, at, title, label));
    }

    fn no_gate(&mut self, id: &str, at: Span) {
        let title = format!("there is no step `{id}` that asks for approval");
        let found = Diagnostic::error(C002, at, title, "no step with `approve`");
        let index = self.tracer.index;
        let gates = index.ids().filter(|id| self.gate(id).is_some());
        self.found.push(match nearest(id, gates) {
            Some(near) => found.help(format!("did you mean `approvals.{near}`?")),
            None => found,
        });
    }

    /// Whoever is in a group is known to the server alone.
    fn person(&mut self, id: &str, approve: &'f Approve, person: &str, at: Span) {
        let people = approve.people();
        let grouped = people.iter().any(|one| one.starts_with(GROUP));
        if grouped && !person.starts_with(GROUP) || people.contains(&person) {
            return;
        }
        let title = format!("`{person}` is not asked in `{id}`");
        let found = Diagnostic::error(C006, at, title, "nobody in `by`");
        self.found
            .push(match nearest(person, people.iter().copied()) {
                Some(near) => found.help(format!("did you mean `approvals.{id}.{near}`?")),
                None => found.help(format!("there are: {}", people.join(", "))),
            });
    }
}
