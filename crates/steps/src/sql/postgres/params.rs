//! Values on their way into PostgreSQL: as text, which the server reads by the type it expects, so
//! that nothing is rounded on the way.

use std::error::Error;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use semel_flow::Value;
use tokio_postgres::types::{Format, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::sql::Bytes;
use crate::sql::fault::Fault;

/// A value as the text that the server will read; `None` is NULL.
#[derive(Debug)]
pub(super) struct Bound(Option<String>);

impl Bound {
    /// Values for these types, one for each.
    pub(super) fn all(values: &[Value], types: &[Type]) -> Result<Vec<Bound>, Fault> {
        let pairs = values.iter().zip(types).enumerate();
        let bound = pairs.map(|(index, (value, ty))| {
            encode(value, ty).map(Bound).map_err(|reason| {
                Fault::wrong(format!(
                    "the value for ${} ({}) {reason}",
                    index + 1,
                    ty.name()
                ))
            })
        });
        bound.collect()
    }
}

impl ToSql for Bound {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match &self.0 {
            None => Ok(IsNull::Yes),
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

fn encode(value: &Value, ty: &Type) -> Result<Option<String>, &'static str> {
    if *value == Value::Null {
        return Ok(None);
    }
    let text = match (ty.kind(), ty) {
        (Kind::Domain(inner), _) => return encode(value, inner),
        (Kind::Array(inner), _) => match value {
            Value::List(items) => array(items, inner)?,
            _ => return Err("is not a list"),
        },
        (_, &Type::JSON | &Type::JSONB) => value.to_json(),
        (_, &Type::BYTEA) => hex(value)?,
        (_, &Type::INTERVAL) => match value {
            Value::Span(millis) => format!("{millis} milliseconds"),
            other => other.shown(),
        },
        _ => value.shown(),
    };
    Ok(Some(text))
}

/// `\x…` of bytes that came as base64.
fn hex(value: &Value) -> Result<String, &'static str> {
    let bytes = match (Bytes::of(value), value) {
        (Bytes::Are(bytes), _) => Some(bytes),
        (_, Value::Text(text)) => STANDARD.decode(text.as_bytes()).ok(),
        _ => None,
    };
    let bytes = bytes.ok_or("is not base64")?;
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("\\x");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// `{"a",NULL}`
fn array(items: &[Value], ty: &Type) -> Result<String, &'static str> {
    let mut text = String::from("{");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match item {
            // A list within a list is another dimension, unless it is an item by itself.
            Value::List(inner) if !matches!(*ty, Type::JSON | Type::JSONB) => {
                text.push_str(&array(inner, ty)?);
            }
            item => match encode(item, ty)? {
                None => text.push_str("NULL"),
                Some(item) => quote(&mut text, &item),
            },
        }
    }
    text.push('}');
    Ok(text)
}

fn quote(text: &mut String, item: &str) {
    text.push('"');
    for c in item.chars() {
        if matches!(c, '"' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_by_the_type_they_are_for() {
        for (json, ty, text) in [
            ("null", Type::TEXT, None),
            (
                "12345678901234567890.10",
                Type::NUMERIC,
                Some("12345678901234567890.1"),
            ),
            (r#""a\"b""#, Type::JSONB, Some(r#""a\"b""#)),
            (r#"{"b":1,"a":[2]}"#, Type::TEXT, Some(r#"{"a":[2],"b":1}"#)),
            (
                r#"["a\"b\\",null,"NULL"]"#,
                Type::TEXT_ARRAY,
                Some(r#"{"a\"b\\",NULL,"NULL"}"#),
            ),
            (
                "[[1,2],[3,4]]",
                Type::INT4_ARRAY,
                Some(r#"{{"1","2"},{"3","4"}}"#),
            ),
            (r#""AP8=""#, Type::BYTEA, Some("\\x00ff")),
            (r#"{"base64":"AP8="}"#, Type::BYTEA, Some("\\x00ff")),
        ] {
            let value = Value::read(json.as_bytes()).unwrap();
            assert_eq!(encode(&value, &ty).unwrap().as_deref(), text, "{json}");
        }
        assert!(encode(&Value::text("%"), &Type::BYTEA).is_err());
        assert!(encode(&Value::Int(1), &Type::INT4_ARRAY).is_err());
    }
}
