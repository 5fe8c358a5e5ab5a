//! What follows from the file without being written there: classes and scopes.

use std::sync::Arc;

use semel_ledger::Millis;

use super::Flow;
use super::step::{Act, Action, Class, Kind, OnUnknown, Step, Tree};
use crate::diagnostic::Spanned;
use crate::expr::{Part, Template};
use crate::fields::KV_FORMS;

/// How long an attempt may take if neither the file nor the kind says.
const TIMEOUT: Millis = Millis::seconds(30);
/// The scope of answers that all flows share.
const SHARED: &str = "ai";

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

/// What the id and the scope of an undo end with; no id in a file has this sign.
const UNDO: &str = "/undo";

impl Step {
    /// The step that takes this one back: the same key, scope and id with `/undo` behind, the same
    /// patience. Its class is that of its own act.
    #[must_use]
    pub fn undone_by(&self, act: Arc<Act>) -> Step {
        let longer = |name: &Spanned<String>| Spanned {
            it: format!("{}{UNDO}", name.it),
            span: name.span,
        };
        Step {
            id: longer(&self.id),
            when: None,
            key: self.key.clone(),
            scope: self.scope.as_ref().map(longer),
            effect: None,
            lookup: None,
            on_unknown: None,
            retry: self.retry,
            timeout: self.timeout.clone(),
            undo: None,
            result: None,
            span: act.span,
            action: Action::Act(act),
        }
    }

    /// The id of the step that it takes back, if it is an undo.
    #[must_use]
    pub fn takes_back(&self) -> Option<&str> {
        self.id.it.strip_suffix(UNDO)
    }

    /// Its call to the world, if it is one call.
    #[must_use]
    pub fn act(&self) -> Option<&Arc<Act>> {
        match &self.action {
            Action::Act(act) => Some(act),
            _ => None,
        }
    }

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

    /// What to do when nobody knows whether it happened: as the author says, else as its kind is.
    #[must_use]
    pub fn rule(&self) -> OnUnknown {
        match (&self.on_unknown, &self.action) {
            (Some(rule), _) => rule.it,
            (None, Action::Act(act)) => act.usual_rule(),
            (None, _) => OnUnknown::Ask,
        }
    }

    /// How long one attempt may take: as the author says, else as its kind is.
    #[must_use]
    pub fn time_limit(&self) -> Millis {
        match (&self.timeout, &self.action) {
            (Some(timeout), _) => timeout.it,
            (None, Action::Act(act)) => act.usual_timeout(),
            (None, _) => TIMEOUT,
        }
    }

    /// Whether a name stands for a part of an answer that this step or one of its questions gets.
    fn is_answered_with(&self, name: &str) -> bool {
        let of = |act: &Act| act.answer_names().contains(&name);
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

    /// The scope of its effects: as written, else the flow's name and the step's id; one for all
    /// answers that are shared.
    #[must_use]
    pub fn scope_name(&self, flow: &Flow) -> String {
        match (&self.scope, &self.action) {
            (_, Action::Act(act)) if act.shared_for().is_some() => SHARED.to_owned(),
            (Some(scope), _) => scope.it.clone(),
            (None, _) => format!("{}/{}", flow.name.it, self.id.it),
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
            Kind::Kv => self.class_of_kv(),
            // Nobody sees a second answer of a model, but it is paid for.
            Kind::Email | Kind::Notify | Kind::Exec | Kind::Ssh | Kind::Ai | Kind::Other(_) => {
                Class::Guarded
            }
        }
    }

    /// What to do when nobody knows whether it happened and the file does not say.
    #[must_use]
    pub fn usual_rule(&self) -> OnUnknown {
        match self.kind {
            // There is nothing that a person could find out, and a repeat is seen by nobody.
            Kind::Ai => OnUnknown::Retry,
            _ => OnUnknown::Ask,
        }
    }

    /// How long an attempt may take if the file does not say.
    #[must_use]
    pub fn usual_timeout(&self) -> Millis {
        match self.kind {
            // Giving up early would be paid for twice.
            Kind::Ai => Millis::seconds(300),
            _ => TIMEOUT,
        }
    }

    /// The part of its answer that is the result, if the ledger keeps the answer whole: others than
    /// this step may find it, with another `result`.
    #[must_use]
    pub fn main_name(&self) -> Option<&'static str> {
        let json = self.member("schema").is_some();
        (self.kind == Kind::Ai).then_some(if json { "json" } else { "text" })
    }

    /// For how long every flow that asks the same shares the answer.
    #[must_use]
    pub fn shared_for(&self) -> Option<Millis> {
        let cached = self.constant("cache").filter(|_| self.kind == Kind::Ai)?;
        cached.parse().ok()
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

    /// What depends on what is there is done once by the store, which has the ledger too.
    fn class_of_kv(&self) -> Class {
        match self.kv_form().map(|(form, _)| form) {
            Some("get") => Class::Read,
            Some("set" | "delete") => Class::Set,
            _ => Class::Keyed,
        }
    }

    /// Of a `kv`: what it does, and its key.
    #[must_use]
    pub fn kv_form(&self) -> Option<(&'static str, &Template)> {
        KV_FORMS.iter().find_map(|form| match self.member(form) {
            Some(Tree::Text(key)) => Some((*form, key)),
            _ => None,
        })
    }

    /// What expressions over its answer may use.
    #[must_use]
    pub fn answer_names(&self) -> &'static [&'static str] {
        match self.kind {
            // What is only read, or put there whatever was there, has no before.
            Kind::Kv if !self.class().has_effect() => &["value"],
            kind => kind.answer_names(),
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
