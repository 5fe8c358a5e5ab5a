//! What follows from the file without being written there: classes and scopes.

use super::Flow;
use super::step::{Act, Action, Class, Kind, Step, Tree};
use crate::expr::Part;

impl Class {
    /// All classes, from harmless to dangerous.
    pub const ALL: [Class; 5] = [
        Class::Pure,
        Class::Read,
        Class::Set,
        Class::Keyed,
        Class::Guarded,
    ];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Pure => "pure",
            Class::Read => "read",
            Class::Set => "set",
            Class::Keyed => "keyed",
            Class::Guarded => "guarded",
        }
    }

    /// Whether the ledger keeps an entry for it.
    #[must_use]
    pub fn has_effect(self) -> bool {
        matches!(self, Class::Keyed | Class::Guarded)
    }
}

impl Step {
    /// What a repeat of it does: as the author says, else as its kind is.
    #[must_use]
    pub fn class(&self) -> Class {
        if let Some(effect) = &self.effect {
            return effect.it;
        }
        match &self.action {
            Action::Act(act) => act.class(),
            // Its `create` is made once by the ledger alone.
            Action::Ensure(_) => Class::Guarded,
            Action::Set(_)
            | Action::Switch { .. }
            | Action::ForEach(_)
            | Action::Parallel(_)
            | Action::Call { .. }
            | Action::Emit { .. }
            | Action::Lock { .. }
            | Action::Stop { .. }
            | Action::Fail { .. }
            | Action::Wait(_)
            // It asks people, and nothing of the world.
            | Action::Approve(_) => Class::Pure,
        }
    }

    /// Whether a name stands for a part of an answer that this step or one of its questions gets.
    fn is_answered_with(&self, name: &str) -> bool {
        let of = |act: &Act| act.kind.answer_names().contains(&name);
        let asked = self.lookup.as_ref().is_some_and(|it| of(&it.probe.act));
        asked
            || match &self.action {
                Action::Act(act) => of(act),
                Action::Ensure(ensure) => {
                    let update = ensure.update.as_ref().is_some_and(|it| of(&it.act));
                    of(&ensure.find.act) || of(&ensure.create.act) || update
                }
                _ => false,
            }
    }

    /// The scope of its effects: as written, else the flow's name and the step's id.
    #[must_use]
    pub fn scope_name(&self, flow: &Flow) -> String {
        match &self.scope {
            Some(scope) => scope.it.clone(),
            None => format!("{}/{}", flow.name.it, self.id.it),
        }
    }
}

/// Whether a name stands for a part of the answer that a step gets; without a step, of a request.
#[must_use]
pub fn is_of_answer(step: Option<&Step>, name: &str) -> bool {
    match step {
        Some(step) => step.is_answered_with(name),
        None => ["body", "status", "headers"].contains(&name),
    }
}

impl Act {
    /// What a repeat of it does, by its kind.
    #[must_use]
    pub fn class(&self) -> Class {
        match self.kind {
            Kind::Http => match self.constant("method") {
                Some("GET" | "HEAD") => Class::Read,
                Some("PUT" | "DELETE") => Class::Set,
                _ if self.member("idempotency").is_some() => Class::Keyed,
                _ => Class::Guarded,
            },
            Kind::Sql => self.class_of_sql(),
            Kind::Notify if self.member("update").is_some() => Class::Set,
            Kind::Ssh if self.member("status").is_some() => Class::Read,
            // What marks the work on the other side drops repeats for as long as it is there.
            Kind::Ssh if self.is("detach") => Class::Keyed,
            Kind::Email | Kind::Notify | Kind::Exec | Kind::Ssh | Kind::Other(_) => Class::Guarded,
        }
    }

    fn class_of_sql(&self) -> Class {
        let has = |form| self.member(form).is_some();
        if has("query") {
            Class::Read
        } else if self.is("receipt") {
            Class::Keyed
        } else if has("upsert") || has("insert") {
            Class::Set
        } else {
            Class::Guarded
        }
    }

    /// Whether a field says `true`.
    fn is(&self, name: &str) -> bool {
        matches!(self.member(name), Some(Tree::Bool(true)))
    }

    /// A field of its input.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Tree> {
        self.input.member(name)
    }

    /// The text of a field that has no expression in it.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<&str> {
        self.member(name)?.constant()
    }
}

impl Tree {
    /// The member of that name, if this is an object that has it.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Tree> {
        let Tree::Map(members) = self else {
            return None;
        };
        let found = members.iter().find(|(member, _)| member.it == name);
        found.map(|(_, tree)| tree)
    }

    /// The text, if it is text without an expression in it.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        let Tree::Text(template) = self else {
            return None;
        };
        match template.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}
