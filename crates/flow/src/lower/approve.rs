//! `approve`: who is asked for leave, what they see, and what silence and a no lead to.

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::{F006, F007, F017, F018};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::fields::{APPROVE, ESCALATE};
use crate::model::{Action, Approve, GROUP, OnReject, Round};
use crate::yaml::Kind;

/// The most people and groups that are asked together.
const MAX_PEOPLE: usize = 100;

/// Fields of steps that say nothing about a gate, and what to do instead.
const NOT_BESIDE: [(&str, &str); 6] = [
    (
        "effect",
        "asking changes nothing but the ledger; leave it out",
    ),
    ("lookup", "the ledger knows the answer; leave it out"),
    ("on_unknown", "the answer is never unknown; leave it out"),
    (
        "retry",
        "it is asked once; say how long with `timeout` inside `approve`",
    ),
    ("timeout", "write it inside `approve`: indent it more"),
    ("result", "later steps see `approved`, `by` and `note`"),
];

impl Lower {
    /// The step's own fields were looked at; these have no meaning beside `approve`.
    pub(super) fn beside_approve(&mut self, step: Entry<'_>) {
        let undo = (
            "undo",
            "what was approved can be taken back in the step that does it",
        );
        for (name, help) in NOT_BESIDE.into_iter().chain([undo]) {
            if let Some(slot) = step.slot(name) {
                let title = format!("`{name}` has no meaning beside `approve`");
                let found = Diagnostic::error(F018, slot.name.span, title, "not in this step");
                self.report(found.help(help));
            }
        }
    }

    pub(super) fn approve(&mut self, step: Entry<'_>, slot: Slot<'_>) -> Option<Action> {
        self.beside_approve(step);
        let entry = self.entry(&APPROVE, slot.node, slot.name.span)?;
        let ask = self.template(entry, "ask");
        let show = entry.slot("show").map(|slot| self.tree(slot.node));
        let needed = self.whole(entry, "needed");
        let rule = self.word(entry, "on_timeout");
        let first = self.round(entry, rule.as_ref());
        let escalate = self.escalation(entry, rule.as_ref());
        let allow_maker = self.boolean(entry, "allow_maker").unwrap_or(false);
        let on_reject = match self.word(entry, "on_reject").map(|word| word.it) {
            Some("stop") => OnReject::Stop,
            Some("go_on") => OnReject::GoOn,
            _ => OnReject::Fail,
        };
        let needed = needed.and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        let at = entry
            .slot("needed")
            .map_or(slot.name.span, |it| it.node.span);
        for round in [first.as_ref(), escalate.as_ref()].into_iter().flatten() {
            self.enough(round, needed, at);
        }
        Some(Action::Approve(Box::new(Approve {
            ask: ask?,
            show,
            needed,
            first: first?,
            escalate,
            allow_maker,
            on_reject,
            span: slot.name.span,
        })))
    }

    fn round(&mut self, entry: Entry<'_>, rule: Option<&Spanned<&'static str>>) -> Option<Round> {
        let by = self.people(entry);
        let timeout = self.duration(entry, "timeout");
        Some(Round {
            by: by?,
            timeout: timeout?.it,
            silence_approves: rule.is_some_and(|rule| rule.it == "approve"),
        })
    }

    /// `escalate` is there if and only if it is asked for.
    fn escalation(
        &mut self,
        entry: Entry<'_>,
        rule: Option<&Spanned<&'static str>>,
    ) -> Option<Round> {
        let asked = rule.filter(|rule| rule.it == "escalate");
        match (entry.slot("escalate"), asked) {
            (Some(slot), Some(_)) => {
                let inner = self.entry(&ESCALATE, slot.node, slot.name.span)?;
                let rule = self.word(inner, "on_timeout");
                self.round(inner, rule.as_ref())
            }
            (Some(slot), None) => {
                let title = "`escalate` has no meaning without `on_timeout: escalate`";
                let found = Diagnostic::error(F018, slot.name.span, title, "nobody here is asked");
                self.report(found.help("write on_timeout: escalate"));
                None
            }
            (None, Some(rule)) => {
                let title = "`on_timeout: escalate` does not say to whom";
                let label = "`escalate` is missing beside it";
                let found = Diagnostic::error(F006, rule.span, title, label);
                self.report(found.help("such as escalate: {by: [group:heads], timeout: 24h}"));
                None
            }
            (None, None) => None,
        }
    }

    /// Names and groups, each once.
    fn people(&mut self, entry: Entry<'_>) -> Option<Vec<Spanned<String>>> {
        let slot = entry.slot("by")?;
        let Kind::List(items) = &slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        if items.is_empty() || items.len() > MAX_PEOPLE {
            let title = format!("`by` names {} people and groups", items.len());
            let label = format!("from 1 to {MAX_PEOPLE} are due here");
            self.report(Diagnostic::error(F017, slot.node.span, title, label));
            return None;
        }
        let mut people: Vec<Spanned<String>> = Vec::with_capacity(items.len());
        for item in items {
            let Some(text) = self.literal(Slot { node: item, ..slot }) else {
                continue;
            };
            let name = text.strip_prefix(GROUP).unwrap_or(text);
            self.check_name(name, item.span, "-_.@+");
            if let Some(first) = people.iter().find(|it| it.it == text) {
                let title = format!("`{text}` stands in `by` twice");
                let found = Diagnostic::error(F007, item.span, title, "a second time");
                self.report(found.also(first.span, "the first time"));
            }
            people.push(Spanned {
                it: text.to_owned(),
                span: item.span,
            });
        }
        Some(people)
    }

    /// More must say yes than are asked. How many a group has is the server's to say.
    fn enough(&mut self, round: &Round, needed: u32, at: Span) {
        let group = round.by.iter().any(|one| one.it.starts_with(GROUP));
        let asked = round.by.len();
        if group || usize::try_from(needed).is_ok_and(|needed| needed <= asked) {
            return;
        }
        let title = format!("{needed} must say yes, but {asked} are asked");
        let found = Diagnostic::error(F017, at, title, "it can never be approved");
        let first = round.by.first().map_or(at, |one| one.span);
        self.report(found.also(first, "who is asked"));
    }
}
