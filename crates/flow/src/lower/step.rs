//! Steps: what is common to all of them, and which kind one is.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_ledger::Scope;

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::{F003, F004, F005, F012, F014, F015};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::fields::{FOR_EACH, Is, KINDS, NOT_YET, STEP};
use crate::model::{Act, Action, Block, Class, Kind, OnUnknown, Step, Tree};
use crate::near::nearest;
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
        let id = self.id(entry);
        let action = kind.and_then(|(name, keyword, value)| {
            let action = self.action(entry, name, keyword, value);
            // What stands here was named; only what it says could not be understood.
            action.or_else(|| Some(unreadable(name, keyword.span)))
        });
        let action = action.unwrap_or_else(|| unreadable("unknown", entry.word));
        Some(Step {
            id,
            when: self.expr(entry, "if"),
            key: (!looping).then(|| self.template(entry, "key")).flatten(),
            scope: self.scope(entry),
            effect: self.effect(entry),
            lookup: self.lookup(entry),
            on_unknown: self.on_unknown(entry),
            retry: self.retry(entry),
            timeout: self.duration(entry, "timeout"),
            undo: self.undo(entry),
            result: self.expr(entry, "result"),
            action,
            span: node.span,
        })
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

    /// The one word that says what the step does.
    fn kind_of<'n>(
        &mut self,
        entry: Entry<'n>,
        looping: bool,
    ) -> Option<(&'static str, &'n Spanned<String>, &'n Node)> {
        let mut kinds = Vec::new();
        let mut unknown = Vec::new();
        for (name, node) in entry.written() {
            let beside = looping && FOR_EACH.field(&name.it).is_some();
            match kind_named(&name.it) {
                Some(kind) if !beside => kinds.push((kind, name, node)),
                _ if beside || STEP.field(&name.it).is_some() => {}
                _ => unknown.push(name),
            }
        }
        let suspect = kinds.is_empty().then(|| suspect(&unknown)).flatten();
        for name in unknown {
            if suspect == Some(name) {
                self.unknown_kind(name);
            } else {
                self.unknown_in_step(name, kinds.first().map(|(kind, ..)| *kind));
            }
        }
        match kinds.as_slice() {
            [first, others @ ..] => {
                for other in others {
                    self.two_kinds(first.1, other.1);
                }
            }
            [] if suspect.is_none() => self.no_kind(entry),
            [] => {}
        }
        kinds.into_iter().next()
    }

    fn unknown_kind(&mut self, name: &Spanned<String>) {
        let title = format!("there is no kind of step `{}`", name.it);
        let mut found = Diagnostic::error(F004, name.span, title, "unknown kind of step");
        let kinds = || KINDS.fields.iter().map(|field| field.name);
        if let Some(near) = nearest(&name.it, kinds().chain(NOT_YET)) {
            found = found.help(format!("did you mean `{near}`?"));
        }
        self.report(found.help(there_are()));
    }

    /// A field that steps do not have, or not this one.
    fn unknown_in_step(&mut self, name: &Spanned<String>, kind: Option<&'static str>) {
        let inner = kind.and_then(|kind| KINDS.field(kind));
        if let Some(inner) = inner
            && let Is::Object(object) = inner.is
            && object.field(&name.it).is_some()
        {
            let title = format!("a step has no field `{}`", name.it);
            let found = Diagnostic::error(F003, name.span, title, "unknown field");
            let help = format!("`{}` belongs inside `{}`", name.it, inner.name);
            return self.report(found.help(format!("{help}: indent it more")));
        }
        if FOR_EACH.field(&name.it).is_some() {
            let title = format!("a step without `for_each` has no field `{}`", name.it);
            let found = Diagnostic::error(F003, name.span, title, "unknown field");
            return self.report(found.help("`as`, `parallel` and `steps` stand beside `for_each`"));
        }
        self.unknown_field(&STEP, name);
    }

    fn no_kind(&mut self, entry: Entry<'_>) {
        let title = "the step does not say what it does";
        let found = Diagnostic::error(F004, entry.word, title, "an action is missing here");
        self.report(found.help(there_are()));
    }

    fn two_kinds(&mut self, first: &Spanned<String>, second: &Spanned<String>) {
        let title = format!("the step is both `{}` and `{}`", first.it, second.it);
        self.report(
            Diagnostic::error(F004, second.span, title, "a second action")
                .also(first.span, "the first one")
                .help("a step does one thing: make it two steps, each with its own id"),
        );
    }

    /// A kind whose name is taken, but that is not performed yet.
    pub(super) fn not_yet(
        &mut self,
        name: &'static str,
        keyword: &Spanned<String>,
        value: &Node,
    ) -> Action {
        let title = format!("`{name}` is not in this version");
        let label = "it would not be performed";
        self.report(Diagnostic::error(F014, keyword.span, title, label).help(there_are()));
        let raw: &[&str] = match name {
            "sql" => &["sql", "query", "statement", "execute", "select"],
            "exec" | "ssh" => &["command", "run", "shell"],
            _ => &[],
        };
        let whole = raw.first().map(|_| value);
        let parts = raw.iter().filter_map(|field| value.get(field));
        for node in whole.into_iter().chain(parts) {
            self.refuse_template(name, node);
        }
        Action::Act(Arc::new(Act {
            kind: Kind::Other(name),
            input: self.tree(value),
            exprs: BTreeMap::new(),
            span: keyword.span,
        }))
    }

    /// Text that another program will parse again.
    fn refuse_template(&mut self, kind: &str, node: &Node) {
        if !node.scalar().is_some_and(|text| text.contains("${{")) {
            return;
        }
        let (what, help) = if kind == "sql" {
            let help = "write a placeholder such as $1, and the value under `params`";
            ("SQL text", help)
        } else {
            let help = "write the command as a list, one argument an item; each may have `${{ }}`";
            ("a command", help)
        };
        let title = format!("`${{{{ }}}}` inside {what}");
        let label = "a value with the right signs in it would be run";
        self.report(Diagnostic::error(F015, node.span, title, label).help(help));
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
        let Some(field) = KINDS.field(name) else {
            return Some(self.not_yet(name, keyword, value));
        };
        let slot = Slot {
            field,
            name: keyword,
            node: value,
        };
        match name {
            "http" => self.http(slot).map(Action::Act),
            "ensure" => self.ensure(slot).map(|it| Action::Ensure(Box::new(it))),
            "for_each" => {
                let it = self.for_each(entry, slot);
                it.map(|it| Action::ForEach(Box::new(it)))
            }
            _ => self.control(slot),
        }
    }
}

