//! The headers that a step's fields give: its own, its credentials, its key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HeaderMap};
use semel_flow::Value;
use semel_ledger::Key;

use super::fields::{FieldError, Read, Reader, header_name, header_value, wrong_kind};
use super::plan::Message;
use crate::secrets::is_sealed;

pub(super) fn given(reader: &Reader, input: &Value, message: &mut Message) -> Read<()> {
    let Some(headers) = input.get("headers") else {
        return Ok(());
    };
    let Value::Map(members) = headers else {
        return Err(wrong_kind("headers", headers, "names with text"));
    };
    for (name, value) in members.iter() {
        let field = format!("headers.{name}");
        let Some(text) = reader.text(&field, value)? else {
            continue;
        };
        let name = header_name(&field, name)?;
        let mut made = header_value(&field, &text)?;
        if is_sealed(value) {
            made.set_sensitive(true);
            message.private.push(name.clone());
        }
        message.headers.append(name, made);
    }
    Ok(())
}

pub(super) fn authorization(reader: &Reader, input: &Value, message: &mut Message) -> Read<()> {
    let (field, text) = match (input.get("basic"), input.get("bearer")) {
        (None, None) => return Ok(()),
        (Some(_), Some(_)) => {
            return Err(FieldError::Both {
                one: "basic",
                other: "bearer",
            });
        }
        (Some(basic), None) => {
            let user = reader.some_text("basic.user", basic.get("user"))?;
            let password = reader.some_text("basic.password", basic.get("password"))?;
            let pair = STANDARD.encode(format!("{user}:{password}"));
            ("basic", format!("Basic {pair}"))
        }
        (None, Some(token)) => {
            let token = reader.some_text("bearer", Some(token))?;
            ("bearer", format!("Bearer {token}"))
        }
    };
    let mut value = header_value(field, &text)?;
    value.set_sensitive(true);
    match message.headers.insert(AUTHORIZATION, value) {
        None => Ok(()),
        Some(_) => Err(FieldError::Both {
            one: field,
            other: "headers.authorization",
        }),
    }
}

pub(super) fn idempotency(
    reader: &Reader,
    settings: &Value,
    key: Option<&Key>,
    headers: &mut HeaderMap,
) -> Read<()> {
    let name = match settings.get("header") {
        Some(name) => reader.some_text("idempotency.header", Some(name))?,
        None => "Idempotency-Key".to_owned(),
    };
    let name = header_name("idempotency.header", &name)?;
    let key = key.ok_or(FieldError::NoKey)?;
    let quoted = match settings.get("quoted") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(other) => return Err(wrong_kind("idempotency.quoted", other, "true or false")),
    };
    let value = header_value("idempotency.header", &key_text(key.as_str(), quoted))?;
    headers.insert(name, value);
    Ok(())
}

/// The key as a header can carry it. Letters outside ASCII are escaped; a key's own text has no
/// such escapes, so two keys stay two.
fn key_text(key: &str, quoted: bool) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(key.len() + 2);
    if quoted {
        text.push('"');
    }
    for byte in key.bytes() {
        match byte {
            b'"' | b'\\' if quoted => {
                text.push('\\');
                text.push(byte.into());
            }
            b' '..=b'~' => text.push(byte.into()),
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    if quoted {
        text.push('"');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_fits_a_header_and_stays_itself() {
        for (key, bare, quoted) in [
            ("order/17", "order/17", r#""order/17""#),
            ("a b", "a b", r#""a b""#),
            (r#"a"b\c"#, r#"a"b\c"#, r#""a\"b\\c""#),
            ("ö", "%C3%B6", r#""%C3%B6""#),
            ("%25C3%25B6", "%25C3%25B6", r#""%25C3%25B6""#),
        ] {
            assert_eq!(key_text(key, false), bare);
            assert_eq!(key_text(key, true), quoted);
        }
    }
}
