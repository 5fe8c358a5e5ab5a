//! Steps and what they do.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_ledger::Millis;

use super::{Approve, Block, Wait};
use crate::diagnostic::{Span, Spanned};
use crate::expr::{Expr, Template};

/// What a repeat of a step does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Touches nothing.
    Pure,
    /// Only looks.
    Read,
    /// A repeat is harmless.
    Set,
    /// The destination dedupes on our key, for its window.
    Keyed,
    /// A repeat would be noticed; only the ledger protects it.
    Guarded,
}

pub use semel_ledger::OnUnknown;

/// Kinds of steps that are one call to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A request over HTTP.
    Http,
    /// A statement in a database.
    Sql,
    /// A mail over SMTP.
    Email,
    /// A message to people, where they talk.
    Notify,
    /// A program on the server's machine.
    Exec,
    /// A command on another machine.
    Ssh,
    /// A value under a key, in the server's own store: no call to the world.
    Kv,
    /// A question to a language model.
    Ai,
    /// A kind whose fields could not be understood; only in flows with errors, so that later steps may
    /// still refer to it.
    Other(&'static str),
}

impl Kind {
    /// All that are performed.
    pub const ALL: [Kind; 8] = [
        Kind::Http,
        Kind::Sql,
        Kind::Email,
        Kind::Notify,
        Kind::Exec,
        Kind::Ssh,
        Kind::Kv,
        Kind::Ai,
    ];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Http => "http",
            Kind::Sql => "sql",
            Kind::Email => "email",
            Kind::Notify => "notify",
            Kind::Exec => "exec",
            Kind::Ssh => "ssh",
            Kind::Kv => "kv",
            Kind::Ai => "ai",
            Kind::Other(name) => name,
        }
    }

    /// What expressions over its answer may use.
    #[must_use]
    pub fn answer_names(self) -> &'static [&'static str] {
        match self {
            Kind::Http | Kind::Notify | Kind::Other(_) => &["body", "status", "headers", "url"],
            Kind::Sql => &["rows", "count"],
            Kind::Email => &["message_id", "accepted", "reply", "code", "refused"],
            Kind::Exec => &["status", "signal", "stdout", "stderr", "cut"],
            Kind::Ssh => &[
                "status", "signal", "stdout", "stderr", "cut", "state", "key", "scope",
            ],
            Kind::Kv => &["value", "before", "changed"],
            Kind::Ai => &["text", "json", "usage", "cost", "currency", "model", "stop"],
        }
    }

    /// The kind of that name, if it is performed.
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name, unique in the flow.
    pub id: Spanned<String>,
    /// Only if this is true.
    pub when: Option<Expr>,
    /// The identity of its effect; left out, the flow's key and the step's id.
    pub key: Option<Template>,
    /// Which action it is, if shared with other flows; left out, the flow's name and the step's id.
    pub scope: Option<Spanned<String>>,
    /// The class that the author claims for it.
    pub effect: Option<Spanned<Class>>,
    /// How to ask the destination whether it happened.
    pub lookup: Option<Lookup>,
    /// What to do when nobody knows.
    pub on_unknown: Option<Spanned<OnUnknown>>,
    /// When to repeat.
    pub retry: Option<Retry>,
    /// How long one attempt may take.
    pub timeout: Option<Spanned<Millis>>,
    /// How to take it back: a step of its own, see [`Step::undone_by`].
    pub undo: Option<Box<Step>>,
    /// What later steps see; left out, the whole answer.
    pub result: Option<Expr>,
    /// What is done.
    pub action: Action,
    /// The whole step in the file.
    pub span: Span,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// One call to the world.
    Act(Arc<Act>),
    /// Find, or else create; update if asked.
    Ensure(Box<Ensure>),
    /// Give values names.
    Set(Vec<(Spanned<String>, Tree)>),
    /// The first case that is true.
    Switch {
        /// In order.
        cases: Vec<Case>,
        /// If none is.
        otherwise: Block,
    },
    /// The same steps for every item.
    ForEach(Box<ForEach>),
    /// Branches side by side.
    Parallel(Vec<Branch>),
    /// Run another flow and wait for its result.
    Call {
        /// Which flow.
        flow: Spanned<String>,
        /// What it is given as its event.
        input: Tree,
    },
    /// Tell other flows.
    Emit {
        /// The event's name.
        event: Spanned<String>,
        /// What it carries.
        data: Tree,
    },
    /// Steps that only one run at a time may be in.
    Lock {
        /// The lock's name, across flows.
        name: Template,
        /// How long to wait for it; left out, for ever.
        wait: Option<Spanned<Millis>>,
        /// What is done inside.
        steps: Block,
    },
    /// End the run as done.
    Stop {
        /// Why.
        message: Option<Template>,
    },
    /// End the run as failed.
    Fail {
        /// Why.
        message: Template,
    },
    /// Rest until something has come.
    Wait(Wait),
    /// Ask people for leave, and wait for their answer.
    Approve(Box<Approve>),
}

