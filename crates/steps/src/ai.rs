//! `ai`: a question to a language model, and what is known after its answer.
//!
//! Owns what is asked ([`ask`]), how each API wants it and what its answer says ([`api`]), whether the
//! answer fits the schema ([`schema`]) and what it costs ([`price`]). The request itself is one of
//! [`Http`], with all that is known there about what left and what did not.
//!
//! The invariant: what names a question is everything that the model is told, and nothing else: not
//! the name that the configuration gives the model, not its price, not the value of a secret.

mod api;
mod ask;
mod model;
mod price;
mod said;
mod schema;

use std::sync::Arc;

use semel_act::{Answer, Failure, FailureClass, Outcome, Secrets, Task, Trace};
use semel_flow::Value;
use semel_ledger::Millis;

use crate::http::Http;
use crate::outcome::failed;
use ask::Ask;
use said::Said;

pub use model::{Api, Model, ModelError, Models};
pub use price::{Price, PriceError};

/// Asks models.
pub(crate) struct Ai {
    models: Models,
    secrets: Arc<dyn Secrets>,
}

impl Ai {
    pub(crate) fn new(models: Models, secrets: Arc<dyn Secrets>) -> Ai {
        Ai { models, secrets }
    }

    /// Everything that the model would be told: what the answer is kept under.
    pub(crate) fn identity(&self, input: &Value) -> Result<Value, String> {
        let ask = Ask::read(&self.models, input).map_err(|error| error.to_string())?;
        Ok(ask.identity())
    }

    /// Performs a task once.
    pub(crate) async fn perform(&self, http: &Http, task: &Task, trace: &dyn Trace) -> Outcome {
        let ask = match Ask::read(&self.models, &task.input) {
            Ok(ask) => ask,
            Err(error) => return failed(FailureClass::Permanent, error.to_string()),
        };
        let request = Task {
            input: api::request(&ask),
            ..task.clone()
        };
        match http.perform(&request, trace).await {
            Outcome::Done(answer) => self.answered(&ask, &answer),
            Outcome::Unknown {
                message,
                evidence: Some(answer),
            } => not_now(message, &answer),
            Outcome::Failed(failure) => Outcome::Failed(Failure {
                answer: failure.answer.as_ref().map(evidence),
                ..failure
            }),
            lost @ Outcome::Unknown { .. } => lost,
        }
    }

    /// What a definite answer says.
    fn answered(&self, ask: &Ask<'_>, answer: &Answer) -> Outcome {
        let body = answer.names.get("body").unwrap_or(&Value::Null);
        let Some(said) = api::said(ask.model.api, body) else {
            // Something was made of the question, and what it was is lost.
            return Outcome::Unknown {
                message: format!("the answer is not in the words of {}", ask.model.api.name()),
                evidence: Some(evidence(answer)),
            };
        };
        match said.judged(ask, &self.secrets.now()) {
            Ok(answer) => Outcome::Done(answer),
            Err(failure) => Outcome::Failed(*failure),
        }
    }
}

/// Overloaded: nothing was made of the question.
fn not_now(message: String, answer: &Answer) -> Outcome {
    let overloaded = matches!(answer.names.get("status"), Some(Value::Int(503 | 529)));
    if !overloaded {
        return Outcome::Unknown {
            message,
            evidence: Some(evidence(answer)),
        };
    }
    let headers = answer.names.get("headers");
    let after = headers.and_then(|headers| headers.get("retry-after")?.as_text());
    let after: Option<u64> = after.and_then(|text| text.trim().parse().ok());
    Outcome::Failed(Failure {
        class: FailureClass::Transient,
        message,
        retry_after: after.map(|seconds| Millis(seconds.saturating_mul(1000)).min(Millis::days(1))),
        answer: Some(evidence(answer)),
    })
}

/// What is kept of an answer that cannot be used: what was said, not who said it.
fn evidence(answer: &Answer) -> Answer {
    let member = |name| answer.names.get(name).cloned().unwrap_or(Value::Null);
    Answer {
        names: Value::map([("status", member("status")), ("body", member("body"))]),
        result: member("body"),
    }
}

/// What a failure with an answer is: it was paid for, and it cannot be used.
fn unusable(class: FailureClass, message: String, said: &Said, ask: &Ask<'_>) -> Failure {
    Failure {
        class,
        message,
        retry_after: None,
        answer: Some(said.answer(ask, Value::Null)),
    }
}
