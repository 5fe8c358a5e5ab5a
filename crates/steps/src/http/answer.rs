//! What expressions and people see of an answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use semel_act::Answer;
use semel_flow::Value;
use semel_flow::value::Map;
use std::sync::Arc;

use super::plan::Message;
use crate::outgoing::Reply;
use crate::secrets::Redactor;

/// How deeply a JSON answer may nest and still be more than text: what is kept around it must fit
/// the ledger's own limit too.
pub(crate) const MAX_DEPTH: usize = 48;
/// How much of an answer a message repeats.
const EXCERPT_CHARS: usize = 200;

/// An answer as expressions see it.
pub(super) fn made(reply: &Reply, message: &Message) -> Answer {
    let body = match &reply.body {
        Ok(bytes) => body(&reply.headers, bytes),
        Err(_) => Value::Null,
    };
    let url = if message.private_url {
        format!("{}/***", message.target.origin)
    } else {
        message.target.to_string()
    };
    let names = Value::map([
        ("body", body.clone()),
        ("headers", headers(&reply.headers)),
        ("status", Value::Int(reply.status.as_u16().into())),
        ("url", Value::Text(url.into())),
    ]);
    Answer {
        names,
        result: body,
    }
}

/// Names in lower case; several of one name are joined, as HTTP has it.
fn headers(headers: &HeaderMap) -> Value {
    let mut members = Map::new();
    for name in headers.keys() {
        let values: Vec<_> = headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        members.insert(name.as_str().into(), Value::Text(values.join(", ").into()));
    }
    Value::Map(Arc::new(members))
}

/// JSON exactly, if it is said to be and is; else text; else base64.
fn body(headers: &HeaderMap, bytes: &Bytes) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    if is_json(headers)
        && let Ok(value) = Value::read(bytes)
        && depth(&value) <= MAX_DEPTH
    {
        return value;
    }
    match std::str::from_utf8(bytes) {
        // U+0000 has no place in what is kept.
        Ok(text) if !text.contains('\0') => Value::text(text),
        _ => Value::Text(STANDARD.encode(bytes).into()),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()) else {
        return false;
    };
    let essence = text.split(';').next().unwrap_or("").trim();
    let essence = essence.to_ascii_lowercase();
    essence == "application/json" || essence == "text/json" || essence.ends_with("+json")
}

pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The beginning of an answer's body, on one line, for people.
pub(super) fn excerpt(answer: &Answer, redactor: &Redactor) -> String {
    if answer.result == Value::Null {
        return String::new();
    }
    shortened(&answer.result.shown(), redactor)
}

/// The beginning of a text, on one line, behind a colon.
pub(crate) fn shortened(text: &str, redactor: &Redactor) -> String {
    // Before it is cut: half a secret would not be recognised.
    let text = redactor.text(text);
    let mut line: String = text
        .chars()
        .take(EXCERPT_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if line.len() < text.len() {
        line.push('…');
    }
    format!(": {}", line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, bytes: &'static [u8]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
        body(&headers, &Bytes::from_static(bytes)).to_json()
    }

    #[test]
    fn bodies_become_values() {
        for (content_type, bytes, json) in [
            (
                "application/json",
                &b"{\"a\":12345678901234567890.5}"[..],
                "{\"a\":12345678901234567890.5}",
            ),
            ("Application/Problem+JSON; charset=utf-8", b"[1]", "[1]"),
            (
                "application/json",
                b"{\"a\":1,\"a\":2}",
                "\"{\\\"a\\\":1,\\\"a\\\":2}\"",
            ),
            ("application/json", b"<html>", "\"<html>\""),
            ("text/plain", b"[1]", "\"[1]\""),
            ("text/plain", b"a\0b", "\"YQBi\""),
            ("image/png", b"\x89PNG", "\"iVBORw==\""),
            ("application/json", b"", "null"),
        ] {
            assert_eq!(read(content_type, bytes), json);
        }
    }

    #[test]
    fn what_is_kept_stays_within_the_ledgers_depth() {
        for (levels, is_text) in [(48, false), (49, true), (64, true)] {
            let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
            let value = body(&headers, &text.into());
            assert_eq!(value.as_text().is_some(), is_text, "{levels}");
        }
    }

    #[test]
    fn headers_of_one_name_are_joined() {
        let mut map = HeaderMap::new();
        map.append("X-A", "1".parse().unwrap());
        map.append("x-a", "2".parse().unwrap());
        assert_eq!(headers(&map).to_json(), r#"{"x-a":"1, 2"}"#);
    }
}
