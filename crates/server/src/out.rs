//! Writing JSON straight to bytes: answers are built once, in order, without a tree.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use semel_ledger::{Process, Time};

use crate::timestamp;

/// An object under construction.
#[derive(Debug)]
pub(crate) struct Object(Vec<u8>);

impl Default for Object {
    fn default() -> Object {
        Object::new()
    }
}

impl Object {
    pub(crate) fn new() -> Object {
        Object(Vec::with_capacity(256))
    }

    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        string(&mut self.0, name);
        self.0.push(b':');
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) -> &mut Object {
        self.name(name);
        string(&mut self.0, value);
        self
    }

    /// A text, or null.
    pub(crate) fn text_or_null(&mut self, name: &str, value: Option<&str>) -> &mut Object {
        match value {
            Some(value) => self.text(name, value),
            None => self.raw(name, "null"),
        }
    }

    /// Bytes as hexadecimal digits.
    pub(crate) fn hex(&mut self, name: &str, value: &[u8]) -> &mut Object {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.name(name);
        self.0.push(b'"');
        for byte in value {
            self.0.push(DIGITS[usize::from(byte >> 4)]);
            self.0.push(DIGITS[usize::from(byte & 15)]);
        }
        self.0.push(b'"');
        self
    }

    /// What is JSON already.
    pub(crate) fn raw(&mut self, name: &str, json: &str) -> &mut Object {
        self.name(name);
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) -> &mut Object {
        self.raw(name, &value.to_string())
    }

    pub(crate) fn flag(&mut self, name: &str, value: bool) -> &mut Object {
        self.raw(name, if value { "true" } else { "false" })
    }

    pub(crate) fn time(&mut self, name: &str, value: Time) -> &mut Object {
        self.text_or_null(name, timestamp::text(value).as_deref())
    }

    pub(crate) fn time_or_null(&mut self, name: &str, value: Option<Time>) -> &mut Object {
        match value {
            Some(value) => self.time(name, value),
            None => self.raw(name, "null"),
        }
    }

    pub(crate) fn object(&mut self, name: &str, write: impl FnOnce(&mut Object)) -> &mut Object {
        self.name(name);
        let mut inner = Object::new();
        write(&mut inner);
        self.0.append(&mut inner.into_bytes());
        self
    }

    /// A list of objects.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Object, T),
    ) -> &mut Object {
        self.name(name);
        self.0.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.0.push(b',');
            }
            let mut inner = Object::new();
            write(&mut inner, item);
            self.0.append(&mut inner.into_bytes());
        }
        self.0.push(b']');
        self
    }

    /// A list of texts.
    pub(crate) fn texts<S: AsRef<str>>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = S>,
    ) -> &mut Object {
        self.name(name);
        self.0.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.0.push(b',');
            }
            string(&mut self.0, item.as_ref());
        }
        self.0.push(b']');
        self
    }

    /// A process, or null.
    pub(crate) fn process(&mut self, name: &str, process: Option<Process>) -> &mut Object {
        let Some(process) = process else {
            return self.raw(name, "null");
        };
        self.object(name, |out| {
            out.hex("machine", &process.machine)
                .number("pid", process.pid.into())
                .number("started", process.started);
        })
    }

    /// Everything that `other` has, behind what is here.
    pub(crate) fn append(&mut self, other: &Object) -> &mut Object {
        if let Some(members) = other.0.get(1..) {
            self.0.push(if self.0.is_empty() { b'{' } else { b',' });
            self.0.extend_from_slice(members);
        }
        self
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }

    /// The whole answer.
    pub(crate) fn respond(self, status: StatusCode) -> Response {
        let mut response = Response::new(Body::from(self.into_bytes()));
        *response.status_mut() = status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    }
}

/// Writes a JSON string.
fn string(out: &mut Vec<u8>, text: &str) {
    // Writing a string to memory cannot fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_in_order_and_escaped() {
        let mut extra = Object::new();
        extra.number("n", 7).texts("l", ["a", "\""]);
        let mut out = Object::new();
        out.text("t", "line\n\"quoted\"")
            .raw("r", "9007199254740993")
            .hex("h", &[0x0f, 0xa0])
            .object("empty", |_| {})
            .append(&Object::new())
            .append(&extra)
            .time("at", Time(0));
        let text = String::from_utf8(out.into_bytes()).unwrap();
        assert_eq!(
            text,
            r#"{"t":"line\n\"quoted\"","r":9007199254740993,"h":"0fa0","empty":{},"n":7,"l":["a","\""],"at":"1970-01-01T00:00:00.000Z"}"#
        );
    }
}
