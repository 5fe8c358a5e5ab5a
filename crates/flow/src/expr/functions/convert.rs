//! From one kind of value to another.

use super::{Call, Function};
use crate::expr::fault::{Outcome, wrong};
use crate::expr::number::{self, Rounding};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("size", 1, "`size(list)`", size),
    Function::new("string", 1, "`string(value)`", string),
    Function::new("int", 1, "`int(value)`", int),
    Function::new("double", 1, "`double(value)`", double),
    Function::new("bool", 1, "`bool(text)`", bool),
    Function::new("type", 1, "`type(value)`", kind),
];

fn size(call: &mut Call<'_>) -> Outcome {
    let count = match call.arg(0) {
        Value::Text(text) => {
            call.fuel.read(text.len())?;
            text.chars().count()
        }
        Value::List(items) => items.len(),
        Value::Map(members) => members.len(),
        _ => return Err(call.misfit(0, "text, a list or an object")),
    };
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn string(call: &mut Call<'_>) -> Outcome {
    match call.arg(0) {
        text @ Value::Text(_) => Ok(text.clone()),
        value @ (Value::Bool(_)
        | Value::Int(_)
        | Value::Decimal(_)
        | Value::Time(_)
        | Value::Span(_)) => call.made(value.shown()),
        Value::List(_) | Value::Map(_) => Err(wrong("for lists and objects write `toJson(value)`")),
        _ => Err(call.misfit(0, "a number, a bool, a time or text")),
    }
}

fn int(call: &mut Call<'_>) -> Outcome {
    match call.arg(0) {
        int @ Value::Int(_) => Ok(int.clone()),
        decimal @ Value::Decimal(_) => match number::round(decimal, 0, Rounding::Cut)? {
            int @ Value::Int(_) => Ok(int),
            _ => Err(wrong("the whole number does not fit 64 bits")),
        },
        Value::Text(text) => text
            .parse()
            .map(Value::Int)
            .map_err(|_| wrong("`int` needs text that is a whole number, such as \"42\"")),
        Value::Time(time) => Ok(Value::Int(time.0.div_euclid(1000))),
        Value::Span(millis) => Ok(Value::Int(millis / 1000)),
        _ => Err(call.misfit(0, "a number, text or a time")),
    }
}

fn double(call: &mut Call<'_>) -> Outcome {
    match call.arg(0) {
        number @ (Value::Int(_) | Value::Decimal(_)) => Ok(number.clone()),
        Value::Text(text) => {
            call.fuel.read(text.len())?;
            match Value::read(text.trim().as_bytes()) {
                Ok(number @ (Value::Int(_) | Value::Decimal(_))) => Ok(number),
                _ => Err(wrong(
                    "`double` needs text that is a number, such as \"1.5\"",
                )),
            }
        }
        _ => Err(call.misfit(0, "a number or text")),
    }
}

fn bool(call: &mut Call<'_>) -> Outcome {
    match call.arg(0) {
        bool @ Value::Bool(_) => Ok(bool.clone()),
        Value::Text(text) => match text.as_ref() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(wrong("`bool` needs the text \"true\" or \"false\"")),
        },
        _ => Err(call.misfit(0, "a bool or text")),
    }
}

fn kind(call: &mut Call<'_>) -> Outcome {
    Ok(Value::text(match call.arg(0) {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Decimal(_) => "double",
        Value::Text(_) => "string",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Time(_) => "timestamp",
        Value::Span(_) => "duration",
        Value::Sealed(_) => return Err(call.misfit(0, "")),
    }))
}
