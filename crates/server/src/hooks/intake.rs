//! From the bytes of a verified request to an event.
//!
//! Owns which content types a hook takes and how each is read, and which headers go with it. Leaves
//! reading within limits of size and time to `body`, unpacking to `encoding`, and JSON to the ledger's
//! strict reader: an event is what every reader reads alike, or it is refused with the offset.
//!
//! The invariant: the bytes are parsed once. What is compared (the canonical text) and what flows
//! work on (the value) come from that one reading.

mod form;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use axum::http::HeaderMap;
use bytes::Bytes;
use semel_engine::journal::Headers;
use semel_flow::Value;
use semel_ledger::json::Canonical;

use super::senders::Sender;
use crate::body::{self, Kind};
use crate::code::Code;
use crate::encoding;
use crate::problem::Problem;

/// What came in, ready for a flow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// What a resend is compared with.
    pub(crate) canonical: Canonical,
    /// What expressions work on.
    pub(crate) value: Value,
}

impl Event {
    /// Reads what was received, `limit` bytes at the most, also when it is unpacked.
    pub(crate) fn read(
        sender: Sender,
        headers: &HeaderMap,
        received: Bytes,
        limit: usize,
    ) -> Result<Event, Problem> {
        if received.is_empty() {
            return Err(body::missing());
        }
        let kind = Kind::of(headers);
        let read = match &kind {
            Kind::Json => |_, sent: &[u8]| Event::json(sent),
            Kind::Form => form::event,
            Kind::Other(_) => return Err(unsupported(&kind)),
        };
        let sent = encoding::decoded(received, headers, limit)?;
        read(sender, &sent)
    }

    fn json(sent: &[u8]) -> Result<Event, Problem> {
        let canonical = Canonical::read(sent).map_err(|error| body::not_json(&error))?;
        let value = Value::of(&canonical);
        Ok(Event { canonical, value })
    }
}

/// The headers of these names; one that was sent in several lines is one list, as RFC 9110 has it. A
/// value that is no text is left out.
pub(crate) fn kept(names: &BTreeSet<String>, headers: &HeaderMap) -> Headers {
    let text = |name: &String| {
        let values = headers.get_all(name).iter();
        let values = values.map(|value| str::from_utf8(value.as_bytes()).ok());
        let values = values.collect::<Option<Vec<_>>>()?;
        (!values.is_empty()).then(|| (name.as_str().into(), values.join(", ").into()))
    };
    names.iter().filter_map(text).collect()
}

fn unsupported(kind: &Kind) -> Problem {
    let given = match kind {
        Kind::Other(name) if !name.is_empty() => {
            format!("the content type {name:?} is not accepted")
        }
        _ => "the body has no content type".to_owned(),
    };
    let accepted = "application/json and application/x-www-form-urlencoded are accepted";
    Problem::new(Code::ContentTypeUnsupported, format!("{given}; {accepted}"))
        .field("Content-Type")
        .fix("let the sender send JSON: `Content-Type: application/json`")
}
