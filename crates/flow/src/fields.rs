//! Every field of the file: its name, what may stand there, and one line about it.
//!
//! The single source for what is refused while lowering ("did you mean"), for the JSON Schema that
//! editors use and for the tables of the documentation. Whoever reads a field asks by its name, and
//! finds its range here.

mod ai;
mod approve;
mod email;
mod examples;
mod exec;
mod flow;
mod http;
mod kv;
mod notify;
mod sql;
mod ssh;
mod step;
mod trigger;
mod wait;

use semel_ledger::Millis;

pub use ai::{AI, MESSAGE};
pub use approve::{APPROVE, ESCALATE};
pub use email::{ATTACHMENT, EMAIL};
pub use examples::{EXAMPLE, EXAMPLES};
pub use exec::EXEC;
pub use flow::{FLOW, OVERLAP, RETRY};
pub use http::{BASIC, HTTP, IDEMPOTENCY, METHODS, PAGING, PART, TIMEOUTS};
pub use kv::{KV, KV_FORMS};
pub use notify::{NOTIFY, SLACK};
pub use sql::{INSERT, SQL, UPDATE, UPSERT};
pub use ssh::SSH;
pub use step::{
    CALL, CASE, EMIT, ENSURE, FAIL, FIND, FOR_EACH, KINDS, LOCK, LOOKUP, MADE, STEP, STOP, UNDO,
};
pub use trigger::{EVENT, FETCH, LATEST, SCHEDULE, SYNC, TRIGGERS, WEBHOOK};
pub use wait::{CALLBACK, FOR_EVENT, WAIT};

/// An object of the file.
#[derive(Debug)]
pub struct Object {
    /// What it is called in messages and in the documentation.
    pub name: &'static str,
    /// Its fields, in the order of the documentation.
    pub fields: &'static [Field],
    /// Exactly one of these must be there.
    pub exactly_one: &'static [&'static str],
    /// At least one of these must be there.
    pub at_least_one: &'static [&'static str],
    /// Of each of these groups, no two may be there.
    pub at_most_one: &'static [&'static [&'static str]],
    /// Fields that have a meaning only beside another: first the field, then what it needs.
    pub needs: &'static [(&'static str, &'static str)],
    /// The object that it stands in, to tell a field that slipped a level.
    pub within: Option<&'static Object>,
}

/// A field of an object.
#[derive(Debug)]
pub struct Field {
    /// As it is written.
    pub name: &'static str,
    /// What may stand there.
    pub is: Is,
    /// Whether it may be left out.
    pub need: Need,
    /// One line, for the documentation and for editors.
    pub doc: &'static str,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It may.
    Optional,
    /// It may not.
    Required,
}

