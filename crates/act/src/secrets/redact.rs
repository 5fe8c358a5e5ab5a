//! Takes secrets out of what came back.
//!
//! A destination may repeat what it was sent, in an answer or an error. Every secret is looked for
//! in all its [`forms`], all of them in one pass. What is found is replaced by `[secret NAME]`.
//! Secrets of under [`LEAST_BYTES`] are too common to be looked for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use semel_flow::Value;
use semel_flow::value::Map;

use super::forms::forms;
use crate::{Answer, Failure, Outcome};

/// The fewest bytes of a secret that is looked for.
pub const LEAST_BYTES: usize = 4;
/// Nobody repeats more; a file that was named by mistake must not fill the memory.
const MOST_BYTES: usize = 64 * 1024;

/// Knows what must not come back. Cheap to clone; the default one knows nothing.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Finder>>);

struct Finder {
    forms: AhoCorasick,
    /// What stands in the place of each form.
    marks: Vec<Arc<str>>,
    /// Some form could be found in a number.
    has_numbers: bool,
}

impl std::fmt::Debug for Redactor {
    /// Says nothing about the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    pub(super) fn new<'s>(secrets: impl Iterator<Item = (&'s Arc<str>, &'s Arc<str>)>) -> Redactor {
        let mut marks: HashMap<String, Arc<str>> = HashMap::new();
        let sought = LEAST_BYTES..=MOST_BYTES;
        for (name, value) in secrets.filter(|(_, value)| sought.contains(&value.len())) {
            let mark: Arc<str> = format!("[secret {name}]").into();
            for form in forms(value) {
                marks.entry(form).or_insert_with(|| Arc::clone(&mark));
            }
        }
        if marks.is_empty() {
            return Redactor::default();
        }
        let (forms, marks): (Vec<String>, Vec<Arc<str>>) = marks.into_iter().unzip();
        let has_numbers = forms.iter().any(|form| is_numeric(form));
        // The longest of those that begin first, so that no part of it stays behind. A DFA would be
        // searched a little faster, but making one takes the square of a secret that repeats itself.
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms);
        match built {
            Ok(forms) => Redactor(Some(Arc::new(Finder {
                forms,
                marks,
                has_numbers,
            }))),
            // Two billion letters do not fit; a set of secrets has some thousands.
            Err(error) => unreachable!("secrets are bounded: {error}"),
        }
    }

    /// The text without secrets.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.0 {
            Some(finder) => finder.text(text),
            None => Cow::Borrowed(text),
        }
    }

    /// The value without secrets, in names of members too.
    #[must_use]
    pub fn value(&self, value: Value) -> Value {
        match &self.0 {
            Some(finder) => finder.value(value),
            None => value,
        }
    }

    /// What came of a task, without secrets.
    #[must_use]
    pub fn outcome(&self, outcome: Outcome) -> Outcome {
        let Some(finder) = &self.0 else {
            return outcome;
        };
        match outcome {
            Outcome::Done(answer) => Outcome::Done(finder.answer(answer)),
            Outcome::Failed(failure) => Outcome::Failed(Failure {
                message: finder.text(&failure.message).into_owned(),
                answer: failure.answer.map(|answer| finder.answer(answer)),
                ..failure
            }),
            Outcome::Unknown { message, evidence } => Outcome::Unknown {
                message: finder.text(&message).into_owned(),
                evidence: evidence.map(|answer| finder.answer(answer)),
            },
        }
    }
}

impl Finder {
    /// How it was made.
    #[cfg(test)]
    fn kind(&self) -> AhoCorasickKind {
        self.forms.kind()
    }

    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = String::new();
        let mut from = 0;
        for found in self.forms.find_iter(text) {
            clean.push_str(&text[from..found.start()]);
            clean.push_str(&self.marks[found.pattern()]);
            from = found.end();
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        clean.push_str(&text[from..]);
        Cow::Owned(clean)
    }

    fn answer(&self, answer: Answer) -> Answer {
        Answer {
            names: self.value(answer.names),
            result: self.value(answer.result),
        }
    }

    /// Nearly all values hold no secret, and are given back as they are.
    fn value(&self, value: Value) -> Value {
        if self.holds(&value) {
            self.cleaned(&value)
        } else {
            value
        }
    }

    fn holds(&self, value: &Value) -> bool {
        match value {
            Value::Text(text) => self.forms.is_match(text.as_ref()),
            Value::List(items) => items.iter().any(|item| self.holds(item)),
            Value::Map(members) => members
                .iter()
                .any(|(name, value)| self.forms.is_match(name.as_ref()) || self.holds(value)),
            Value::Int(_) | Value::Decimal(_) => {
                self.has_numbers && self.forms.is_match(&value.to_json())
            }
            _ => false,
        }
    }

    fn cleaned(&self, value: &Value) -> Value {
        match value {
            Value::Text(text) => Value::Text(self.shared(text)),
            Value::List(items) => {
                Value::list(items.iter().map(|item| self.cleaned(item)).collect())
            }
            Value::Map(members) => {
                let clean = members
                    .iter()
                    .map(|(name, value)| (self.shared(name), self.cleaned(value)));
                Value::Map(Arc::new(clean.collect::<Map>()))
            }
            Value::Int(_) | Value::Decimal(_) => match self.text(&value.to_json()) {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(clean) => Value::Text(clean.into()),
            },
            other => other.clone(),
        }
    }

    fn shared(&self, text: &Arc<str>) -> Arc<str> {
        match self.text(text) {
            Cow::Borrowed(_) => Arc::clone(text),
            Cow::Owned(clean) => clean.into(),
        }
    }
}

/// Whether it could stand in a number.
fn is_numeric(form: &str) -> bool {
    form.bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
}

#[cfg(test)]
mod tests;
