//! Steps: what is common to all of them, and which kind one is.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_ledger::Scope;

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::{F005, F012};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::fields::{KINDS, STEP};
use crate::model::{Act, Action, Block, Class, Kind, OnUnknown, Step, Tree};
use crate::yaml::{self, Node};

/// The most steps in one flow, nested ones counted.
const MAX_STEPS: usize = 1_000;

impl Lower {
    /// A list of steps.
    pub(super) fn steps(&mut self, name: &str, node: &Node) -> Block {
        let yaml::Kind::List(items) = &node.kind else {
            let title = format!("`{name}` is {}", node.describe());
            let label = "a list of steps is due here";
            let found = Diagnostic::error(F005, node.span, title, label);
            self.report(found.help("begin each step with a dash: - id: first"));
            return Block::new();
        };
        if items.is_empty() {
            let title = format!("`{name}` has no steps");
            self.report(Diagnostic::error(F005, node.span, title, "nothing to do"));
        }
        items.iter().filter_map(|item| self.step(item)).collect()
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let first = match &node.kind {
            yaml::Kind::Map(entries) => entries.first().map(|(name, _)| name.span),
            _ => None,
        };
        let entry = self.open(&STEP, node, first.unwrap_or(node.span))?;
        let looping = entry.has("for_each");
        let kind = self.kind_of(entry, looping);
        self.missing(entry);
        if kind.is_some_and(|(name, ..)| name == "kv") {
            self.beside_kv(entry);
        }
        let id = self.id(entry);
        let action = kind.and_then(|(name, keyword, value)| {
            let action = self.action(entry, name, keyword, value);
            // What stands here was named; only what it says could not be understood.
            action.or_else(|| Some(unreadable(name, keyword.span)))
        });
        let action = action.unwrap_or_else(|| unreadable("unknown", entry.word));
        let mut step = Step {
            id,
            when: self.expr(entry, "if"),
            key: (!looping).then(|| self.template(entry, "key")).flatten(),
            scope: self.scope(entry),
            effect: self.effect(entry),
            lookup: self.lookup(entry),
            on_unknown: self.on_unknown(entry),
            retry: self.retry(entry),
            timeout: self.duration(entry, "timeout"),
            undo: None,
            result: self.expr(entry, "result"),
            action,
            span: node.span,
        };
        let undo = self.undo(entry);
        step.undo = undo.map(|act| Box::new(step.undone_by(act)));
        self.scope_of_undo(&step);
        Some(step)
    }

    /// The scope of an undo is longer than that of its step.
    fn scope_of_undo(&mut self, step: &Step) {
        let scope = step.undo.as_ref().and_then(|undo| undo.scope.as_ref());
        if let Some(scope) = scope
            && let Err(error) = Scope::new(&scope.it)
        {
            let title = format!("the scope of the undo: {error}");
            let label = "`/undo` is put behind it";
            self.report(Diagnostic::error(F012, scope.span, title, label));
        }
    }

    fn id(&mut self, entry: Entry<'_>) -> Spanned<String> {
        let Some(id) = self.name(entry, "id") else {
            return Spanned {
                it: String::new(),
                span: entry.word,
            };
        };
        self.claim_id(&id);
        if self.ids.len() == MAX_STEPS + 1 {
            let title = format!("the flow has over {MAX_STEPS} steps");
            let found = Diagnostic::error(F005, id.span, title, "one too many");
            self.report(found.help("move some to a flow of their own and `call` it"));
        }
        id
    }

    fn scope(&mut self, entry: Entry<'_>) -> Option<Spanned<String>> {
        let scope = self.text(entry, "scope")?;
        if let Err(error) = Scope::new(&scope.it) {
            let label = "not a scope";
            self.report(Diagnostic::error(
                F012,
                scope.span,
                error.to_string(),
                label,
            ));
            return None;
        }
        Some(scope)
    }

    fn effect(&mut self, entry: Entry<'_>) -> Option<Spanned<Class>> {
        let word = self.word(entry, "effect")?;
        let class = Class::ALL.into_iter().find(|class| class.name() == word.it);
        class.map(|it| Spanned {
            it,
            span: word.span,
        })
    }

    fn on_unknown(&mut self, entry: Entry<'_>) -> Option<Spanned<OnUnknown>> {
        let word = self.word(entry, "on_unknown")?;
        let it = match word.it {
            "retry" => OnUnknown::Retry,
            "skip" => OnUnknown::Skip,
            _ => OnUnknown::Ask,
        };
        Some(Spanned {
            it,
            span: word.span,
        })
    }

    fn action(
        &mut self,
        entry: Entry<'_>,
        name: &'static str,
        keyword: &Spanned<String>,
        value: &Node,
    ) -> Option<Action> {
        let field = KINDS.field(name)?;
        let slot = Slot {
            field,
            name: keyword,
            node: value,
        };
        match name {
            "approve" => self.approve(entry, slot),
            "ensure" => self.ensure(slot).map(|it| Action::Ensure(Box::new(it))),
            "wait" => self.wait(slot).map(Action::Wait),
            "for_each" => {
                let it = self.for_each(entry, slot);
                it.map(|it| Action::ForEach(Box::new(it)))
            }
            name if Kind::named(name).is_some() => self.act(slot).map(Action::Act),
            _ => self.control(slot),
        }
    }
}

/// Stands for an action that could not be understood.
fn unreadable(name: &'static str, span: Span) -> Action {
    Action::Act(Arc::new(Act {
        kind: Kind::Other(name),
        input: Tree::Null,
        exprs: BTreeMap::new(),
        span,
        shadow: None,
    }))
}