/// The kind of that name, performed or not.
fn kind_named(name: &str) -> Option<&'static str> {
    let mut kinds = KINDS.fields.iter().map(|field| field.name).chain(NOT_YET);
    kinds.find(|kind| *kind == name)
}

/// In a step without an action, the field that was most likely meant to be one.
fn suspect<'n>(unknown: &[&'n Spanned<String>]) -> Option<&'n Spanned<String>> {
    let kinds = || KINDS.fields.iter().map(|field| field.name).chain(NOT_YET);
    let fields = || STEP.fields.iter().map(|field| field.name);
    let near_kind = unknown
        .iter()
        .find(|name| nearest(&name.it, kinds()).is_some());
    let no_field = || {
        unknown
            .iter()
            .find(|name| nearest(&name.it, fields()).is_none())
    };
    near_kind.or_else(no_field).copied()
}

/// The kinds of steps that there are.
fn there_are() -> String {
    let kinds: Vec<_> = KINDS.fields.iter().map(|field| field.name).collect();
    format!("there are: {}", kinds.join(", "))
}

/// Stands for an action that could not be understood.
fn unreadable(name: &'static str, span: Span) -> Action {
    Action::Act(Arc::new(Act {
        kind: Kind::Other(name),
        input: Tree::Null,
        exprs: BTreeMap::new(),
        span,
    }))
}
