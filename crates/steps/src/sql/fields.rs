//! Reading a task's fields, with an error that names the field.

use semel_flow::Value;

use super::names::NameError;
use crate::amiss::Amiss;
pub(super) use crate::amiss::{missing, no_secret, size, wrong_kind};

/// PostgreSQL counts parameters in 16 bits.
pub(super) const MOST_PARAMS: usize = 65_535;

/// What is wrong with a task's fields. Values are not repeated: they may hold secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum FieldError {
    #[error("sql has no field `{field}`")]
    Unknown { field: String },
    #[error("sql needs one of query, run, upsert, update, insert")]
    NoForm,
    #[error("sql has both `{one}` and `{other}`; keep one")]
    Both {
        one: &'static str,
        other: &'static str,
    },
    #[error(transparent)]
    Amiss(#[from] Amiss),
    #[error("`{field}` {source}")]
    Name { field: String, source: NameError },
    #[error("`{field}` has no column; name at least one")]
    NoColumn { field: String },
    #[error("the column `{column}` stands in both `{one}` and `{other}`; keep one")]
    Twice {
        column: String,
        one: &'static str,
        other: &'static str,
    },
    #[error("`{field}` is null, and null is equal to nothing; give the row a name")]
    NullKey { field: String },
    #[error("`{field}` is not a whole number from {least} to {most}")]
    Range {
        field: String,
        least: i64,
        most: i64,
    },
    #[error("`params` has {count} values; the limit is {MOST_PARAMS}")]
    TooManyParams { count: usize },
    #[error("`{field}` does not begin with a statement; write one, comments after it")]
    NoStatement { field: &'static str },
    #[error("`{field}` is {word}; a step is a transaction of its own: leave {word} out")]
    Control { field: &'static str, word: String },
    #[error("`receipt` writes the step's key, and this step has none")]
    NoKey,
}

pub(super) type Read<T> = Result<T, FieldError>;

pub(super) fn whole(field: &str, value: &Value, least: i64, most: i64) -> Read<i64> {
    match value {
        Value::Int(int) if (least..=most).contains(int) => Ok(*int),
        _ => Err(FieldError::Range {
            field: field.to_owned(),
            least,
            most,
        }),
    }
}

pub(super) fn text<'v>(field: &str, value: Option<&'v Value>) -> Read<&'v str> {
    match value {
        None | Some(Value::Null) => Err(missing(field)),
        Some(Value::Text(text)) => Ok(text),
        Some(other) => Err(wrong_kind(field, other, "text")),
    }
}
