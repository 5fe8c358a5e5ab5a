//! Values on their way into SQLite and back.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::{Value as Bound, ValueRef};
use rusqlite::{Row, Statement};
use semel_flow::Value;

use crate::sql::Bytes;
use crate::sql::fault::Fault;

/// A column's name, and whether its table says that it holds JSON.
pub(super) type Types = Vec<(String, bool)>;

/// Which value stands at which place, both counted as their owners do. `$2` is the second value
/// here too, wherever it stands: SQLite itself takes it as a name.
pub(super) fn places(
    statement: &Statement<'_>,
    given: usize,
) -> Result<Vec<(usize, usize)>, Fault> {
    let mut places = Vec::new();
    let mut used = vec![false; given];
    for place in 1..=statement.parameter_count() {
        let number = match statement.parameter_name(place) {
            None => place,
            Some(name) => name[1..].parse().map_err(|_| {
                Fault::wrong(format!(
                    "the placeholder {name} is a name; write ?, ?1 or $1 and the value under `params`"
                ))
            })?,
        };
        match used.get_mut(number.wrapping_sub(1)) {
            Some(used) => *used = true,
            None => {
                return Err(Fault::wrong(format!(
                    "the SQL has a placeholder {number}, and there are {given} `params`"
                )));
            }
        }
        places.push((place, number - 1));
    }
    match used.iter().position(|used| !used) {
        Some(unused) => Err(Fault::wrong(format!(
            "there are {given} `params`, and no placeholder for value {}",
            unused + 1
        ))),
        None => Ok(places),
    }
}

/// A value as SQLite keeps it. A number that SQLite would round is bound as text, which keeps its
/// digits as far as the column lets it.
pub(super) fn bound(value: &Value) -> Result<Bound, Fault> {
    match Bytes::of(value) {
        Bytes::Are(bytes) => return Ok(Bound::Blob(bytes)),
        Bytes::Broken => return Err(Bytes::broken()),
        Bytes::AreNot => {}
    }
    Ok(match value {
        Value::Null => Bound::Null,
        Value::Bool(bool) => Bound::Integer((*bool).into()),
        Value::Int(int) => Bound::Integer(*int),
        Value::Decimal(decimal) => {
            let float = decimal.to_f64();
            if Value::number(float).as_ref() == Some(value) {
                Bound::Real(float)
            } else {
                Bound::Text(decimal.as_str().to_owned())
            }
        }
        other => Bound::Text(other.shown()),
    })
}

/// What the columns of an answer are.
pub(super) fn types(statement: &Statement<'_>) -> Types {
    let columns = statement.columns();
    let of = |column: rusqlite::Column<'_>| {
        let declared = column.decl_type().unwrap_or_default();
        (
            column.name().to_owned(),
            declared.eq_ignore_ascii_case("json"),
        )
    };
    columns.map(of).collect()
}

/// The values of a row.
pub(super) fn row(row: &Row<'_>, types: &Types) -> Result<Vec<Value>, Fault> {
    let columns = types.iter().enumerate();
    let values = columns.map(|(index, (name, json))| {
        let raw = row.get_ref(index).map_err(|error| super::of(&error))?;
        value(raw, *json).ok_or_else(|| {
            Fault::wrong(format!(
                "a value of the column `{name}` is text that is not UTF-8; cast it to blob"
            ))
        })
    });
    values.collect()
}

fn value(raw: ValueRef<'_>, json: bool) -> Option<Value> {
    Some(match raw {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Real(real) => Value::number(real).unwrap_or_else(|| infinite(real)),
        ValueRef::Text(bytes) => {
            let parsed = json.then(|| Value::read(bytes).ok()).flatten();
            match parsed {
                Some(value) => value,
                None => Value::Text(Arc::from(std::str::from_utf8(bytes).ok()?)),
            }
        }
        ValueRef::Blob(bytes) => Value::Text(STANDARD.encode(bytes).into()),
    })
}

fn infinite(real: f64) -> Value {
    Value::text(if real > 0.0 { "Infinity" } else { "-Infinity" })
}
