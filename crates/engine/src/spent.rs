//! What models read and said for this node since it began, for whoever watches it.
//!
//! Counted where an answer comes in, so that one that is found in the ledger again counts nothing. What a run
//! paid stands in its history; this is only the sum.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::journal::{Happening, Usage};

/// The most models that are told apart: how they call themselves is for others to say.
const MAX_MODELS: usize = 64;
/// What the rest is called.
const OTHERS: &str = "other";

/// Tokens of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by it.
    pub input: u64,
    /// Said by it.
    pub output: u64,
}

/// Tokens by model.
#[derive(Debug, Default)]
pub(crate) struct Spent(Mutex<BTreeMap<Box<str>, Tokens>>);

impl Spent {
    /// Counts what the happenings of one answer tell.
    pub(crate) fn count(&self, happenings: &[Happening]) {
        for happening in happenings {
            let usage = match happening {
                Happening::Done(done) => done.usage.as_deref(),
                Happening::Failed(failed) => failed.usage.as_deref(),
                _ => None,
            };
            if let Some(usage) = usage {
                self.add(usage);
            }
        }
    }

    fn add(&self, usage: &Usage) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.contains_key(&usage.model) || all.len() < MAX_MODELS;
        let model = if known { &*usage.model } else { OTHERS };
        let tokens = all.entry(model.into()).or_default();
        tokens.input = tokens.input.saturating_add(usage.input);
        tokens.output = tokens.output.saturating_add(usage.output);
    }

    pub(crate) fn so_far(&self) -> BTreeMap<Box<str>, Tokens> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_make_up_names_are_counted_together() {
        let spent = Spent::default();
        for number in 0..1000 {
            spent.add(&Usage {
                model: format!("gpt-{number}").into(),
                input: 2,
                output: 1,
                cost: None,
            });
        }
        let all = spent.so_far();
        assert_eq!(all.len(), MAX_MODELS + 1);
        let rest = 1000 - MAX_MODELS as u64;
        let expected = Tokens {
            input: 2 * rest,
            output: rest,
        };
        assert_eq!(all[OTHERS], expected);
    }
}
