//! Text. Places and lengths count characters (code points), as in CEL.

use super::{Call, Function, Pattern};
use crate::expr::fault::{Outcome, secret, wrong};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("contains", 2, "`text.contains(part)`", contains),
    Function::new("startsWith", 2, "`text.startsWith(part)`", starts_with),
    Function::new("endsWith", 2, "`text.endsWith(part)`", ends_with),
    Function::new("matches", 2, "`text.matches(pattern)`", matches),
    Function::new("lowerAscii", 1, "`text.lowerAscii()`", lower),
    Function::new("upperAscii", 1, "`text.upperAscii()`", upper),
    Function::new("trim", 1, "`text.trim()`", trim),
    Function::new(
        "split",
        2,
        "`text.split(separator)` or `text.split(separator, at_most)`",
        split,
    )
    .up_to(3),
    Function::new("join", 1, "`list.join()` or `list.join(separator)`", join).up_to(2),
    Function::new(
        "replace",
        3,
        "`text.replace(old, new)` or `text.replace(old, new, at_most)`",
        replace,
    )
    .up_to(4),
    Function::new(
        "substring",
        2,
        "`text.substring(start)` or `text.substring(start, end)`",
        substring,
    )
    .up_to(3),
    Function::new(
        "indexOf",
        2,
        "`text.indexOf(part)` or `text.indexOf(part, start)`",
        index_of,
    )
    .up_to(3),
];

/// The text and the part that is looked for, paid for.
fn two<'c>(call: &mut Call<'c>) -> Outcome<(&'c str, &'c str)> {
    let pair = (call.text(0)?, call.text(1)?);
    call.fuel.read(pair.0.len() + pair.1.len())?;
    Ok(pair)
}

fn contains(call: &mut Call<'_>) -> Outcome {
    if let Value::List(_) = call.arg(0) {
        return Err(wrong(
            "`contains` looks into text; for lists write `item in list`",
        ));
    }
    let (text, part) = two(call)?;
    Ok(Value::Bool(text.contains(part)))
}

fn starts_with(call: &mut Call<'_>) -> Outcome {
    let (text, part) = two(call)?;
    Ok(Value::Bool(text.starts_with(part)))
}

fn ends_with(call: &mut Call<'_>) -> Outcome {
    let (text, part) = two(call)?;
    Ok(Value::Bool(text.ends_with(part)))
}

fn matches(call: &mut Call<'_>) -> Outcome {
    let (text, written) = two(call)?;
    let found = if let Some(pattern) = call.pattern {
        pattern.is_match(text, call.fuel)?
    } else {
        call.fuel.use_up(1000 + written.len() * 10)?;
        let pattern = Pattern::new(written).map_err(|error| wrong(error.to_string()))?;
        pattern.is_match(text, call.fuel)?
    };
    Ok(Value::Bool(found))
}

fn lower(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?.to_ascii_lowercase();
    call.made(text)
}

fn upper(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?.to_ascii_uppercase();
    call.made(text)
}

fn trim(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?.trim().to_owned();
    call.made(text)
}

fn split(call: &mut Call<'_>) -> Outcome {
    let (text, separator) = two(call)?;
    let most = if call.has(2) {
        call.count(2)?
    } else {
        usize::MAX
    };
    let mut parts = Vec::new();
    if most == 0 {
        return Ok(Value::list(parts));
    }
    if separator.is_empty() {
        for (at, c) in text.char_indices() {
            call.fuel.items(parts.len() + 1, 1)?;
            if parts.len() + 1 == most {
                parts.push(Value::text(&text[at..]));
                break;
            }
            parts.push(Value::text(c.encode_utf8(&mut [0; 4])));
        }
        return Ok(Value::list(parts));
    }
    for part in text.splitn(most, separator) {
        call.fuel.items(parts.len() + 1, 1)?;
        parts.push(Value::text(part));
    }
    Ok(Value::list(parts))
}

fn join(call: &mut Call<'_>) -> Outcome {
    let items = call.list(0)?;
    let separator = if call.has(1) { call.text(1)? } else { "" };
    let mut text = String::new();
    for (index, item) in items.iter().enumerate() {
        let Value::Text(part) = item else {
            return Err(match item {
                Value::Sealed(_) => secret(),
                other => wrong(format!(
                    "`join` needs a list of text, but item {index} is {}",
                    other.kind()
                )),
            });
        };
        call.fuel.use_up(1)?;
        let between = if index > 0 { separator } else { "" };
        call.fuel.text(text.len() + between.len() + part.len())?;
        text.push_str(between);
        text.push_str(part);
    }
    Ok(Value::Text(text.into()))
}

fn replace(call: &mut Call<'_>) -> Outcome {
    let (text, old) = two(call)?;
    let new = call.text(2)?;
    let most = if call.has(3) {
        call.count(3)?
    } else {
        usize::MAX
    };
    let count = text.matches(old).take(most).count();
    call.fuel.use_up(count)?;
    let grown = count.saturating_mul(new.len());
    // Known before it is made.
    call.fuel
        .text((text.len() - count * old.len()).saturating_add(grown))?;
    Ok(Value::Text(text.replacen(old, new, count).into()))
}

/// The byte at which the character `index` starts.
fn byte(text: &str, index: usize) -> Option<usize> {
    text.char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .nth(index)
}

fn substring(call: &mut Call<'_>) -> Outcome {
    let text = call.text(0)?;
    call.fuel.read(text.len())?;
    let start = call.count(1)?;
    let end = if call.has(2) {
        byte(text, call.count(2)?)
    } else {
        Some(text.len())
    };
    let part = byte(text, start)
        .zip(end)
        .and_then(|(start, end)| text.get(start..end));
    let Some(part) = part else {
        let count = text.chars().count();
        return Err(wrong(format!(
            "`substring` goes beyond the text of {count} characters"
        )));
    };
    call.made(part.to_owned())
}

fn index_of(call: &mut Call<'_>) -> Outcome {
    let (text, part) = two(call)?;
    let start = if call.has(2) { call.count(2)? } else { 0 };
    let found = byte(text, start).and_then(|start| {
        let at = text[start..].find(part)?;
        Some(text[..start + at].chars().count())
    });
    let place = found.and_then(|at| i64::try_from(at).ok());
    Ok(Value::Int(place.unwrap_or(-1)))
}
