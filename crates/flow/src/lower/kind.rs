//! Which kind a step is: none, one, two, or unknown.

use super::Lower;
use super::entry::Entry;
use crate::codes::{F003, F004, F018};
use crate::diagnostic::{Diagnostic, Spanned};
use crate::fields::{FOR_EACH, Is, KINDS, STEP};
use crate::near::nearest;
use crate::yaml::Node;

impl Lower {
    /// The one word that says what the step does.
    pub(super) fn kind_of<'n>(
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
        if let Some(near) = nearest(&name.it, kinds()) {
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

    /// What became of a value in the server's own store is always known: nothing is asked, awaited or
    /// repeated.
    pub(super) fn beside_kv(&mut self, entry: Entry<'_>) {
        for name in ["effect", "lookup", "on_unknown", "retry", "timeout"] {
            if let Some(slot) = entry.slot(name) {
                let title = format!("`{name}` has no meaning beside `kv`");
                let label = "the value is in the server's own store: it is there or it is not";
                let found = Diagnostic::error(F018, slot.name.span, title, label);
                self.report(found.help("leave it out"));
            }
        }
    }
}

/// The kind of that name.
fn kind_named(name: &str) -> Option<&'static str> {
    let mut kinds = KINDS.fields.iter().map(|field| field.name);
    kinds.find(|kind| *kind == name)
}

/// In a step without an action, the field that was most likely meant to be one.
fn suspect<'n>(unknown: &[&'n Spanned<String>]) -> Option<&'n Spanned<String>> {
    let kinds = || KINDS.fields.iter().map(|field| field.name);
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