/// What may stand in a field.
#[derive(Clone, Copy, Debug)]
pub enum Is {
    /// Text as it is.
    Text,
    /// Letters, digits, `-` and `_`.
    Name,
    /// A name that may have dots, such as `invoice.made`.
    DottedName,
    /// Text with `${{ }}`.
    Template,
    /// One text or a list of texts, each with `${{ }}`.
    Templates,
    /// Text that another program parses: taken as it is, and no value is put into it.
    Raw,
    /// A program and its arguments: a list of texts, each with `${{ }}`.
    Command,
    /// Exit codes: a list of them, or one.
    Codes {
        /// The most.
        max: u64,
    },
    /// An address with `${{ }}`.
    Url,
    /// An expression, written bare.
    Expr,
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Whole {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// A number that need not be whole.
    Decimal {
        /// The most; the least is 0.
        max: u64,
    },
    /// A duration such as `90s` or `1h30m`.
    Duration {
        /// The least.
        min: Millis,
        /// The most.
        max: Millis,
    },
    /// Two durations, `2s..10m`.
    Backoff,
    /// A size such as `4MiB`.
    Size,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `${{ secrets.NAME }}`
    Secret,
    /// A list of secrets.
    Secrets,
    /// A path under `/hooks/`.
    HookPath,
    /// Five fields of cron.
    Cron,
    /// A time zone such as `Europe/Berlin`.
    Zone,
    /// Anything, with `${{ }}` in its text.
    Tree,
    /// Names with anything.
    Trees,
    /// Names with expressions.
    Exprs,
    /// Names with text, each with `${{ }}`.
    Texts,
    /// Names with text or lists of text, each with `${{ }}`.
    Pairs,
    /// HTTP statuses: a list of them, or one.
    Statuses,
    /// Parts of a multipart body.
    Parts,
    /// A list of objects, or an expression that gives it.
    Objects(&'static Object),
    /// An object.
    Object(&'static Object),
    /// An object, or its one main field by itself.
    Short {
        /// The long form.
        long: &'static Object,
        /// The field that stands alone in the short form.
        main: &'static str,
    },
    /// One trigger, a list of them, or `manual`.
    Triggers,
    /// Nothing but the word itself.
    Nothing,
    /// A list of steps.
    Steps,
    /// Names with lists of steps.
    Branches,
    /// The cases of a `switch`.
    Cases,
    /// A number, or `${{ }}`.
    Number,
    /// Names of people, and `group:NAME`.
    People,
    /// A list of objects.
    Items(&'static Object),
    /// Anything, taken as it is.
    Plain,
    /// Names with anything, taken as it is.
    Plains,
}

impl Object {
    /// The field of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Is {
    /// What it is, in words for messages and the documentation.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Is::Text | Is::Zone | Is::Cron => "text".to_owned(),
            Is::Name | Is::DottedName => "a name".to_owned(),
            Is::Template => "text with `${{ }}`".to_owned(),
            Is::Templates => "text with `${{ }}`, or a list of it".to_owned(),
            Is::Raw => "text without `${{ }}`".to_owned(),
            Is::Command => "a list of text with `${{ }}`".to_owned(),
            Is::Codes { max } => format!("a list of exit codes from 0 to {max}"),
            Is::Url => "a URL with `${{ }}`".to_owned(),
            Is::Expr => "an expression".to_owned(),
            Is::Bool => "`true` or `false`".to_owned(),
            Is::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Is::Decimal { max } => format!("a number from 0 to {max}"),
            Is::Duration { min, max } => format!("a duration from {min} to {max}"),
            Is::Backoff => "two durations, such as `2s..10m`".to_owned(),
            Is::Size => "a size, such as `4MiB`".to_owned(),
            Is::Word(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
                words.join(", ")
            }
            Is::Secret => "`${{ secrets.NAME }}`".to_owned(),
            Is::Secrets => "a list of `${{ secrets.NAME }}`".to_owned(),
            Is::HookPath => "a path that begins with `/hooks/`".to_owned(),
            Is::Tree => "anything, its text with `${{ }}`".to_owned(),
            Is::Trees => "names and values with `${{ }}`".to_owned(),
            Is::Exprs => "names and expressions".to_owned(),
            Is::Texts | Is::Pairs => "names and text with `${{ }}`".to_owned(),
            Is::Statuses => "a list of HTTP statuses from 200 to 599".to_owned(),
            Is::Parts => "a list of parts".to_owned(),
            Is::Objects(object) | Is::Items(object) => {
                format!("a list, each with the fields of {}", object.name)
            }
            Is::Object(object) => format!("the fields of {}", object.name),
            Is::Short { long, main } => format!("`{main}`, or the fields of {}", long.name),
            Is::Triggers => "a trigger or a list of them".to_owned(),
            Is::Nothing => "nothing".to_owned(),
            Is::Steps => "a list of steps".to_owned(),
            Is::Branches => "names and lists of steps".to_owned(),
            Is::Cases => "a list of cases".to_owned(),
            Is::Number => "a number, or `${{ }}`".to_owned(),
            Is::People => "a list of names and `group:NAME`".to_owned(),
            Is::Plain => "anything".to_owned(),
            Is::Plains => "names and values".to_owned(),
        }
    }
}

/// Every object, in the order of the documentation.
#[must_use]
pub fn all() -> [&'static Object; 50] {
    [
        &FLOW,
        &OVERLAP,
        &RETRY,
        &TRIGGERS,
        &WEBHOOK,
        &LATEST,
        &SCHEDULE,
        &SYNC,
        &FETCH,
        &EVENT,
        &STEP,
        &KINDS,
        &HTTP,
        &BASIC,
        &IDEMPOTENCY,
        &TIMEOUTS,
        &PAGING,
        &PART,
        &SQL,
        &UPSERT,
        &UPDATE,
        &INSERT,
        &EMAIL,
        &ATTACHMENT,
        &NOTIFY,
        &SLACK,
        &EXEC,
        &SSH,
        &KV,
        &AI,
        &MESSAGE,
        &ENSURE,
        &FIND,
        &MADE,
        &LOOKUP,
        &UNDO,
        &CASE,
        &FOR_EACH,
        &CALL,
        &EMIT,
        &LOCK,
        &STOP,
        &FAIL,
        &WAIT,
        &CALLBACK,
        &FOR_EVENT,
        &APPROVE,
        &ESCALATE,
        &EXAMPLES,
        &EXAMPLE,
    ]
}

/// A field that may be left out.
const fn field(name: &'static str, is: Is, doc: &'static str) -> Field {
    Field {
        name,
        is,
        need: Need::Optional,
        doc,
    }
}

/// A field that may not be left out.
const fn required(name: &'static str, is: Is, doc: &'static str) -> Field {
    Field {
        need: Need::Required,
        ..field(name, is, doc)
    }
}

/// An object whose fields stand alone.
const fn object(name: &'static str, fields: &'static [Field]) -> Object {
    Object {
        name,
        fields,
        exactly_one: &[],
        at_least_one: &[],
        at_most_one: &[],
        needs: &[],
        within: None,
    }
}

/// A duration between these.
const fn duration(min: Millis, max: Millis) -> Is {
    Is::Duration { min, max }
}

#[cfg(test)]
mod tests;
