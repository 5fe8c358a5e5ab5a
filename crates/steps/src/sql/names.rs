//! Names of tables and columns, checked before they become part of SQL.

use std::fmt::Write as _;

/// The most bytes of a name: PostgreSQL cuts longer ones off without a word.
const MOST_BYTES: usize = 63;
/// A table may be named with its schema and its database.
const MOST_PARTS: usize = 3;

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NameError {
    #[error("is empty")]
    Empty,
    #[error("has {bytes} bytes; the limit is {MOST_BYTES}")]
    TooLong { bytes: usize },
    #[error("has {sign:?}; names have letters, digits, `_`, `-` and `$`")]
    Sign { sign: char },
    #[error("has {parts} parts; write `table` or `schema.table`")]
    Parts { parts: usize },
}

/// The name of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column(String);

/// The name of a table, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table(Vec<Column>);

impl Column {
    pub(super) fn parse(name: &str) -> Result<Column, NameError> {
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if name.len() > MOST_BYTES {
            return Err(NameError::TooLong { bytes: name.len() });
        }
        let wrong = |c: &char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$');
        match name.chars().find(wrong) {
            Some(sign) => Err(NameError::Sign { sign }),
            None => Ok(Column(name.to_owned())),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The name within quotes, none of which can be in it.
    pub(super) fn quoted(&self, quote: char) -> String {
        format!("{quote}{}{quote}", self.0)
    }
}

impl Table {
    pub(super) fn parse(name: &str) -> Result<Table, NameError> {
        let parts = name.split('.').map(Column::parse);
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        if parts.len() > MOST_PARTS {
            return Err(NameError::Parts { parts: parts.len() });
        }
        Ok(Table(parts))
    }

    pub(super) fn quoted(&self, quote: char) -> String {
        let mut text = String::new();
        for (index, part) in self.0.iter().enumerate() {
            let dot = if index > 0 { "." } else { "" };
            let _ = write!(text, "{dot}{}", part.quoted(quote));
        }
        text
    }

    /// The schema, if it is named, and the table.
    pub(super) fn split(&self) -> (Option<&str>, &str) {
        match self.0.as_slice() {
            [.., schema, table] => (Some(schema.as_str()), table.as_str()),
            [table] => (None, table.as_str()),
            [] => (None, ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let table = Table::parse("shop.order-lines").unwrap();
        assert_eq!(table.quoted('"'), r#""shop"."order-lines""#);
        assert_eq!(table.split(), (Some("shop"), "order-lines"));
        assert_eq!(Column::parse("größe").unwrap().quoted('`'), "`größe`");
    }

    #[test]
    fn what_could_break_out_is_refused() {
        for name in [
            "",
            "a\"b",
            "a`b",
            "a'b",
            "a;b",
            "a b",
            "a\0b",
            "a\nb",
            "a\\b",
            "a)b",
            "a/*b",
            "a.b",
            "a[b]",
            "${{ x }}",
            "\u{202e}a",
        ] {
            assert!(Column::parse(name).is_err(), "{name:?}");
        }
        assert!(Column::parse(&"x".repeat(64)).is_err());
        for name in ["", ".", "a.", ".a", "a..b", "a.b.c.d", "a.\"b\""] {
            assert!(Table::parse(name).is_err(), "{name:?}");
        }
    }
}
