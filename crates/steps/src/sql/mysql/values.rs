//! Values on their way into MySQL and MariaDB and back.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mysql_async::consts::ColumnType;
use mysql_async::{Column, Row, Value as Bound};
use semel_flow::Value;

use crate::sql::Bytes;
use crate::sql::fault::Fault;

/// The character set of what is not text.
const BINARY: u16 = 63;

/// Values to bind. Decimals go as text, which the server reads to the last digit.
pub(super) fn all(values: &[Value]) -> Result<Vec<Bound>, Fault> {
    values.iter().map(bound).collect()
}

fn bound(value: &Value) -> Result<Bound, Fault> {
    match Bytes::of(value) {
        Bytes::Are(bytes) => return Ok(Bound::Bytes(bytes)),
        Bytes::Broken => return Err(Bytes::broken()),
        Bytes::AreNot => {}
    }
    Ok(match value {
        Value::Null => Bound::NULL,
        Value::Bool(bool) => Bound::Int((*bool).into()),
        Value::Int(int) => Bound::Int(*int),
        other => Bound::Bytes(other.shown().into_bytes()),
    })
}

/// The values of a row.
pub(super) fn row(row: &Row, columns: &[Column]) -> Result<Vec<Value>, Fault> {
    let values = columns.iter().enumerate().map(|(index, column)| {
        let value = row.as_ref(index).and_then(|raw| value(raw, column));
        value.ok_or_else(|| {
            Fault::wrong(format!(
                "a value of the column `{}` has no exact spelling here; cast it to CHAR",
                column.name_str()
            ))
        })
    });
    values.collect()
}

fn value(raw: &Bound, column: &Column) -> Option<Value> {
    Some(match raw {
        Bound::NULL => Value::Null,
        Bound::Int(int) => Value::Int(*int),
        Bound::UInt(int) => match i64::try_from(*int) {
            Ok(int) => Value::Int(int),
            Err(_) => Value::read(int.to_string().as_bytes()).ok()?,
        },
        // By its own shortest spelling: 0.1 is not 0.10000000149011612.
        Bound::Float(float) => Value::read(float.to_string().as_bytes()).ok()?,
        Bound::Double(float) => Value::number(*float)?,
        Bound::Bytes(bytes) => of_bytes(bytes, column)?,
        Bound::Date(year, month, day, hour, minute, second, micros) => {
            let mut text = format!("{year:04}-{month:02}-{day:02}");
            let kind = column.column_type();
            if !matches!(kind, ColumnType::MYSQL_TYPE_DATE) {
                let _ = write!(text, "T{hour:02}:{minute:02}:{second:02}");
                push_fraction(&mut text, *micros);
            }
            // The session is at UTC; a DATETIME has no zone that anybody knows.
            if matches!(kind, ColumnType::MYSQL_TYPE_TIMESTAMP) {
                text.push('Z');
            }
            Value::Text(text.into())
        }
        Bound::Time(negative, days, hours, minutes, seconds, micros) => {
            let sign = if *negative { "-" } else { "" };
            let hours = days * 24 + u32::from(*hours);
            let mut text = format!("{sign}{hours:02}:{minutes:02}:{seconds:02}");
            push_fraction(&mut text, *micros);
            Value::Text(text.into())
        }
    })
}

fn of_bytes(bytes: &[u8], column: &Column) -> Option<Value> {
    use ColumnType as T;
    let text = || std::str::from_utf8(bytes).ok().map(Value::text);
    match column.column_type() {
        // MariaDB has no type of its own for JSON; there it is text.
        T::MYSQL_TYPE_JSON => Value::read(bytes).ok().or_else(text),
        T::MYSQL_TYPE_DECIMAL | T::MYSQL_TYPE_NEWDECIMAL => text(),
        T::MYSQL_TYPE_BIT => {
            let bits = bytes.iter().try_fold(0_u64, |bits, byte| {
                Some(bits.checked_mul(256)? + u64::from(*byte))
            })?;
            Value::read(bits.to_string().as_bytes()).ok()
        }
        _ if column.character_set() == BINARY => Some(Value::Text(STANDARD.encode(bytes).into())),
        _ => text(),
    }
}

fn push_fraction(text: &mut String, micros: u32) {
    if micros != 0 {
        let fraction = format!("{micros:06}");
        let _ = write!(text, ".{}", fraction.trim_end_matches('0'));
    }
}
