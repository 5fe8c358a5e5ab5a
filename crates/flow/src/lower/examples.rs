//! Examples: values that are taken as they are written.

use semel_ledger::json::Canonical;

use super::Lower;
use super::entry::{Entry, Slot};
use super::scalar::spanned;
use crate::codes::{F005, F007, F017, F019};
use crate::diagnostic::{Diagnostic, Spanned};
use crate::fields::{EXAMPLE, EXAMPLES};
use crate::model::{Example, Examples};
use crate::value::Value;
use crate::yaml::{Kind, Node};

/// The most events: each of them is tried under every schedule.
const MAX_EVENTS: usize = 20;

impl Lower {
    pub(super) fn examples(&mut self, entry: Entry<'_>) -> Examples {
        let inner = entry
            .slot("examples")
            .and_then(|slot| self.entry(&EXAMPLES, slot.node, slot.name.span));
        let Some(inner) = inner else {
            return Examples::default();
        };
        Examples {
            events: inner
                .slot("events")
                .map_or(Vec::new(), |it| self.events(it)),
            answers: inner
                .slot("answers")
                .map_or(Vec::new(), |it| self.answers(it)),
        }
    }

    fn events(&mut self, slot: Slot<'_>) -> Vec<Example> {
        let Kind::List(items) = &slot.node.kind else {
            self.wrong_type(slot);
            return Vec::new();
        };
        if items.len() > MAX_EVENTS {
            let title = format!("`events` has {} examples", items.len());
            let label = format!("each is tried under every schedule; the limit is {MAX_EVENTS}");
            self.report(Diagnostic::error(F017, slot.name.span, title, label));
        }
        let mut names: Vec<Spanned<String>> = Vec::new();
        let mut events = Vec::new();
        for (at, item) in items.iter().enumerate().take(MAX_EVENTS) {
            let Some(entry) = self.entry(&EXAMPLE, item, item.span) else {
                continue;
            };
            let name = self.text(entry, "name");
            if let Some(name) = &name {
                self.claim_name(name, &names);
                names.push(name.clone());
            }
            let headers = entry.slot("headers");
            let headers = headers.map_or(Vec::new(), |slot| self.header_texts(slot));
            let Some(event) = entry.slot("event") else {
                continue;
            };
            events.push(Example {
                name: name.map_or_else(|| format!("event {}", at + 1), |name| name.it),
                event: self.plain(event.node),
                headers,
            });
        }
        events
    }

    /// Two of one name could not be told apart.
    fn claim_name(&mut self, name: &Spanned<String>, names: &[Spanned<String>]) {
        if let Some(first) = names.iter().find(|known| known.it == name.it) {
            let title = format!("two examples are called `{}`", name.it);
            let found = Diagnostic::error(F007, name.span, title, "here again");
            self.report(found.also(first.span, "first here"));
        }
    }

    fn answers(&mut self, slot: Slot<'_>) -> Vec<(Spanned<String>, Spanned<Value>)> {
        let Kind::Map(entries) = &slot.node.kind else {
            self.wrong_type(slot);
            return Vec::new();
        };
        let answer = |lower: &mut Lower, id: &Spanned<String>, node: &Node| {
            if let Kind::Map(_) = node.kind {
                return Some((id.clone(), lower.plain(node)));
            }
            let title = format!("the answer of `{}` is {}", id.it, node.describe());
            let label = "the names of an answer are due here, each with its value";
            let help = "such as: {body: {id: in_1}}";
            lower.report(Diagnostic::error(F005, node.span, title, label).help(help));
            None
        };
        let answers = entries.iter();
        answers
            .filter_map(|(id, node)| answer(self, id, node))
            .collect()
    }

    fn header_texts(&mut self, slot: Slot<'_>) -> Vec<(Box<str>, Box<str>)> {
        let Kind::Map(entries) = &slot.node.kind else {
            self.wrong_type(slot);
            return Vec::new();
        };
        let mut headers = Vec::new();
        for (name, node) in entries {
            let Some(text) = node.scalar() else {
                let title = format!("the header `{}` is {}", name.it, node.describe());
                self.report(Diagnostic::error(F005, node.span, title, "it takes text"));
                continue;
            };
            let text = spanned(text, node);
            self.as_written(&text);
            headers.push((name.it.to_ascii_lowercase().into(), text.it.into()));
        }
        headers
    }

    /// A value as it is written.
    fn plain(&mut self, node: &Node) -> Spanned<Value> {
        let it = match &node.kind {
            Kind::Null => Value::Null,
            Kind::Bool(it) => Value::Bool(*it),
            // In JSON spelling already.
            Kind::Number(text) => {
                Canonical::read(text.as_bytes()).map_or(Value::Null, |number| Value::of(&number))
            }
            Kind::Text(text) => {
                self.as_written(&spanned(text, node));
                Value::text(text)
            }
            Kind::List(items) => {
                let items = items.iter().map(|item| self.plain(item).it);
                Value::list(items.collect())
            }
            Kind::Map(entries) => {
                let members = entries.iter();
                let members = members.map(|(name, node)| (name.it.as_str(), self.plain(node).it));
                Value::map(members.collect::<Vec<_>>())
            }
        };
        Spanned {
            it,
            span: node.span,
        }
    }

    /// Nothing is worked out in an example.
    fn as_written(&mut self, text: &Spanned<String>) {
        if text.it.contains("${{") {
            let title = "an example is taken as it is written";
            let label = "`${{ }}` would not be replaced here";
            self.report(Diagnostic::error(F019, text.span, title, label));
        }
    }
}
