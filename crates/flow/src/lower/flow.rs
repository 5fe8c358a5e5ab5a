//! The flow itself.

use semel_ledger::Millis;

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::{F007, F008};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::fields::{FLOW, OVERLAP, RETRY};
use crate::model::{Block, Flow, GiveUp, Order, Overlap, OverlapPolicy, Retry};
use crate::yaml::{Kind, Node};

/// The longest pause between two attempts.
const LONGEST_PAUSE: Millis = Millis::days(7);

impl Lower {
    pub(super) fn flow(&mut self, node: &Node) -> Option<Flow> {
        let entry = self.entry(&FLOW, node, first_line(node))?;
        let nameless = Spanned {
            it: String::new(),
            span: entry.word,
        };
        Some(Flow {
            name: self.name(entry, "name").unwrap_or(nameless),
            description: self.text(entry, "description").map(|text| text.it),
            triggers: self.triggers(entry),
            key: self.template(entry, "key"),
            remember: self.duration(entry, "remember"),
            overlap: self.overlap(entry),
            retry: self.retry(entry),
            order: self.order(entry),
            lets: self.exprs(entry, "let"),
            steps: self.block(entry, "steps"),
            on_failure: self.block(entry, "on_failure"),
            examples: self.examples(entry),
        })
    }

    fn order(&mut self, entry: Entry<'_>) -> Order {
        match self.word(entry, "order").map(|word| word.it) {
            Some("loose") => Order::Loose,
            _ => Order::Strict,
        }
    }

    fn overlap(&mut self, entry: Entry<'_>) -> Option<Overlap> {
        let slot = entry.slot("overlap")?;
        let inner = match self.short(slot, &OVERLAP)? {
            Err(long) => long,
            // The short form is the policy alone, under the field's own name.
            Ok(node) => {
                let policy = self.policy_alone(node)?;
                return Some(Overlap { per: None, policy });
            }
        };
        let policy = self.word(inner, "policy");
        Some(Overlap {
            per: self.template(inner, "per"),
            policy: policy_named(policy?.it)?,
        })
    }

    fn policy_alone(&mut self, node: &Node) -> Option<OverlapPolicy> {
        let text = node.scalar()?;
        let policy = policy_named(text);
        if policy.is_none() {
            let words = OverlapPolicy::ALL.map(OverlapPolicy::name);
            self.not_among("overlap", text, node.span, &words);
        }
        policy
    }

    /// When to repeat, if the object says so.
    pub(super) fn retry(&mut self, entry: Entry<'_>) -> Option<Retry> {
        let slot = entry.slot("retry")?;
        let inner = self.entry(&RETRY, slot.node, slot.name.span)?;
        let usual = Retry::default();
        let max = self.whole(inner, "max").and_then(|max| max.try_into().ok());
        let pauses = inner.slot("backoff").and_then(|slot| self.backoff(slot));
        let (first, cap) = pauses.unwrap_or((usual.first, usual.cap));
        Some(Retry {
            max: max.unwrap_or(usual.max),
            first,
            cap,
            within: self.duration(inner, "within").map(|within| within.it),
            then: match self.word(inner, "then").map(|word| word.it) {
                Some("ask") => GiveUp::Ask,
                _ => GiveUp::Fail,
            },
            span: slot.node.span,
        })
    }

    /// `2s..10m`, or one pause that stays the same.
    fn backoff(&mut self, slot: Slot<'_>) -> Option<(Millis, Millis)> {
        let text = self.literal(slot)?;
        let (first, cap) = text.split_once("..").unwrap_or((text, text));
        let at = slot.node.span;
        let range = (Millis(1), LONGEST_PAUSE);
        let first = self.span_of_time("backoff", first.trim(), at, range)?;
        let cap = self.span_of_time("backoff", cap.trim(), at, range)?;
        if first <= cap {
            return Some((first, cap));
        }
        let title = "`backoff` goes from long to short";
        let label = "the first pause is longer than the longest";
        let better = format!("write backoff: {cap}..{first}");
        self.report(Diagnostic::error(F008, at, title, label).help(better));
        None
    }

    /// A list of steps.
    pub(super) fn block(&mut self, entry: Entry<'_>, name: &'static str) -> Block {
        entry
            .slot(name)
            .map_or(Block::new(), |slot| self.steps(slot.field.name, slot.node))
    }

    /// Remembers an id; two may not be the same, nor differ only by case.
    pub(super) fn claim_id(&mut self, id: &Spanned<String>) {
        let Some(first) = self.ids.get(&id.it.to_lowercase()) else {
            self.ids.insert(id.it.to_lowercase(), id.clone());
            return;
        };
        let (title, help) = if first.it == id.it {
            let help = "ids are unique in the whole flow, also inside branches";
            (format!("two steps have the id `{}`", id.it), help)
        } else {
            let title = format!("the ids `{}` and `{}` differ only by case", first.it, id.it);
            (
                title,
                "one of them would be taken for the other sooner or later",
            )
        };
        let found = Diagnostic::error(F007, id.span, title, "here again");
        let found = found.also(first.span, "first here").help(help);
        self.report(found);
    }
}

fn policy_named(name: &str) -> Option<OverlapPolicy> {
    OverlapPolicy::ALL
        .into_iter()
        .find(|policy| policy.name() == name)
}

/// Where to point when the flow itself lacks something.
fn first_line(node: &Node) -> Span {
    match &node.kind {
        Kind::Map(entries) => entries.first().map_or(node.span, |(name, _)| name.span),
        _ => node.span,
    }
}
