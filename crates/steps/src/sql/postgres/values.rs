//! Values that come back from PostgreSQL, exact.
//!
//! The server sends them in binary. A type that is not known here is refused before anything is
//! done, with the way out: a cast to text.

use std::error::Error;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use semel_flow::Value;
use tokio_postgres::types::{FromSql, Kind, Type};
use tokio_postgres::{Column, Row};

use super::{numeric, time};
use crate::sql::fault::Fault;
use crate::sql::rows::Gather;

/// The bytes as they came.
struct Raw<'r>(Option<&'r [u8]>);

impl<'r> FromSql<'r> for Raw<'r> {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Raw<'r>, Box<dyn Error + Sync + Send>> {
        Ok(Raw(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Raw<'r>, Box<dyn Error + Sync + Send>> {
        Ok(Raw(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Whether values of a column can come back.
pub(super) fn check(column: &Column) -> Result<(), Fault> {
    if is_known(column.type_()) {
        return Ok(());
    }
    let (name, ty) = (column.name(), column.type_().name());
    Err(Fault::wrong(format!(
        "the column `{name}` is of the type {ty}, which has no exact value here; cast it: {name}::text"
    )))
}

fn is_known(ty: &Type) -> bool {
    match ty.kind() {
        Kind::Domain(inner) | Kind::Array(inner) => is_known(inner),
        Kind::Enum(_) => true,
        Kind::Simple => is_text(ty) || SIMPLE.contains(ty),
        // `SELECT NULL` and `SELECT 'x'` have a type of their own.
        _ => *ty == Type::UNKNOWN || *ty == Type::VOID,
    }
}

const SIMPLE: [Type; 18] = [
    Type::BOOL,
    Type::INT2,
    Type::INT4,
    Type::INT8,
    Type::OID,
    Type::FLOAT4,
    Type::FLOAT8,
    Type::NUMERIC,
    Type::BYTEA,
    Type::JSON,
    Type::JSONB,
    Type::UUID,
    Type::DATE,
    Type::TIME,
    Type::TIMETZ,
    Type::TIMESTAMP,
    Type::TIMESTAMPTZ,
    Type::INTERVAL,
];

fn is_text(ty: &Type) -> bool {
    matches!(
        *ty,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::XML | Type::CHAR
    ) || ty.name() == "citext"
}

/// The values of a row.
pub(super) fn row(row: &Row, gather: &Gather) -> Result<Vec<Value>, Fault> {
    let columns = row.columns().iter().enumerate();
    let values = columns.map(|(index, column)| {
        let raw: Raw<'_> = row.try_get(index).map_err(|error| super::of(&error))?;
        match raw.0 {
            None => Ok(Value::Null),
            Some(bytes) => value(column.type_(), bytes).ok_or_else(|| {
                let name = gather.name(index);
                Fault::wrong(format!(
                    "a value of the column `{name}` has no exact spelling here; cast it: {name}::text"
                ))
            }),
        }
    });
    values.collect()
}

/// The value that bytes stand for.
fn value(ty: &Type, bytes: &[u8]) -> Option<Value> {
    match ty.kind() {
        Kind::Domain(inner) => return value(inner, bytes),
        Kind::Array(inner) => return Reader(bytes).array(inner),
        Kind::Enum(_) => return text(bytes),
        _ => {}
    }
    let mut reader = Reader(bytes);
    Some(match *ty {
        Type::BOOL => Value::Bool(reader.take::<1>()?[0] != 0),
        Type::INT2 => Value::Int(i16::from_be_bytes(reader.take()?).into()),
        Type::INT4 => Value::Int(reader.i32()?.into()),
        Type::INT8 => Value::Int(reader.i64()?),
        Type::OID => Value::Int(u32::from_be_bytes(reader.take()?).into()),
        // By its own shortest spelling: 0.1 is not 0.10000000149011612.
        Type::FLOAT4 => {
            let float = f32::from_be_bytes(reader.take()?);
            float_of(&float.to_string(), f64::from(float))
        }
        Type::FLOAT8 => {
            let float = f64::from_be_bytes(reader.take()?);
            float_of(&float.to_string(), float)
        }
        Type::NUMERIC => Value::Text(numeric::text(bytes)?.into()),
        Type::BYTEA => Value::Text(STANDARD.encode(bytes).into()),
        Type::JSON => json(bytes)?,
        Type::JSONB => json(bytes.strip_prefix(&[1])?)?,
        Type::UUID => uuid(&reader.take()?),
        Type::DATE => Value::Text(time::day(reader.i32()?)?.into()),
        Type::TIME => Value::Text(time::clock(reader.i64()?).into()),
        Type::TIMETZ => {
            let clock = time::clock(reader.i64()?);
            Value::Text((clock + &time::offset(reader.i32()?)).into())
        }
        Type::TIMESTAMP => Value::Text(time::local(reader.i64()?)?.into()),
        Type::TIMESTAMPTZ => Value::Text(time::instant(reader.i64()?)?.into()),
        Type::INTERVAL => {
            let (micros, days, months) = (reader.i64()?, reader.i32()?, reader.i32()?);
            Value::Text(time::span(micros, days, months).into())
        }
        Type::VOID => Value::Null,
        _ => text(bytes)?,
    })
}

fn text(bytes: &[u8]) -> Option<Value> {
    std::str::from_utf8(bytes).ok().map(Value::text)
}

/// JSON as a value; what is not strict (a member twice) stays text.
fn json(bytes: &[u8]) -> Option<Value> {
    Value::read(bytes).ok().or_else(|| text(bytes))
}

/// A number, or the name of what is none.
fn float_of(spelling: &str, float: f64) -> Value {
    if !float.is_finite() {
        let name = match (float.is_nan(), float > 0.0) {
            (true, _) => "NaN",
            (_, true) => "Infinity",
            _ => "-Infinity",
        };
        return Value::text(name);
    }
    Value::read(spelling.as_bytes()).unwrap_or_else(|_| Value::text(spelling))
}

fn uuid(bytes: &[u8; 16]) -> Value {
    let hex = format!("{:032x}", u128::from_be_bytes(*bytes));
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    Value::Text(parts.join("-").into())
}

/// Bytes that are read from the front.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn i32(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_be_bytes)
    }

    fn bytes(&mut self, length: usize) -> Option<&'b [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn array(&mut self, ty: &Type) -> Option<Value> {
        let dimensions = self.i32()?;
        // Whether there are NULLs, and the type of the items: both are known.
        self.take::<8>()?;
        let mut lengths = Vec::new();
        for _ in 0..dimensions {
            lengths.push(self.i32()?);
            self.i32()?;
        }
        if lengths.is_empty() {
            return Some(Value::list(Vec::new()));
        }
        self.items(ty, &lengths)
    }

    fn items(&mut self, ty: &Type, lengths: &[i32]) -> Option<Value> {
        let Some((length, inner)) = lengths.split_first() else {
            return match usize::try_from(self.i32()?) {
                Ok(length) => value(ty, self.bytes(length)?),
                // A length of -1 is NULL.
                Err(_) => Some(Value::Null),
            };
        };
        let items = (0..*length).map(|_| self.items(ty, inner));
        items.collect::<Option<Vec<_>>>().map(Value::list)
    }
}
