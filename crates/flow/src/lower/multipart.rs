//! A body in parts: a list of them, or a map by their names.

use super::Lower;
use super::entry::Slot;
use super::text::constant;
use crate::codes::F006;
use crate::diagnostic::{Diagnostic, Spanned};
use crate::fields::PART;
use crate::model::Tree;
use crate::yaml::{self, Node};

impl Lower {
    /// A list of parts; a map of them is made one.
    pub(super) fn multipart(&mut self, slot: Slot<'_>) -> Option<Tree> {
        let mut parts = Vec::new();
        match &slot.node.kind {
            yaml::Kind::List(items) => {
                for item in items {
                    if self.entry(&PART, item, item.span).is_some() {
                        parts.push(self.tree(item));
                    }
                }
            }
            yaml::Kind::Map(entries) => {
                for (name, node) in entries {
                    parts.extend(self.named_part(name, node));
                }
            }
            _ => self.wrong_type(slot),
        }
        if parts.is_empty() {
            return None;
        }
        Some(Tree::List(parts))
    }

    /// `name: text`, or `name: {content, filename, type}`.
    fn named_part(&mut self, name: &Spanned<String>, node: &Node) -> Option<Tree> {
        self.plain_name(name);
        let label = |it: &str| Spanned {
            it: it.to_owned(),
            span: name.span,
        };
        let named = (label("name"), Tree::Text(constant(&name.it, name.span)));
        if let Some(text) = node.scalar() {
            let value = self.rendered(text, node).map(Tree::Text)?;
            return Some(Tree::Map(vec![named, (label("value"), value)]));
        }
        let entry = self.open(&PART, node, name.span)?;
        for (field, _) in entry.written() {
            if PART.field(&field.it).is_none() || field.it == "name" {
                self.unknown_field(&PART, field);
            }
        }
        if !PART.exactly_one.iter().any(|field| entry.has(field)) {
            let title = format!(
                "the part `{}` has none of `value`, `content` and `base64`",
                name.it
            );
            self.report(Diagnostic::error(F006, name.span, title, "one is needed"));
        }
        let Tree::Map(mut members) = self.tree(node) else {
            return None;
        };
        members.insert(0, named);
        Some(Tree::Map(members))
    }
}
