//! A call to the world, read by the table of its kind.
//!
//! Owns what all kinds have in common: what may stand in a field says how it is read. HTTP has words
//! of its own and is read in `http`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Lower;
use super::entry::{Entry, Slot};
use super::text::constant;
use crate::codes::{F015, F017};
use crate::diagnostic::{Diagnostic, Spanned};
use crate::expr::Part;
use crate::fields::{Is, Object};
use crate::model::{Act, Kind, Tree};
use crate::yaml::{self, Node};

impl Lower {
    /// The call that a field named like its kind holds.
    pub(super) fn act(&mut self, slot: Slot<'_>) -> Option<Arc<Act>> {
        let kind = Kind::named(slot.field.name)?;
        if kind == Kind::Http {
            return self.http(slot);
        }
        let Is::Object(table) = slot.field.is else {
            return None;
        };
        Some(Arc::new(Act {
            kind,
            input: self.members(table, slot)?,
            exprs: BTreeMap::new(),
            span: slot.name.span,
            shadow: None,
        }))
    }

    /// The one call of an object that holds one, such as `undo`.
    pub(super) fn call_in(&mut self, entry: Entry<'_>) -> Option<Arc<Act>> {
        // A kind that has no place there was reported.
        let mut written = entry.written().iter();
        let kind = written.find_map(|(name, _)| {
            let field = entry.table.field(&name.it)?;
            Kind::named(field.name)
        })?;
        self.act(entry.slot(kind.name())?)
    }

    /// An object as it goes to the step: every field that was written, in order.
    fn members(&mut self, table: &'static Object, slot: Slot<'_>) -> Option<Tree> {
        let entry = self.entry(table, slot.node, slot.name.span)?;
        let mut members = Vec::new();
        for (name, _) in entry.written() {
            let Some(slot) = table.field(&name.it).and_then(|it| entry.slot(it.name)) else {
                continue;
            };
            let tree = self.value(entry, slot);
            members.extend(tree.map(|tree| (name.clone(), tree)));
        }
        Some(Tree::Map(members))
    }

    /// What stands in a field. What could not be read is left out; it was reported.
    fn value(&mut self, entry: Entry<'_>, slot: Slot<'_>) -> Option<Tree> {
        let text = |text: &str| Some(Tree::Text(constant(text, slot.node.span)));
        match slot.field.is {
            Is::Object(table) => self.members(table, slot),
            Is::Objects(table) => self.objects(table, slot),
            Is::Short { long, main } => self.short_form(long, main, slot),
            Is::Url => {
                self.check_address(slot.node);
                self.template_in(slot).map(Tree::Text)
            }
            Is::Template => self.template_in(slot).map(Tree::Text),
            Is::Templates => self.templates(slot),
            Is::Command => self.command(slot),
            Is::Codes { max } => self.codes(slot, "an exit code", 0..=max),
            Is::Raw => self.raw(slot).and_then(text),
            Is::Texts => Some(self.texts(slot, false)),
            Is::Pairs => Some(self.texts(slot, true)),
            Is::Secret => {
                self.secret(&slot.name.it, slot.node)?;
                Some(self.tree(slot.node))
            }
            Is::Name => self
                .name(entry, slot.field.name)
                .and_then(|it| text(&it.it)),
            Is::Word(_) => self.word(entry, slot.field.name).and_then(|it| text(it.it)),
            Is::Duration { .. } => {
                self.duration(entry, slot.field.name)?;
                text(slot.node.scalar()?)
            }
            Is::Size => self.limit(slot),
            Is::Bool => self.boolean(entry, slot.field.name).map(Tree::Bool),
            Is::Whole { .. } => {
                let number = self.whole(entry, slot.field.name)?;
                Some(Tree::Number(number.to_string()))
            }
            Is::Decimal { max } => self.decimal(slot, max),
            Is::Text => self.literal(slot).and_then(text),
            Is::Number => self.number(slot),
            _ => Some(self.tree(slot.node)),
        }
    }

