//! Messages to people: Slack, Discord, Microsoft Teams, or any webhook.
//!
//! Owns how each service wants a message, and what its answer says. The request itself is one of
//! [`Http`], with all that is known there about what left and what did not.
//!
//! The invariant: what an event brought along pings nobody. Mentions and links are shown as text,
//! unless the file says that the text is markup.

mod service;

use std::collections::BTreeMap;

use semel_act::{Answer, Failure, FailureClass, Outcome, Task, Trace};
use semel_flow::Value;

use crate::http::Http;
use service::Service;

/// Where messages go.
#[derive(Clone, Debug, Default)]
pub struct NotifySettings {
    /// Named channels: the fields that stand for each, such as `slack`.
    pub channels: BTreeMap<String, Value>,
}

/// What is wrong with a task's fields. Values are not repeated: they may hold secrets.
#[derive(Debug, thiserror::Error)]
enum NotifyError {
    #[error("`notify` needs one of slack, discord, teams, webhook, channel")]
    Nowhere,
    #[error("there is no channel `{name}`; the configuration has {known}")]
    NoChannel { name: String, known: String },
    #[error("`{field}` is {kind}; write text")]
    Kind {
        field: &'static str,
        kind: &'static str,
    },
    #[error("`{field}` is empty")]
    Empty { field: &'static str },
    #[error("`text` has {chars} characters; {service} takes at most {most}")]
    TooLong {
        chars: usize,
        service: &'static str,
        most: usize,
    },
    #[error("`update` is not the id of a message")]
    NoMessage,
    #[error("{service} cannot replace a message; leave out `update`")]
    NoUpdate { service: &'static str },
    #[error("`text` has a secret in it; people would read it")]
    Secret,
}

/// Sends messages.
pub(crate) struct Notify {
    settings: NotifySettings,
}

impl Notify {
    pub(crate) fn new(settings: NotifySettings) -> Notify {
        Notify { settings }
    }

    /// Performs a task once.
    pub(crate) async fn perform(&self, http: &Http, task: &Task, trace: &dyn Trace) -> Outcome {
        let (service, input) = match self.request(task) {
            Ok(request) => request,
            Err(error) => {
                return Outcome::Failed(Failure {
                    class: FailureClass::Permanent,
                    message: error.to_string(),
                    retry_after: None,
                    answer: None,
                });
            }
        };
        let request = Task {
            input,
            ..task.clone()
        };
        match http.perform(&request, trace).await {
            Outcome::Done(answer) => told(service, answer),
            other => other,
        }
    }

    /// The service, and the request that it is asked by.
    fn request(&self, task: &Task) -> Result<(Service, Value), NotifyError> {
        let said = service::Said::read(&task.input, task.key.as_ref())?;
        let (service, place) = match task.input.get("channel") {
            Some(name) => self.channel(name)?,
            None => Service::of(&task.input)?,
        };
        let request = service.request(place, &said)?;
        Ok((service, request))
    }

    fn channel(&self, name: &Value) -> Result<(Service, &Value), NotifyError> {
        let name = name.as_text().unwrap_or_default();
        if let Some(fields) = self.settings.channels.get(name) {
            return Service::of(fields);
        }
        let known: Vec<_> = self.settings.channels.keys().map(String::as_str).collect();
        Err(NotifyError::NoChannel {
            name: name.to_owned(),
            known: match known.as_slice() {
                [] => "none".to_owned(),
                known => known.join(", "),
            },
        })
    }
}

/// What a service's answer says. Slack's methods answer 200 also when they refuse.
fn told(service: Service, answer: Answer) -> Outcome {
    let body = answer.names.get("body").cloned().unwrap_or(Value::Null);
    let word = |name: &str| body.get(name).cloned().unwrap_or(Value::Null);
    if service == Service::SlackBot && word("ok") != Value::Bool(true) {
        let error = word("error");
        return not_ok(error.as_text().unwrap_or_default(), answer);
    }
    let id = match service {
        Service::SlackBot => word("ts"),
        Service::Discord => word("id"),
        Service::Slack | Service::Teams | Service::Webhook => Value::Null,
    };
    Outcome::Done(Answer {
        result: Value::map([("id", id)]),
        ..answer
    })
}

/// Slack did not say that it is well.
fn not_ok(error: &str, answer: Answer) -> Outcome {
    let class = match error {
        "ratelimited" | "rate_limited" => FailureClass::Transient,
        // It broke while it was at it, or somebody else answered.
        "fatal_error" | "internal_error" | "service_unavailable" | "request_timeout" | "" => {
            return Outcome::Unknown {
                message: format!("Slack answered neither yes nor no: {error:?}"),
                evidence: Some(answer),
            };
        }
        _ => FailureClass::Refused,
    };
    Outcome::Failed(Failure {
        class,
        message: format!("Slack refused: {error}"),
        retry_after: None,
        answer: Some(answer),
    })
}
