//! Fields that are one value: names, words, numbers, durations.

use semel_ledger::Millis;

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::{F005, F008, F012, F017, F019};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::fields::{Is, Object};
use crate::near::nearest;
use crate::yaml::{Kind, Node};

/// The longest name, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 64;

impl Lower {
    /// Something else than what the field takes.
    pub(super) fn wrong_type(&mut self, slot: Slot<'_>) {
        let (name, is) = (slot.field.name, slot.field.is.describe());
        let title = format!("`{name}` is {}", slot.node.describe());
        let label = format!("it takes {is}");
        self.report(Diagnostic::error(F005, slot.node.span, title, label));
    }

    /// The text of a field, whatever YAML takes it for.
    pub(super) fn scalar<'n>(&mut self, slot: Slot<'n>) -> Option<&'n str> {
        let text = slot.node.scalar();
        if text.is_none() {
            self.wrong_type(slot);
        }
        text
    }

    /// Text as it is, without `${{ }}`.
    pub(super) fn literal<'n>(&mut self, slot: Slot<'n>) -> Option<&'n str> {
        let text = self.scalar(slot)?;
        if !text.contains("${{") {
            return Some(text);
        }
        let title = format!("`{}` is taken as it is written", slot.field.name);
        let label = "`${{ }}` would not be replaced here";
        self.report(Diagnostic::error(F019, slot.node.span, title, label));
        None
    }

    pub(super) fn text(&mut self, entry: Entry<'_>, name: &'static str) -> Option<Spanned<String>> {
        let slot = entry.slot(name)?;
        let text = self.literal(slot)?;
        Some(spanned(text, slot.node))
    }

    /// A name by the rules of its field.
    pub(super) fn name(&mut self, entry: Entry<'_>, name: &'static str) -> Option<Spanned<String>> {
        let slot = entry.slot(name)?;
        let text = self.literal(slot)?;
        let dotted = matches!(slot.field.is, Is::DottedName);
        self.check_name(text, slot.node.span, if dotted { "-_." } else { "-_" })?;
        Some(spanned(text, slot.node))
    }

    /// Whether it is a name: letters, digits and some signs, and neither empty nor long.
    pub(super) fn check_name(&mut self, text: &str, at: Span, signs: &str) -> Option<()> {
        let fits = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
        let title = if text.len() > MAX_NAME_BYTES {
            let bytes = text.len();
            format!("the name has {bytes} bytes; the limit is {MAX_NAME_BYTES}")
        } else if text.is_empty() {
            "the name is empty".to_owned()
        } else if let Some(wrong) = text.chars().find(|c| !fits(*c)) {
            format!("the name has `{wrong}` in it")
        } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            format!("the name begins with `{}`", &text[..1])
        } else {
            return Some(());
        };
        let signs: Vec<_> = signs.chars().map(|c| format!("`{c}`")).collect();
        let label = format!("a name has letters, digits, {}", signs.join(", "));
        let mut found = Diagnostic::error(F012, at, title, label);
        if let Some(better) = repaired(text) {
            found = found.help(format!("such as `{better}`"));
        }
        self.report(found);
        None
    }

    /// One of the words of its field.
    pub(super) fn word(
        &mut self,
        entry: Entry<'_>,
        name: &'static str,
    ) -> Option<Spanned<&'static str>> {
        let slot = entry.slot(name)?;
        let Is::Word(words) = slot.field.is else {
            return None;
        };
        let text = self.literal(slot)?;
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Some(Spanned {
                it: word,
                span: slot.node.span,
            });
        }
        self.not_among(slot.field.name, text, slot.node.span, words);
        None
    }

    /// A word that is none of those allowed.
    pub(super) fn not_among(&mut self, field: &str, text: &str, at: Span, words: &[&str]) {
        let title = format!("`{field}` cannot be `{text}`");
        let label = format!("it is one of {}", words.join(", "));
        let mut found = Diagnostic::error(F017, at, title, label);
        if let Some(near) = nearest(text, words.iter().copied()) {
            found = found.help(format!("did you mean `{near}`?"));
        }
        self.report(found);
    }

    /// A whole number within the range of its field.
    pub(super) fn whole(&mut self, entry: Entry<'_>, name: &'static str) -> Option<u64> {
        let slot = entry.slot(name)?;
        let Is::Whole { min, max } = slot.field.is else {
            return None;
        };
        let Kind::Number(text) = &slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        let number = text.parse::<u64>().ok();
        if let Some(number) = number.filter(|number| (min..=max).contains(number)) {
            return Some(number);
        }
        let title = format!("`{name}` cannot be {text}");
        let label = format!("a whole number from {min} to {max} is due here");
        self.report(Diagnostic::error(F017, slot.node.span, title, label));
        None
    }

    pub(super) fn boolean(&mut self, entry: Entry<'_>, name: &'static str) -> Option<bool> {
        let slot = entry.slot(name)?;
        let Kind::Bool(it) = slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        Some(it)
    }

    /// A duration within the range of its field.
    pub(super) fn duration(
        &mut self,
        entry: Entry<'_>,
        name: &'static str,
    ) -> Option<Spanned<Millis>> {
        let slot = entry.slot(name)?;
        let Is::Duration { min, max } = slot.field.is else {
            return None;
        };
        let text = self.literal(slot)?;
        let it = self.span_of_time(name, text, slot.node.span, (min, max))?;
        Some(Spanned {
            it,
            span: slot.node.span,
        })
    }

    /// Text as a duration between two others.
    pub(super) fn span_of_time(
        &mut self,
        name: &str,
        text: &str,
        at: Span,
        (min, max): (Millis, Millis),
    ) -> Option<Millis> {
        let range = format!("it may be from {min} to {max}");
        let title = match text.parse::<Millis>() {
            Ok(millis) if (min..=max).contains(&millis) => return Some(millis),
            Ok(millis) if millis < min => format!("`{name}` is too short: {text}"),
            Ok(_) => format!("`{name}` is too long: {text}"),
            Err(error) => format!("`{name}` {error}"),
        };
        self.report(Diagnostic::error(F008, at, title, range));
        None
    }

    /// A field with a short form: the node, if it is the main field by itself, else the long form.
    pub(super) fn short<'n>(
        &mut self,
        slot: Slot<'n>,
        long: &'static Object,
    ) -> Option<Result<&'n Node, Entry<'n>>> {
        if slot.node.scalar().is_some() {
            return Some(Ok(slot.node));
        }
        self.entry(long, slot.node, slot.name.span).map(Err)
    }
}

/// A text with its place.
pub(super) fn spanned(text: &str, node: &Node) -> Spanned<String> {
    Spanned {
        it: text.to_owned(),
        span: node.span,
    }
}

/// The nearest name to a text that is none.
fn repaired(text: &str) -> Option<String> {
    let dashed: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let words: Vec<_> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    let name = words.join("-").to_lowercase();
    (!name.is_empty() && name.len() <= MAX_NAME_BYTES && name != text).then_some(name)
}
