//! Forms: `name=value&…`, as Slack's commands and interactions and GitHub's form hooks come.
//!
//! Read as strictly as JSON: a name twice, half an escape, bytes that are not UTF-8 and U+0000
//! are refused with the offset, because two readers could see two things.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use semel_flow::Value;
use semel_flow::value::Map;

use super::Event;
use crate::body;
use crate::code::Code;
use crate::hooks::senders::Sender;
use crate::problem::Problem;

/// The event of a form: its fields as texts, or the JSON in its one field `payload`.
pub(super) fn event(sender: Sender, sent: &[u8]) -> Result<Event, Problem> {
    let fields = fields(sent)?;
    if sender.wraps_json_in_form()
        && fields.len() == 1
        && let Some(Value::Text(payload)) = fields.get("payload")
    {
        return Event::json(payload.as_bytes()).map_err(|problem| problem.field("payload"));
    }
    let value = Value::Map(Arc::new(fields));
    let canonical = value
        .to_canonical()
        .map_err(|error| body::not_json(&error))?;
    Ok(Event { canonical, value })
}

fn fields(sent: &[u8]) -> Result<Map, Problem> {
    let mut fields = Map::new();
    let mut offset = 0;
    for pair in sent.split(|byte| *byte == b'&') {
        if !pair.is_empty() {
            let equals = pair.iter().position(|byte| *byte == b'=');
            let split = equals.unwrap_or(pair.len());
            let value = pair.get(split + 1..).unwrap_or_default();
            let name = plain(&pair[..split], offset)?;
            let value = plain(value, offset + split + 1)?;
            match fields.entry(name.into()) {
                Entry::Vacant(entry) => entry.insert(Value::Text(value.into())),
                Entry::Occupied(entry) => {
                    let what = format!("the field {:?} appears twice", entry.key());
                    return Err(invalid(&what, offset));
                }
            };
        }
        offset += pair.len() + 1;
    }
    Ok(fields)
}

/// Undoes the escapes of bytes that stand at `offset`.
fn plain(escaped: &[u8], offset: usize) -> Result<String, Problem> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut at = 0;
    while let Some(byte) = escaped.get(at) {
        let (byte, length) = match byte {
            b'+' => (b' ', 1),
            b'%' => match escaped.get(at + 1..at + 3).and_then(unescaped) {
                Some(byte) => (byte, 3),
                None => return Err(invalid("a `%` without two digits", offset + at)),
            },
            byte => (*byte, 1),
        };
        if byte == 0 {
            return Err(invalid("the character U+0000 is not accepted", offset + at));
        }
        bytes.push(byte);
        at += length;
    }
    // Escapes make the text shorter than what was sent, so only the field can be named.
    String::from_utf8(bytes).map_err(|_| invalid("not valid UTF-8 in the field", offset))
}

fn unescaped(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(*digits.first()?)? << 4 | digit(*digits.last()?)?;
    u8::try_from(value).ok()
}

fn invalid(what: &str, offset: usize) -> Problem {
    let mut problem = Problem::new(Code::FormInvalid, format!("{what} at byte {offset}"));
    problem.more.number("offset", offset as u64);
    problem
}
