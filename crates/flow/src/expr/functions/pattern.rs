//! Patterns of `matches`: made ready once if they are written out, and weighed, so that fuel knows
//! what a byte of text costs.

use regex_lite::{Regex, RegexBuilder};

use crate::expr::fault::Outcome;
use crate::expr::fuel::Fuel;

/// The longest pattern, in bytes.
const MAX_BYTES: usize = 1000;
/// The lightest pattern's memory, in bytes; its weight is 1.
const LIGHT: usize = 2 << 10;
/// The heaviest pattern's weight.
const MAX_WEIGHT: usize = 16;
/// How deep groups may be nested.
const MAX_NESTING: u32 = 32;

/// A pattern made ready. Matching visits each of its states at most once for a byte of text.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// Its states, in multiples of what a light pattern has.
    weight: usize,
}

/// Why a pattern cannot be used.
#[derive(Debug, thiserror::Error)]
pub(in crate::expr) enum PatternError {
    /// Over the limit.
    #[error("the pattern has {bytes} bytes; the limit is {MAX_BYTES}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Something in it is repeated too often.
    #[error("the pattern takes too much memory; let it repeat less")]
    TooHeavy,
    /// Not a pattern.
    #[error("not a pattern: {source}")]
    Unreadable {
        /// What the reader of patterns says.
        source: regex_lite::Error,
    },
}

impl Pattern {
    /// Reads a pattern and finds out its weight: the smallest amount of memory that is enough.
    pub(in crate::expr) fn new(text: &str) -> Result<Pattern, PatternError> {
        if text.len() > MAX_BYTES {
            return Err(PatternError::TooLong { bytes: text.len() });
        }
        let mut weight = 1;
        loop {
            match build(text, weight * LIGHT) {
                Ok(regex) => return Ok(Pattern { regex, weight }),
                Err(source) if !source.to_string().contains("size limit") => {
                    return Err(PatternError::Unreadable { source });
                }
                Err(_) if weight == MAX_WEIGHT => return Err(PatternError::TooHeavy),
                Err(_) => weight *= 2,
            }
        }
    }

    /// Whether it is found in the text.
    pub(super) fn is_match(&self, text: &str, fuel: &mut Fuel) -> Outcome<bool> {
        fuel.use_up(text.len().saturating_mul(self.weight))?;
        Ok(self.regex.is_match(text))
    }
}

fn build(text: &str, memory: usize) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(text)
        .size_limit(memory)
        .nest_limit(MAX_NESTING)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_weighed() {
        for (text, weight) in [
            ("^evt_[0-9]+$", 1),
            (r"^[\w.+-]+@[\w-]+\.[\w.]+$", 1),
            ("(a{10}){10}", 2),
        ] {
            assert_eq!(Pattern::new(text).expect(text).weight, weight, "{text}");
        }
        for (text, reason) in [
            (
                "(a{100}){100}",
                "the pattern takes too much memory; let it repeat less",
            ),
            (
                "a{1000}{1000}",
                "the pattern takes too much memory; let it repeat less",
            ),
            ("(", "not a pattern: "),
            (r"\p{Greek}", "not a pattern: "),
        ] {
            let error = Pattern::new(text).expect_err(text).to_string();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }
}
