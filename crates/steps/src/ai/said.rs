//! What a model said, in the same words whichever API said it.

use semel_act::{Answer, Failure, FailureClass, SecretSet};
use semel_flow::Value;

use super::ask::Ask;
use super::schema::Schema;
use super::unusable;
use crate::http::{MAX_DEPTH, depth, shortened};

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
        if let Some((class, message)) = self.trouble(ask, secrets) {
            return Err(Box::new(unusable(class, message, self, ask)));
        }
        let Some(schema) = &ask.schema else {
            return Ok(self.answer(ask, Value::Null));
        };
        match self.fitting(schema, secrets) {
            Ok(json) => Ok(self.answer(ask, json)),
            Err(message) => {
                let failure = unusable(FailureClass::Permanent, message, self, ask);
                Err(Box::new(failure))
            }
        }
    }

    /// Why it is no answer at all.
    fn trouble(&self, ask: &Ask<'_>, secrets: &SecretSet) -> Option<(FailureClass, String)> {
        let told = |words: &str| match words.trim() {
            "" => String::new(),
            words => shortened(words, secrets.redactor()),
        };
        let refused = |message: String| Some((FailureClass::Refused, message));
        match &self.ended {
            Ended::Well if self.text.trim().is_empty() && self.json.is_none() => {
                let stop = &self.stop;
                refused(format!(
                    "the model answered nothing (it stopped with {stop})"
                ))
            }
            Ended::Well => None,
            Ended::Cut => {
                let most = ask.max_tokens.map(|most| format!(" ({most})"));
                let most = most.unwrap_or_default();
                let message =
                    format!("the answer was cut at max_tokens{most}; allow more, or ask for less");
                Some((FailureClass::Permanent, message))
            }
            Ended::Filtered => {
                refused("the provider's content filter stopped the answer".to_owned())
            }
            Ended::Refused(words) => refused(format!("the model refused to answer{}", told(words))),
            Ended::Broken(words) => {
                refused(format!("the provider gave up on the answer{}", told(words)))
            }
        }
    }

    /// The JSON that was asked for, or why it is not that.
    fn fitting(&self, schema: &Schema<'_>, secrets: &SecretSet) -> Result<Value, String> {
        let json = match &self.json {
            Some(json) => json.clone(),
            None => Value::read(self.text.as_bytes()).map_err(|error| {
                let said = shortened(&self.text, secrets.redactor());
                format!("the answer is not JSON: {error}{said}")
            })?,
        };
        if depth(&json) > MAX_DEPTH {
            return Err(format!("the answer nests deeper than {MAX_DEPTH} levels"));
        }
        match schema.misfit(&json) {
            None => Ok(json),
            Some(misfit) => Err(format!("the answer does not fit `schema`: {misfit}")),
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
