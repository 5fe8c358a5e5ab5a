//! How each API wants a question, and what its answer says.
//!
//! One file an API; here is what they have in common. An answer that is not in the API's words is
//! nobody's: whether the question was answered is then not known.

mod chat;
mod messages;
mod responses;

use semel_flow::Value;

use super::ask::Ask;
use super::model::Api;
use super::said::Said;

/// How long an answer may be, in bytes.
const LIMIT: i64 = 8 << 20;
/// What the wanted JSON is called where it must have a name.
const NAME: &str = "answer";

/// The request that carries a question.
pub(super) fn request(ask: &Ask<'_>) -> Value {
    let (path, json) = match ask.model.api {
        Api::OpenAiChat => ("/chat/completions", chat::body(ask)),
        Api::OpenAiResponses => ("/responses", responses::body(ask)),
        Api::Anthropic => ("/v1/messages", messages::body(ask)),
    };
    let mut members = vec![
        ("method", Value::text("POST")),
        (
            "url",
            Value::Text(format!("{}{path}", ask.model.url).into()),
        ),
        ("json", json),
        ("limit", Value::Int(LIMIT)),
    ];
    let key = ask.model.key.clone();
    match ask.model.api {
        Api::OpenAiChat | Api::OpenAiResponses => {
            members.extend(key.map(|key| ("bearer", key)));
        }
        Api::Anthropic => {
            let version = ("anthropic-version", Value::text(messages::VERSION));
            let key = key.map(|key| ("x-api-key", key));
            members.push(("headers", Value::map([version].into_iter().chain(key))));
        }
    }
    Value::map(members)
}

/// What an answer says; nothing if it is not in the API's words.
pub(super) fn said(api: Api, body: &Value) -> Option<Said> {
    match api {
        Api::OpenAiChat => chat::said(body),
        Api::OpenAiResponses => responses::said(body),
        Api::Anthropic => messages::said(body),
    }
}

/// A message as all of them write it.
fn message(role: &str, said: &Value) -> Value {
    Value::map([("role", Value::text(role)), ("content", said.clone())])
}

/// The members that are there.
fn some<const N: usize>(members: [(&'static str, Option<Value>); N]) -> Vec<(&'static str, Value)> {
    let members = members.into_iter();
    members
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

fn most(ask: &Ask<'_>) -> Option<Value> {
    ask.max_tokens.map(|most| Value::Int(most.into()))
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_text()
}

fn list<'v>(value: &'v Value, name: &str) -> Option<&'v [Value]> {
    match value.get(name)? {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// How many tokens; 0 if it is not said.
fn tokens(usage: Option<&Value>, name: &str) -> u64 {
    match usage.and_then(|usage| usage.get(name)) {
        Some(Value::Int(count)) => u64::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}
