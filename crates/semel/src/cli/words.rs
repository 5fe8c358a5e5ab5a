//! The words of the command line before they are parsed.
//!
//! `--data` has two meanings that scripts rely on: the data directory everywhere, and the event
//! after `trigger`. The parser knows one meaning a name, so here the second gets its own.

use std::ffi::{OsStr, OsString};

/// Flags before the verb that take a word of their own.
const WITH_VALUE: [&str; 4] = ["--data", "--store", "--server", "--token-file"];

/// The words with `--data` after `trigger` written as `--event`.
pub(crate) fn words(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let Some(verb) = verb(&words).filter(|verb| words[*verb] == "trigger") else {
        return words;
    };
    for word in words[verb + 1..]
        .iter_mut()
        .take_while(|word| *word != "--")
    {
        if word == "--data" {
            *word = "--event".into();
        } else if let Some(value) = word.to_str().and_then(|it| it.strip_prefix("--data=")) {
            *word = format!("--event={value}").into();
        }
    }
    words
}

/// Where the verb stands: the first word that is neither a flag nor what belongs to one.
fn verb(words: &[OsString]) -> Option<usize> {
    let is_flag = |word: &OsStr| word.as_encoded_bytes().starts_with(b"-");
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !is_flag(word) {
            return Some(at);
        }
        at += if WITH_VALUE.iter().any(|flag| word == flag) {
            2
        } else {
            1
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_after_trigger_is_the_event() {
        for (line, wanted) in [
            ("semel trigger f --data @x", "semel trigger f --event @x"),
            ("semel trigger --data={} f", "semel trigger --event={} f"),
            (
                "semel --data d --json trigger f --data -",
                "semel --data d --json trigger f --event -",
            ),
            (
                "semel --data trigger runs ls --data d",
                "semel --data trigger runs ls --data d",
            ),
            ("semel runs ls --data d", "semel runs ls --data d"),
            (
                "semel once -- trigger --data d",
                "semel once -- trigger --data d",
            ),
            ("semel trigger f -- --data", "semel trigger f -- --data"),
            ("semel --data", "semel --data"),
        ] {
            let found = words(line.split(' ').map(OsString::from));
            let found: Vec<_> = found.iter().filter_map(|word| word.to_str()).collect();
            assert_eq!(found.join(" "), wanted);
        }
    }
}
