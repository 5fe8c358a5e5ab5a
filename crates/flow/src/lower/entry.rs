//! An object of the file beside its table: unknown, missing and excluding fields.

use super::Lower;
use crate::codes::{F003, F005, F006, F018};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::fields::{self, Field, Need, Object};
use crate::near::nearest;
use crate::yaml::{Kind, Node};

/// An object of the file and the table that it is read by.
#[derive(Clone, Copy)]
pub(super) struct Entry<'n> {
    pub(super) table: &'static Object,
    pub(super) node: &'n Node,
    /// The word that it belongs to, to point at when something is missing.
    pub(super) word: Span,
}

/// A field of an object with what was written there.
#[derive(Clone, Copy)]
pub(super) struct Slot<'n> {
    pub(super) field: &'static Field,
    pub(super) name: &'n Spanned<String>,
    pub(super) node: &'n Node,
}

impl<'n> Entry<'n> {
    /// What was written in a field of the table.
    pub(super) fn slot(&self, name: &'static str) -> Option<Slot<'n>> {
        let field = self.table.field(name);
        debug_assert!(field.is_some(), "{} has no field {name}", self.table.name);
        let (name, node) = self.written().iter().find(|(key, _)| key.it == name)?;
        Some(Slot {
            field: field?,
            name,
            node,
        })
    }

    /// Whether the field is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.node.get(name).is_some()
    }

    /// All that was written, in order.
    pub(super) fn written(&self) -> &'n [(Spanned<String>, Node)] {
        match &self.node.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }
}

impl Lower {
    /// Takes a node for an object; says what does not belong there and what is missing.
    pub(super) fn entry<'n>(
        &mut self,
        table: &'static Object,
        node: &'n Node,
        word: Span,
    ) -> Option<Entry<'n>> {
        let entry = self.open(table, node, word)?;
        for (name, _) in entry.written() {
            if table.field(&name.it).is_none() {
                self.unknown_field(table, name);
            }
        }
        self.missing(entry);
        self.excluding(entry);
        Some(entry)
    }

    /// Takes a node for an object without looking at its fields.
    pub(super) fn open<'n>(
        &mut self,
        table: &'static Object,
        node: &'n Node,
        word: Span,
    ) -> Option<Entry<'n>> {
        if let Kind::Map(_) = node.kind {
            return Some(Entry { table, node, word });
        }
        let title = format!("{} is {}", table.name, node.describe());
        let label = "a map of fields is due here";
        let fields: Vec<_> = table.fields.iter().map(|field| field.name).collect();
        self.report(
            Diagnostic::error(F005, node.span, title, label)
                .help(format!("its fields are: {}", fields.join(", "))),
        );
        None
    }

    /// A field that the object does not have: what may have been meant.
    pub(super) fn unknown_field(&mut self, table: &'static Object, name: &Spanned<String>) {
        let title = format!("{} has no field `{}`", table.name, name.it);
        let mut found = Diagnostic::error(F003, name.span, title, "unknown field");
        let names = || table.fields.iter().map(|field| field.name);
        if name.it == "<<" {
            found = found.help("merge keys are not read; use an alias for the whole value");
        } else if let Some(home) = level_above(table, &name.it) {
            let inner = table.name;
            found = found.help(format!(
                "`{}` belongs to {home}: take it out of {inner} and indent it less",
                name.it
            ));
        } else if let Some(near) = nearest(&name.it, names()) {
            found = found.help(format!("did you mean `{near}`?"));
        } else if let Some(home) = level_below(table, &name.it) {
            found = found.help(format!("`{}` belongs inside {home}", name.it));
        } else {
            let names: Vec<_> = names().collect();
            found = found.help(format!("there are: {}", names.join(", ")));
        }
        self.report(found);
    }

    /// Required fields that are not there.
    pub(super) fn missing(&mut self, entry: Entry<'_>) {
        let table = entry.table;
        let due = table
            .fields
            .iter()
            .filter(|field| field.need == Need::Required);
        for field in due.filter(|field| !entry.has(field.name)) {
            self.lacks(entry, field.name, field.doc);
        }
        let one = table.exactly_one;
        let slipped = || one.iter().any(|name| slipped(entry, name));
        if !one.is_empty() && !one.iter().any(|name| entry.has(name)) && !slipped() {
            let title = format!("{} lacks one of {}", table.name, one.join(", "));
            self.report(Diagnostic::error(F006, entry.word, title, "one is needed"));
        }
        let some = table.at_least_one;
        let slipped = || some.iter().any(|name| self::slipped(entry, name));
        if !some.is_empty() && !some.iter().any(|name| entry.has(name)) && !slipped() {
            let title = format!("{} has neither {}", table.name, some.join(" nor "));
            self.report(Diagnostic::error(
                F006,
                entry.word,
                title,
                "at least one is needed",
            ));
        }
    }

    /// A field that must be there.
    pub(super) fn lacks(&mut self, entry: Entry<'_>, name: &str, why: &str) {
        if slipped(entry, name) {
            return;
        }
        let title = format!("{} has no `{name}`", entry.table.name);
        let label = format!("`{name}` is missing here");
        self.report(
            Diagnostic::error(F006, entry.word, title, label).help(format!("{name}: {why}")),
        );
    }

    /// Fields of which only one may be there.
    fn excluding(&mut self, entry: Entry<'_>) {
        let table = entry.table;
        let groups = table.at_most_one.iter().chain([&table.exactly_one]);
        for group in groups {
            let there: Vec<_> = group.iter().filter_map(|name| entry.slot(name)).collect();
            let [first, others @ ..] = there.as_slice() else {
                continue;
            };
            for other in others {
                self.excludes(first.name, other.name);
            }
        }
        for (name, other) in table.needs {
            if let Some(slot) = entry.slot(name).filter(|_| !entry.has(other)) {
                let title = format!("`{name}` has no meaning without `{other}`");
                let label = format!("`{other}` is missing beside it");
                self.report(Diagnostic::error(F018, slot.name.span, title, label));
            }
        }
    }

    /// Two fields that cannot both be there.
    pub(super) fn excludes(&mut self, first: &Spanned<String>, second: &Spanned<String>) {
        let (one, two) = (&first.it, &second.it);
        let title = format!("`{one}` and `{two}` exclude each other");
        self.report(
            Diagnostic::error(F018, second.span, title, "not beside the other")
                .also(first.span, "this is there already")
                .help(format!("keep either `{one}` or `{two}`")),
        );
    }
}

/// The object further out that has such a field, unless this one has a similar one.
fn level_above(table: &'static Object, name: &str) -> Option<&'static str> {
    let mut above = table.within;
    while let Some(object) = above {
        if object.field(name).is_some() {
            return Some(object.name);
        }
        above = object.within;
    }
    None
}

/// The object just inside that has such a field.
fn level_below(table: &'static Object, name: &str) -> Option<&'static str> {
    let inside = fields::all().into_iter().filter(|object| {
        object
            .within
            .is_some_and(|above| std::ptr::eq(above, table))
    });
    let mut homes = inside.filter(|object| object.field(name).is_some());
    homes.next().map(|object| object.name)
}

/// Whether the field was meant by a slip of the fingers; that was reported already.
fn slipped(entry: Entry<'_>, name: &str) -> bool {
    let known = || entry.table.fields.iter().map(|field| field.name);
    let slip = |given: &str| nearest(given, known()) == Some(name);
    let mut written = entry.written().iter().map(|(given, _)| given.it.as_str());
    written.any(|given| entry.table.field(given).is_none() && slip(given))
}
