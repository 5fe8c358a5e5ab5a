//! Reading a task's fields, with an error that names the field.

use std::str::FromStr as _;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use semel_flow::Value;
use semel_ledger::Millis;
use semel_ledger::time::SpanError;

use crate::amiss::Amiss;
pub(super) use crate::amiss::{missing, no_secret, not_base64, size, wrong_kind};
use crate::outgoing::UrlError;
use crate::secrets::Filler;

/// What is wrong with a task's fields. Values are not repeated: they may hold secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum FieldError {
    #[error("http has no field `{field}`")]
    Unknown { field: String },
    #[error("http needs `url` with `method`, or one of get, post, put, patch, delete, head")]
    NoUrl,
    #[error("http has both `{one}` and `{other}`; keep one")]
    Both {
        one: &'static str,
        other: &'static str,
    },
    #[error(transparent)]
    Amiss(#[from] Amiss),
    #[error("`{field}` {source}")]
    Url {
        field: &'static str,
        source: UrlError,
    },
    #[error("`{field}` {source}")]
    Span { field: String, source: SpanError },
    #[error("`{field}` is not a whole number from 0 to {most}")]
    Range { field: String, most: u32 },
    #[error("`{field}` is not a method; write letters, such as POST")]
    Method { field: &'static str },
    #[error("`{field}` is not the name of a header; write letters, digits and -")]
    HeaderName { field: String },
    #[error("`{field}` has a line break or another control character; remove it")]
    HeaderValue { field: String },
    #[error("`{field}` is written by the connection itself; leave it out")]
    OwnHeader { field: String },
    #[error("`idempotency` sends the step's key, and this step has none")]
    NoKey,
    #[error("`paging` follows a GET; this is {method}")]
    PagingMethod { method: String },
    #[error("`paging` has no `{field}`")]
    PagingExpr { field: &'static str },
}

pub(super) type Read<T> = Result<T, FieldError>;

/// Reads values and puts secrets in.
pub(super) struct Reader {
    pub(super) filler: Filler,
}

impl Reader {
    /// Text to be sent; `None` for null.
    pub(super) fn text(&self, field: &str, value: &Value) -> Read<Option<String>> {
        match value {
            Value::Null => Ok(None),
            Value::Sealed(pieces) => {
                let filled = self.filler.text(pieces);
                filled.map(Some).map_err(no_secret(field))
            }
            Value::List(_) | Value::Map(_) => Err(wrong_kind(field, value, "text")),
            plain => Ok(Some(plain.shown())),
        }
    }

    /// Text that must be there.
    pub(super) fn some_text(&self, field: &'static str, value: Option<&Value>) -> Read<String> {
        let text = match value {
            Some(value) => self.text(field, value)?,
            None => None,
        };
        text.ok_or_else(|| missing(field))
    }

    /// Names with text or lists of text, in order; null is left out.
    pub(super) fn pairs(&self, field: &str, value: &Value) -> Read<Vec<(String, String)>> {
        let Value::Map(members) = value else {
            return Err(wrong_kind(field, value, "names with values"));
        };
        let mut pairs = Vec::with_capacity(members.len());
        for (name, value) in members.iter() {
            let field = format!("{field}.{name}");
            let several: &[Value] = match value {
                Value::List(items) => items,
                one => std::slice::from_ref(one),
            };
            for value in several {
                let text = self.text(&field, value)?;
                pairs.extend(text.map(|text| (name.as_ref().to_owned(), text)));
            }
        }
        Ok(pairs)
    }
}

/// A header's name, if it is not one of the connection's own.
pub(super) fn header_name(field: &str, name: &str) -> Read<HeaderName> {
    const OWN: [&str; 9] = [
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    let name = HeaderName::from_str(name).map_err(|_| FieldError::HeaderName {
        field: field.to_owned(),
    })?;
    if OWN.contains(&name.as_str()) {
        return Err(FieldError::OwnHeader {
            field: field.to_owned(),
        });
    }
    Ok(name)
}

pub(super) fn header_value(field: &str, text: &str) -> Read<HeaderValue> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| FieldError::HeaderValue {
        field: field.to_owned(),
    })
}

/// A span of time: text such as `5s`, or a duration.
pub(super) fn span(field: &str, value: &Value) -> Read<Duration> {
    let millis = match value {
        Value::Text(text) => text.parse::<Millis>().map_err(|source| FieldError::Span {
            field: field.to_owned(),
            source,
        })?,
        Value::Span(millis) if *millis >= 0 => Millis(millis.unsigned_abs()),
        other => return Err(wrong_kind(field, other, "a duration such as 5s")),
    };
    Ok(Duration::from_millis(millis.0))
}

/// A whole number up to a limit.
pub(super) fn whole(field: &str, value: &Value, most: u32) -> Read<u32> {
    let Value::Int(int) = value else {
        return Err(wrong_kind(field, value, "a whole number"));
    };
    u32::try_from(*int)
        .ok()
        .filter(|int| *int <= most)
        .ok_or_else(|| FieldError::Range {
            field: field.to_owned(),
            most,
        })
}
