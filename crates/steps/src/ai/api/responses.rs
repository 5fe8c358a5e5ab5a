//! Responses, as `OpenAI` has them.

use semel_flow::Value;

use super::{NAME, list, message, most, some, text, tokens};
use crate::ai::ask::Ask;
use crate::ai::said::{Ended, Said};

pub(super) fn body(ask: &Ask<'_>) -> Value {
    let system = ask.system.iter().map(|said| message("system", said));
    let others = ask.messages.iter();
    let others = others.map(|(role, said)| message(role, said));
    let members = some([
        ("model", Some(Value::text(&ask.model.name))),
        ("input", Some(Value::list(system.chain(others).collect()))),
        ("temperature", ask.temperature.cloned()),
        ("max_output_tokens", most(ask)),
        ("text", format(ask)),
        // Nobody comes back for it: what was answered is kept here.
        ("store", Some(Value::Bool(false))),
    ]);
    Value::map(members)
}

fn format(ask: &Ask<'_>) -> Option<Value> {
    let schema = ask.schema.as_ref()?;
    let format = Value::map([
        ("type", Value::text("json_schema")),
        ("name", Value::text(NAME)),
        ("schema", schema.value.clone()),
        ("strict", Value::Bool(schema.is_strict())),
    ]);
    Some(Value::map([("format", format)]))
}

pub(super) fn said(body: &Value) -> Option<Said> {
    let status = text(body, "status")?;
    let mut said = String::new();
    let mut refusal = None;
    let messages = list(body, "output")?.iter();
    for item in messages.filter(|item| text(item, "type") == Some("message")) {
        for part in list(item, "content")? {
            match text(part, "type") {
                Some("output_text") => said.push_str(text(part, "text")?),
                Some("refusal") => refusal = Some(text(part, "refusal")?.to_owned()),
                _ => {}
            }
        }
    }
    let reason = body.get("incomplete_details");
    let reason = reason.and_then(|details| text(details, "reason"));
    let ended = match (refusal, status, reason) {
        (Some(words), ..) => Ended::Refused(words),
        (None, "completed", _) => Ended::Well,
        (None, "incomplete", Some("max_output_tokens")) => Ended::Cut,
        (None, "incomplete", Some("content_filter")) => Ended::Filtered,
        (None, "incomplete" | "failed" | "cancelled", _) => {
            let error = body.get("error").and_then(|error| text(error, "message"));
            let words = error.or(reason).unwrap_or(status);
            Ended::Broken(words.to_owned())
        }
        // It is not over, or something that nobody has said yet.
        _ => return None,
    };
    let usage = body.get("usage");
    Some(Said {
        text: said,
        json: None,
        ended,
        stop: reason.unwrap_or(status).to_owned(),
        model: text(body, "model").unwrap_or_default().to_owned(),
        input: tokens(usage, "input_tokens"),
        output: tokens(usage, "output_tokens"),
    })
}
