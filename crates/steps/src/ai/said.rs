//! What a model said, in the same words whichever API said it.

use semel_act::{Answer, Failure, FailureClass, SecretSet};
use semel_flow::Value;

use super::ask::Ask;
use super::unusable;

/// How much of an answer a message repeats.
const EXCERPT_CHARS: usize = 200;
/// How deeply an answer may nest: what is kept around it must fit the ledger's own limit too.
const MAX_DEPTH: usize = 48;

/// How an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// By itself.
    Well,
    /// It was not done when it had used up its tokens.
    Cut,
    /// The provider did not let it through.
    Filtered,
    /// The model would not answer; in its words, if it gave some.
    Refused(String),
    /// The provider says that it went wrong.
    Broken(String),
}

/// What a model said.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) text: String,
    /// JSON that came as such.
    pub(super) json: Option<Value>,
    pub(super) ended: Ended,
    /// The same in the API's word.
    pub(super) stop: String,
    pub(super) model: String,
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Said {
    /// The answer, if it can be used.
    pub(super) fn judged(
        &self,
        ask: &Ask<'_>,
        secrets: &SecretSet,
    ) -> Result<Answer, Box<Failure>> {
        let unusable = |class, message| Err(unusable(class, message, self, ask));
        let told = |text: &str| excerpt(text, secrets);
        match &self.ended {
            Ended::Well => {}
            Ended::Cut => {
                let most = ask.max_tokens.map(|most| format!(" ({most})"));
                let message = format!(
                    "the answer was cut at max_tokens{}; allow more, or ask for less",
                    most.unwrap_or_default()
                );
                return unusable(FailureClass::Permanent, message);
            }
            Ended::Filtered => {
                let message = "the provider's content filter stopped the answer".to_owned();
                return unusable(FailureClass::Refused, message);
            }
            Ended::Refused(words) => {
                let message = format!("the model refused to answer{}", told(words));
                return unusable(FailureClass::Refused, message);
            }
            Ended::Broken(words) => {
                let message = format!("the provider gave up on the answer{}", told(words));
                return unusable(FailureClass::Refused, message);
            }
        }
        if self.text.trim().is_empty() && self.json.is_none() {
            let message = format!("the model answered nothing (it stopped with {})", self.stop);
            return unusable(FailureClass::Refused, message);
        }
        let Some(schema) = &ask.schema else {
            return Ok(self.answer(ask, Value::Null));
        };
        let json = match &self.json {
            Some(json) => json.clone(),
            None => match Value::read(self.text.as_bytes()) {
                Ok(json) => json,
                Err(error) => {
                    let message = format!("the answer is not JSON: {error}{}", told(&self.text));
                    return unusable(FailureClass::Permanent, message);
                }
            },
        };
        if depth(&json) > MAX_DEPTH {
            let message = format!("the answer nests deeper than {MAX_DEPTH} levels");
            return unusable(FailureClass::Permanent, message);
        }
        match schema.misfit(&json) {
            None => Ok(self.answer(ask, json)),
            Some(misfit) => {
                let message = format!("the answer does not fit `schema`: {misfit}");
                unusable(FailureClass::Permanent, message)
            }
        }
    }

    /// The answer as expressions see it.
    pub(super) fn answer(&self, ask: &Ask<'_>, json: Value) -> Answer {
        let count = |tokens: u64| Value::Int(i64::try_from(tokens).unwrap_or(i64::MAX));
        let price = ask.model.price.as_ref();
        let cost = price.map(|price| price.of(self.input, self.output));
        let cost = cost.and_then(|cost| Value::read(cost.as_bytes()).ok());
        let currency = price.map(|price| Value::text(&price.currency));
        let usage = [("input", count(self.input)), ("output", count(self.output))];
        let text = Value::text(&self.text);
        let result = match &ask.schema {
            Some(_) => json.clone(),
            None => text.clone(),
        };
        let names = Value::map([
            ("text", text),
            ("json", json),
            ("usage", Value::map(usage)),
            ("cost", cost.unwrap_or(Value::Null)),
            ("currency", currency.unwrap_or(Value::Null)),
            ("model", Value::text(&self.model)),
            ("stop", Value::text(&self.stop)),
        ]);
        Answer { names, result }
    }
}

/// The beginning of what was said, on one line, for people.
fn excerpt(text: &str, secrets: &SecretSet) -> String {
    // Before it is cut: half a secret would not be recognised.
    let clean = secrets.redactor().text(text);
    let mut line: String = clean
        .chars()
        .take(EXCERPT_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if line.len() < clean.len() {
        line.push('…');
    }
    match line.trim() {
        "" => String::new(),
        line => format!(": {line}"),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
