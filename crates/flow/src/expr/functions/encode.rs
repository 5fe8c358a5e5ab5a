//! Spellings of values: JSON, Base64, hexadecimal digits, URLs, hashes.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use semel_ledger::json::Canonical;

use super::{Call, Function, MANY};
use crate::expr::fault::{Outcome, secret, wrong};
use crate::expr::fuel::Fuel;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("toJson", 1, "`toJson(value)`", to_json),
    Function::new("parseJson", 1, "`parseJson(text)`", parse_json),
    Function::new("base64Encode", 1, "`base64Encode(text)`", base64_encode),
    Function::new("base64Decode", 1, "`base64Decode(text)`", base64_decode),
    Function::new("hexEncode", 1, "`hexEncode(text)`", hex_encode),
    Function::new("hexDecode", 1, "`hexDecode(text)`", hex_decode),
    Function::new("urlEncode", 1, "`urlEncode(text)`", url_encode),
    Function::new("hash", 1, "`hash(a)` or `hash(a, b)`", hash).up_to(MANY),
    Function::new("uuid", 0, "`uuid()`", uuid),
];

/// The value as JSON, unless there is a secret in it.
pub(in crate::expr) fn json(value: &Value, fuel: &mut Fuel) -> Outcome<String> {
    let bytes = weigh(value, fuel)?;
    fuel.text(bytes)?;
    let text = value.to_json();
    fuel.text(text.len())?;
    Ok(text)
}

/// Counts the bytes of text in a value, and finds secrets.
fn weigh(value: &Value, fuel: &mut Fuel) -> Outcome<usize> {
    fuel.use_up(1)?;
    let mut bytes = 0_usize;
    match value {
        Value::Sealed(_) => return Err(secret()),
        Value::Text(text) => bytes = text.len(),
        Value::Decimal(decimal) => bytes = decimal.as_str().len(),
        Value::List(items) => {
            for item in items.iter() {
                bytes = bytes.saturating_add(weigh(item, fuel)?);
            }
        }
        Value::Map(members) => {
            for (name, member) in members.iter() {
                bytes = bytes.saturating_add(name.len() + weigh(member, fuel)?);
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Time(_) | Value::Span(_) => {}
    }
    Ok(bytes)
}

fn to_json(call: &mut Call<'_>) -> Outcome {
    let text = json(call.arg(0), call.fuel)?;
    Ok(Value::Text(text.into()))
}

fn parse_json(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?;
    // Each value takes at least two bytes to write.
    call.fuel.use_up(text.len() / 2)?;
    Value::read(text.as_bytes()).map_err(|error| wrong(format!("`parseJson`: {error}")))
}

fn base64_encode(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?;
    call.fuel.text(text.len())?;
    call.made(STANDARD.encode(text))
}

/// Both alphabets, with and without padding.
fn base64_decode(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?;
    call.fuel.text(text.len())?;
    let plain = text
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    let bytes = URL_SAFE_NO_PAD
        .decode(plain)
        .map_err(|_| wrong("`base64Decode` needs Base64 text"))?;
    decoded(call, bytes)
}

fn hex_encode(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?;
    call.fuel.text(text.len() * 2)?;
    Ok(Value::Text(hex(text.as_bytes()).into()))
}

fn hex_decode(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?;
    call.fuel.text(text.len())?;
    let digit = |b: u8| {
        char::from(b)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    let bytes: Option<Vec<u8>> = pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? * 16 + digit(*low)?))
        .collect();
    match bytes {
        Some(bytes) if odd.is_empty() => decoded(call, bytes),
        _ => Err(wrong("`hexDecode` needs pairs of hexadecimal digits")),
    }
}

fn decoded(call: &mut Call<'_>, bytes: Vec<u8>) -> Outcome {
    let name = call.name;
    match String::from_utf8(bytes) {
        Ok(text) => call.made(text),
        Err(_) => Err(wrong(format!("`{name}` gives bytes that are not text"))),
    }
}

/// As for one value of a query: everything but letters, digits and `-_.~`.
fn url_encode(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?;
    call.fuel.read(text.len())?;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(byte.into());
            }
            other => {
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    call.made(encoded)
}

/// BLAKE3 of the canonical JSON, so that the order of members, spaces and the spelling of numbers
/// do not matter. Several values count as a list.
fn hash(call: &mut Call<'_>) -> Outcome {
    if call.args.contains(&Value::Null) {
        return Err(wrong(
            "`hash` of null would be the same for all; give what tells them apart",
        ));
    }
    let whole;
    let value = match call.args {
        [only] => only,
        several => {
            whole = Value::list(several.to_vec());
            &whole
        }
    };
    let text = json(value, call.fuel)?;
    let canonical =
        Canonical::read(text.as_bytes()).map_err(|error| wrong(format!("`hash`: {error}")))?;
    let hash = blake3::hash(canonical.as_str().as_bytes());
    call.made(hex(&hash.as_bytes()[..16]))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Version 4: random but for the six bits that say so.
fn uuid(call: &mut Call<'_>) -> Outcome {
    let mut bytes = call.names.random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes);
    call.made(format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    ))
}