    /// A number as it is written, or one expression that gives one.
    fn number(&mut self, slot: Slot<'_>) -> Option<Tree> {
        let tree = match &slot.node.kind {
            yaml::Kind::Number(_) | yaml::Kind::Text(_) => self.tree(slot.node),
            _ => Tree::Null,
        };
        let fits = match &tree {
            Tree::Number(_) => true,
            Tree::Text(template) => matches!(template.parts.as_slice(), [Part::Expr(_)]),
            _ => false,
        };
        if !fits {
            self.wrong_type(slot);
        }
        fits.then_some(tree)
    }

    /// A list of objects. What an expression gives is for the step to look at.
    fn objects(&mut self, table: &'static Object, slot: Slot<'_>) -> Option<Tree> {
        let is_given = |node: &Node| node.scalar().is_some_and(|text| text.contains("${{"));
        if is_given(slot.node) {
            return Some(self.tree(slot.node));
        }
        let yaml::Kind::List(items) = &slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        let mut several = Vec::with_capacity(items.len());
        for item in items {
            if is_given(item) {
                several.push(self.tree(item));
                continue;
            }
            let name = Spanned {
                it: slot.name.it.clone(),
                span: item.span,
            };
            let one = Slot {
                name: &name,
                node: item,
                ..slot
            };
            several.extend(self.members(table, one));
        }
        Some(Tree::List(several))
    }

    /// A number that need not be whole, as it was written.
    fn decimal(&mut self, slot: Slot<'_>, max: u64) -> Option<Tree> {
        let yaml::Kind::Number(text) = &slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        let most = f64::from(u32::try_from(max).unwrap_or(u32::MAX));
        let fits = |number: f64| (0.0..=most).contains(&number);
        if text.parse().is_ok_and(fits) {
            return Some(Tree::Number(text.clone()));
        }
        let title = format!("`{}` cannot be {text}", slot.field.name);
        let label = format!("a number from 0 to {max} is due here");
        self.report(Diagnostic::error(F017, slot.node.span, title, label));
        None
    }

    /// An object, or its one main field by itself: the step sees the object either way.
    fn short_form(
        &mut self,
        long: &'static Object,
        main: &'static str,
        slot: Slot<'_>,
    ) -> Option<Tree> {
        if slot.node.scalar().is_none() {
            return self.members(long, slot);
        }
        let inner = Slot {
            field: long.field(main)?,
            ..slot
        };
        let alone = Entry {
            table: long,
            node: slot.node,
            word: slot.name.span,
        };
        let name = Spanned {
            it: main.to_owned(),
            span: slot.name.span,
        };
        Some(Tree::Map(vec![(name, self.value(alone, inner)?)]))
    }

    /// One text or several: the step sees a list either way.
    fn templates(&mut self, slot: Slot<'_>) -> Option<Tree> {
        let items = match &slot.node.kind {
            yaml::Kind::List(items) if !items.is_empty() => items.as_slice(),
            _ => std::slice::from_ref(slot.node),
        };
        let mut several = Vec::with_capacity(items.len());
        for item in items {
            let Some(text) = item.scalar() else {
                self.wrong_type(slot);
                return None;
            };
            several.extend(self.rendered(text, item).map(Tree::Text));
        }
        Some(Tree::List(several))
    }

    /// A program and its arguments. Text would have to be taken apart by somebody.
    fn command(&mut self, slot: Slot<'_>) -> Option<Tree> {
        if slot.node.scalar().is_some() {
            let help = "write the command as a list, one argument an item; each may have `${{ }}`";
            if self.refuse_template(slot.node, "a command", help) {
                self.wrong_type(slot);
            }
            return None;
        }
        self.templates(slot)
    }

    /// Text that another program parses, taken as it is written.
    fn raw<'n>(&mut self, slot: Slot<'n>) -> Option<&'n str> {
        let text = self.scalar(slot)?;
        let help = "write a placeholder such as $1, and the value under `params`";
        let plain = self.refuse_template(slot.node, "SQL text", help);
        plain.then_some(text)
    }

    /// Whether no value is put into text that another program will parse again.
    fn refuse_template(&mut self, node: &Node, what: &str, help: &'static str) -> bool {
        if !node.scalar().is_some_and(|text| text.contains("${{")) {
            return true;
        }
        let title = format!("`${{{{ }}}}` inside {what}");
        let label = "a value with the right signs in it would be run";
        self.report(Diagnostic::error(F015, node.span, title, label).help(help));
        false
    }
}
