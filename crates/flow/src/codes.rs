//! Every code that a message about a flow can carry, with its page.
//!
//! Codes are stable: tools match on them, and a retired one is never given a new meaning. `F` is
//! the file as it is written, `K` its keys and what follows from them, `X` its expressions.

/// A code and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// `F001`
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// What happened and what to do, for people.
    pub page: &'static str,
}

macro_rules! codes {
    ($($name:ident $title:literal)*) => {
        $(
            #[doc = $title]
            pub const $name: &str = stringify!($name);
        )*

        /// All codes, in order.
        pub const ALL: &[Code] = &[$(
            Code {
                name: $name,
                title: $title,
                page: include_str!(concat!("../../../docs/codes/", stringify!($name), ".md")),
            },
        )*];
    };
}

codes! {
    F001 "the file cannot be read as YAML"
    F002 "a field is there twice"
    F003 "unknown field"
    F004 "what a step does is missing, unknown or there twice"
    F005 "a value is of the wrong type"
    F006 "a required field is missing"
    F007 "two ids are the same, or differ only by case"
    F008 "a duration is wrong or out of range"
    F009 "a cron schedule is wrong or never fires"
    F010 "unknown time zone"
    F011 "`${{ }}` in a field that is an expression anyway"
    F012 "a name has characters that names cannot have"
    F013 "a secret is written in clear"
    F014 "this version does not perform that kind of step"
    F015 "a template inside SQL text or a command"
    F016 "a clock change skips or repeats the scheduled time"
    F017 "a value is not one of those allowed"
    F018 "fields that exclude or need each other"
    F019 "`${{ }}` where text is taken as it is"
    F020 "an address that cannot be called"
    F021 "a question that may change something"
    X001 "an expression cannot be read"
    X002 "an expression is too long or nested too deeply"
    X003 "there is no such function"
    X004 "a function is given the wrong number of values"
    X005 "an expression in text is not closed"
    X006 "the pattern of `matches` cannot be used"
}

impl Code {
    /// The code of that name, in either case.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Code> {
        ALL.iter().find(|code| code.name.eq_ignore_ascii_case(name))
    }
}
