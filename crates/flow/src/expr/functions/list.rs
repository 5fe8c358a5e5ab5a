//! Lists and objects.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::encode::json;
use super::{Call, Function};
use crate::expr::eval::{equal, order, rank};
use crate::expr::fault::{Outcome, missing};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("keys", 1, "`keys(object)`", keys),
    Function::new("values", 1, "`values(object)`", values),
    Function::new("sort", 1, "`sort(list)`", sort),
    Function::new("distinct", 1, "`distinct(list)`", distinct),
    Function::new("flatten", 1, "`flatten(list)`", flatten),
    Function::new("reverse", 1, "`reverse(list)`", reverse),
    Function::new(
        "slice",
        2,
        "`list.slice(start)` or `list.slice(start, end)`",
        slice,
    )
    .up_to(3),
    Function::new("first", 1, "`first(list)`", first),
    Function::new("last", 1, "`last(list)`", last),
];

fn made(call: &mut Call<'_>, items: Vec<Value>) -> Outcome {
    call.fuel.items(items.len(), items.len())?;
    Ok(Value::list(items))
}

/// In order, so that the same object gives the same list.
fn keys(call: &mut Call<'_>) -> Outcome {
    let names = call.map(0)?.keys();
    let names = names.map(|name| Value::Text(Arc::clone(name))).collect();
    made(call, names)
}

/// In the order of their names.
fn values(call: &mut Call<'_>) -> Outcome {
    let values = call.map(0)?.values().cloned().collect();
    made(call, values)
}

/// All must go with the first, so that while sorting nothing can go wrong any more.
fn sort(call: &mut Call<'_>) -> Outcome {
    let items = call.list(0)?;
    for item in items {
        order(item, &items[0], call.fuel)?;
    }
    let levels = items.len().checked_ilog2().unwrap_or(0) as usize;
    call.fuel.use_up(items.len() * levels)?;
    let mut sorted = items.to_vec();
    sorted.sort_by(|left, right| rank(left, right).unwrap_or(Ordering::Equal));
    made(call, sorted)
}

/// The first of each. JSON finds the candidates, equality decides: a time is not its spelling.
fn distinct(call: &mut Call<'_>) -> Outcome {
    let items = call.list(0)?;
    let mut seen: HashMap<String, Vec<&Value>> = HashMap::new();
    let mut kept = Vec::new();
    for item in items {
        let spelling = json(item, call.fuel)?;
        let same = seen.entry(spelling).or_default();
        let mut known = false;
        for other in same.iter() {
            known = known || equal(item, other, call.fuel)?;
        }
        if !known {
            same.push(item);
            kept.push(item.clone());
        }
    }
    made(call, kept)
}

/// One level.
fn flatten(call: &mut Call<'_>) -> Outcome {
    let mut flat = Vec::new();
    for item in call.list(0)? {
        match item {
            Value::List(inner) => {
                call.fuel.items(flat.len() + inner.len(), inner.len() + 1)?;
                flat.extend_from_slice(inner);
            }
            other => {
                call.fuel.items(flat.len() + 1, 1)?;
                flat.push(other.clone());
            }
        }
    }
    Ok(Value::list(flat))
}

fn reverse(call: &mut Call<'_>) -> Outcome {
    let items = call.list(0)?.iter().rev().cloned().collect();
    made(call, items)
}

/// What is beyond the end is left out, so that "the first ten" is easily said.
fn slice(call: &mut Call<'_>) -> Outcome {
    let items = call.list(0)?;
    let start = call.count(1)?.min(items.len());
    let end = if call.has(2) {
        call.count(2)?.min(items.len())
    } else {
        items.len()
    };
    let part = items.get(start..end).unwrap_or_default().to_vec();
    made(call, part)
}

fn first(call: &mut Call<'_>) -> Outcome {
    let found = call.list(0)?.first().cloned();
    found.ok_or_else(|| missing("`first` of an empty list".to_owned()))
}

fn last(call: &mut Call<'_>) -> Outcome {
    let found = call.list(0)?.last().cloned();
    found.ok_or_else(|| missing("`last` of an empty list".to_owned()))
}
