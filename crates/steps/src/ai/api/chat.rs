//! Chat completions, as `OpenAI` and many others have them.

use semel_flow::Value;

use super::{NAME, list, message, most, some, text, tokens};
use crate::ai::ask::Ask;
use crate::ai::said::{Ended, Said};

pub(super) fn body(ask: &Ask<'_>) -> Value {
    let system = ask.system.iter().map(|said| message("system", said));
    let others = ask.messages.iter();
    let others = others.map(|(role, said)| message(role, said));
    // Who made it has another word for it by now; most who speak it know only the old one.
    let at_home = ask.model.url == ask.model.api.home();
    let most_word = if at_home {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let members = some([
        ("model", Some(Value::text(&ask.model.name))),
        (
            "messages",
            Some(Value::list(system.chain(others).collect())),
        ),
        ("temperature", ask.temperature.cloned()),
        (most_word, most(ask)),
        ("response_format", format(ask)),
    ]);
    Value::map(members)
}

fn format(ask: &Ask<'_>) -> Option<Value> {
    let schema = ask.schema.as_ref()?;
    let wanted = Value::map([
        ("name", Value::text(NAME)),
        ("schema", schema.value.clone()),
        ("strict", Value::Bool(schema.is_strict())),
    ]);
    Some(Value::map([
        ("type", Value::text("json_schema")),
        ("json_schema", wanted),
    ]))
}

pub(super) fn said(body: &Value) -> Option<Said> {
    let choice = list(body, "choices")?.first()?;
    let message = choice.get("message")?;
    let stop = text(choice, "finish_reason")?;
    let refusal = text(message, "refusal").filter(|words| !words.is_empty());
    let ended = match (refusal, stop) {
        (Some(words), _) => Ended::Refused(words.to_owned()),
        (None, "length") => Ended::Cut,
        (None, "content_filter") => Ended::Filtered,
        (None, _) => Ended::Well,
    };
    let usage = body.get("usage");
    Some(Said {
        text: text(message, "content").unwrap_or_default().to_owned(),
        json: None,
        ended,
        stop: stop.to_owned(),
        model: text(body, "model").unwrap_or_default().to_owned(),
        input: tokens(usage, "prompt_tokens"),
        output: tokens(usage, "completion_tokens"),
    })
}
