//! Every code that a message about a flow can carry, with its page.
//!
//! Codes are stable: tools match on them, and a retired one is never given a new meaning. `F` is
//! the file as it is written, `X` its expressions, `K` its keys and what follows from them, `C` what
//! else the check finds.

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
    C001 "unknown name"
    C002 "unknown step"
    C003 "a step refers to a later one"
    C004 "a step refers to itself"
    C005 "a step cannot be seen from there"
    C006 "unknown member"
    C007 "a name cannot be used there"
    C008 "a value of the wrong kind"
    C009 "a `let` is made of itself or of a later one"
    C010 "a dangerous step comes too early"
    C011 "what `retry` does not repeat"
    C012 "a step may happen twice"
    C013 "a step is taken for more harmless than it is"
    C014 "a header that cannot be used"
    C015 "an event that could not be found"
    C016 "a secret would be shown"
    C017 "what a model said decides where something goes"
    C018 "an `undo` that is not reached"
    C019 "a shared answer to a question that is different each time"
    C020 "an example that starts no run"
    C021 "an example without what the key is made of"
    C022 "an example of an answer that does not fit"
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
    F015 "a template inside SQL text or a command"
    F016 "a clock change skips or repeats the scheduled time"
    F017 "a value is not one of those allowed"
    F018 "fields that exclude or need each other"
    F019 "`${{ }}` where text is taken as it is"
    F020 "an address that cannot be called"
    F021 "a question that may change something"
    F022 "two files have a flow of the same name"
    F023 "two webhooks have the same path"
    K001 "a key depends on the current time"
    K002 "a key depends on randomness"
    K003 "a key depends on the run, the attempt or the delivery"
    K004 "a key is the same for every event"
    K005 "a key may be too narrow"
    K006 "a key may be missing or empty"
    K007 "a key depends on what a model said"
    K008 "a key is made of the raw payload"
    K009 "keys are remembered for less time than the sender sends again"
    K010 "the destination forgets the key before the retries end"
    K011 "a key contains a secret"
    K012 "a key depends on the position in a list"
    K013 "a key is the same for every item"
    K014 "a key depends on an answer that may change"
    K015 "a flow has no key, and its trigger may have none"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_under_its_title() {
        for code in ALL {
            let head = format!("# {}: {}\n", code.name, code.title);
            assert!(
                code.page.starts_with(&head),
                "{} does not begin with {head}",
                code.name
            );
            assert!(
                code.page.len() > head.len() + 200,
                "{} says too little",
                code.name
            );
        }
    }

    #[test]
    fn codes_are_found_by_name_and_stand_in_order() {
        assert_eq!(Code::named("f001").map(|code| code.name), Some(F001));
        assert_eq!(Code::named("F999"), None);
        assert!(ALL.is_sorted_by(|a, b| a.name < b.name));
    }
}
