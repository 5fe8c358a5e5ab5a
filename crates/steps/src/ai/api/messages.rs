//! Messages, as Anthropic has them.
//!
//! JSON is asked for by a tool that the model has to use: every model and everyone who speaks these
//! words knows tools.

use semel_flow::Value;

use super::{NAME, list, message, most, some, text, tokens};
use crate::ai::ask::Ask;
use crate::ai::said::{Ended, Said};

/// The words as they were agreed then.
pub(super) const VERSION: &str = "2023-06-01";

pub(super) fn body(ask: &Ask<'_>) -> Value {
    let messages = ask.messages.iter();
    let messages = messages.map(|(role, said)| message(role, said));
    let block =
        |said: &&Value| Value::map([("type", Value::text("text")), ("text", (*said).clone())]);
    let system: Vec<_> = ask.system.iter().map(block).collect();
    let choice = Value::map([("type", Value::text("tool")), ("name", Value::text(NAME))]);
    let members = some([
        ("model", Some(Value::text(&ask.model.name))),
        ("messages", Some(Value::list(messages.collect()))),
        ("system", (!system.is_empty()).then(|| Value::list(system))),
        ("temperature", ask.temperature.cloned()),
        ("max_tokens", most(ask)),
        ("tools", tool(ask)),
        ("tool_choice", ask.schema.as_ref().map(|_| choice)),
    ]);
    Value::map(members)
}

fn tool(ask: &Ask<'_>) -> Option<Value> {
    let schema = ask.schema.as_ref()?;
    let tool = Value::map([
        ("name", Value::text(NAME)),
        ("description", Value::text("Gives the answer.")),
        ("input_schema", schema.value.clone()),
    ]);
    Some(Value::list(vec![tool]))
}

pub(super) fn said(body: &Value) -> Option<Said> {
    let stop = text(body, "stop_reason")?;
    let mut said = String::new();
    let mut json = None;
    for block in list(body, "content")? {
        match text(block, "type") {
            Some("text") => said.push_str(text(block, "text")?),
            Some("tool_use") if text(block, "name") == Some(NAME) => {
                json = Some(block.get("input")?.clone());
            }
            _ => {}
        }
    }
    let ended = match stop {
        "max_tokens" | "model_context_window_exceeded" => Ended::Cut,
        "refusal" => Ended::Refused(said.clone()),
        _ => Ended::Well,
    };
    if let Some(json) = json.as_ref().filter(|_| said.is_empty()) {
        said = json.to_json();
    }
    let usage = body.get("usage");
    // What was read from or put into the provider's own cache is not in the first number.
    let read = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ];
    Some(Said {
        text: said,
        json,
        ended,
        stop: stop.to_owned(),
        model: text(body, "model").unwrap_or_default().to_owned(),
        input: read.into_iter().map(|name| tokens(usage, name)).sum(),
        output: tokens(usage, "output_tokens"),
    })
}
