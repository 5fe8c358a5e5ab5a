//! `== != < <= > >= in`. Equality is by value and between any kinds; order only within a kind.

use std::cmp::Ordering;

use crate::expr::ast::Compare;
use crate::expr::fault::{Outcome, secret, wrong};
use crate::expr::fuel::Fuel;
use crate::expr::number;
use crate::value::Value;

pub(super) fn compare(by: Compare, left: &Value, right: &Value, fuel: &mut Fuel) -> Outcome {
    let answer = match by {
        Compare::Equal => equal(left, right, fuel)?,
        Compare::Unequal => !equal(left, right, fuel)?,
        Compare::Less => order(left, right, fuel)?.is_lt(),
        Compare::AtMost => order(left, right, fuel)?.is_le(),
        Compare::Greater => order(left, right, fuel)?.is_gt(),
        Compare::AtLeast => order(left, right, fuel)?.is_ge(),
    };
    Ok(Value::Bool(answer))
}

/// `item in of`
pub(super) fn contains(item: &Value, of: &Value, fuel: &mut Fuel) -> Outcome {
    match (item, of) {
        (Value::Sealed(_), _) | (_, Value::Sealed(_)) => Err(secret()),
        (_, Value::List(items)) => {
            for candidate in items.iter() {
                if equal(item, candidate, fuel)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        (Value::Text(name), Value::Map(map)) => Ok(Value::Bool(map.contains_key(name))),
        (Value::Int(_) | Value::Decimal(_) | Value::Bool(_), Value::Map(_)) => {
            Ok(Value::Bool(false))
        }
        (other, Value::Map(_)) => Err(wrong(format!(
            "the members of an object have text as names, not {}",
            other.kind()
        ))),
        (Value::Text(_), Value::Text(_)) => Err(wrong(
            "`in` looks into lists and objects; for text write `text.contains(part)`",
        )),
        (_, other) => Err(wrong(format!(
            "`in` looks into lists and objects, not {}",
            other.kind()
        ))),
    }
}

/// Whether two values are the same. Numbers have one spelling, so the same number is the same text.
pub(in crate::expr) fn equal(left: &Value, right: &Value, fuel: &mut Fuel) -> Outcome<bool> {
    fuel.use_up(1)?;
    Ok(match (left, right) {
        (Value::Sealed(_), _) | (_, Value::Sealed(_)) => return Err(secret()),
        (Value::Text(left), Value::Text(right)) => {
            fuel.read(left.len().min(right.len()))?;
            left == right
        }
        (Value::List(left), Value::List(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right.iter()) {
                if !equal(left, right, fuel)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(left), Value::Map(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for ((name, left), (other, right)) in left.iter().zip(right.iter()) {
                if name != other || !equal(left, right, fuel)? {
                    return Ok(false);
                }
            }
            true
        }
        (left, right) => left == right,
    })
}

/// Which of two values comes first.
pub(in crate::expr) fn order(left: &Value, right: &Value, fuel: &mut Fuel) -> Outcome<Ordering> {
    fuel.use_up(1)?;
    match (left, right) {
        (Value::Sealed(_), _) | (_, Value::Sealed(_)) => return Err(secret()),
        (Value::Text(left), Value::Text(right)) => fuel.read(left.len().min(right.len()))?,
        _ => {}
    }
    rank(left, right).ok_or_else(|| {
        let (left, right) = (left.kind(), right.kind());
        wrong(format!("{left} and {right} have no order"))
    })
}

/// Which of two values comes first; `None` if they have no order. Total within a kind.
pub(in crate::expr) fn rank(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Time(right)) => Some(left.cmp(right)),
        (Value::Span(left), Value::Span(right)) => Some(left.cmp(right)),
        (left, right) => number::order(left, right),
    }
}