/// One call to the world.
#[derive(Clone, Debug)]
pub struct Act {
    /// Through what.
    pub kind: Kind,
    /// Its fields with templates; the names are those of the file. Of HTTP, `post: URL` is kept as
    /// `method: POST` and `url: URL`, and `multipart` always as a list.
    pub input: Tree,
    /// Fields that are expressions over each answer, such as `paging.next`, by dotted name.
    pub exprs: BTreeMap<&'static str, Expr>,
    /// The action's keyword in the file.
    pub span: Span,
    /// The shadow that it belongs to: it is not performed, only told.
    pub shadow: Option<Arc<str>>,
}

/// A tree of literals and templates.
#[derive(Clone, Debug)]
pub enum Tree {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number as it was written, in JSON spelling.
    Number(String),
    /// Text; if it is exactly one expression, its value keeps its type.
    Text(Template),
    /// A list.
    List(Vec<Tree>),
    /// An object, in the order of the file.
    Map(Vec<(Spanned<String>, Tree)>),
}

/// A question to the destination.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The call; of class read.
    pub act: Arc<Act>,
    /// Over its answer: is it there?
    pub found: Expr,
    /// Over its answer, if it is there: what later steps see.
    pub result: Option<Expr>,
}

/// How to find out whether an effect happened.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The question.
    pub probe: Probe,
    /// How long the destination may take to show what it did (`settle`).
    pub settle: Millis,
}

/// A call with what later steps see of it.
#[derive(Clone, Debug)]
pub struct Made {
    /// The call.
    pub act: Arc<Act>,
    /// Over its answer; left out, all of it.
    pub result: Option<Expr>,
}

/// Find, or else create; update if asked.
#[derive(Clone, Debug)]
pub struct Ensure {
    /// Is it there?
    pub find: Probe,
    /// Make it.
    pub create: Made,
    /// Change it if it was there.
    pub update: Option<Made>,
    /// How long the destination may take to show what was created.
    pub settle: Millis,
}

/// One case of a `switch`.
#[derive(Clone, Debug)]
pub struct Case {
    /// Is it this one?
    pub when: Expr,
    /// Then this.
    pub steps: Block,
}

/// One branch of a `parallel`.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Its name.
    pub id: Spanned<String>,
    /// What is done.
    pub steps: Block,
}

/// The same steps for every item.
#[derive(Clone, Debug)]
pub struct ForEach {
    /// The list.
    pub items: Expr,
    /// What an item is called; `item` if left out.
    pub name: String,
    /// The identity of an item's work.
    pub key: Template,
    /// How many at a time.
    pub parallel: u32,
    /// What is done for each.
    pub steps: Block,
}

/// What happens when the attempts are used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GiveUp {
    /// The step has failed, and `on_failure` tells of it.
    #[default]
    Fail,
    /// A person is asked whether to go on.
    Ask,
}

/// When to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all.
    pub max: u32,
    /// The first pause at most, doubled each time (full jitter).
    pub first: Millis,
    /// The longest pause.
    pub cap: Millis,
    /// Give up this long after the first attempt.
    pub within: Option<Millis>,
    /// What happens then (`then: fail | ask`).
    pub then: GiveUp,
    /// Where it was written.
    pub span: Span,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry {
            max: 8,
            first: Millis::seconds(1),
            cap: Millis::seconds(600),
            within: None,
            then: GiveUp::Fail,
            span: Span::default(),
        }
    }
}
