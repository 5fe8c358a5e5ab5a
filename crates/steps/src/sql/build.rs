//! The SQL of the forms whose SQL is ours.
//!
//! Names are checked and quoted, values are bound. Each database has its own way to quote a name
//! and to mark the place of a value; how it makes a row unless it is there differs more, and stands
//! in its own file where it does.

use std::fmt::Write as _;

use semel_flow::Value;

use super::names::Table;
use super::plan::{Columns, Row, Statement, Update};

/// How a database wants to be spoken to.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    /// Around names. Not `"` where that may also mean text.
    pub(super) quote: char,
    /// The place of the value of that number, from 1.
    pub(super) place: fn(usize) -> String,
}

/// A statement on its way.
struct Builder {
    dialect: Dialect,
    params: Vec<Value>,
}

impl Builder {
    fn new(dialect: Dialect) -> Builder {
        Builder {
            dialect,
            params: Vec::new(),
        }
    }

    fn bind(&mut self, value: &Value) -> String {
        self.params.push(value.clone());
        (self.dialect.place)(self.params.len())
    }

    /// `a = 1, b = 2`
    fn assign(&mut self, columns: &Columns) -> String {
        let parts = columns.iter().map(|(column, value)| {
            let place = self.bind(value);
            format!("{} = {place}", column.quoted(self.dialect.quote))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// `a = 1 AND b IS NULL`
    fn filter(&mut self, columns: &Columns) -> String {
        let parts = columns.iter().map(|(column, value)| {
            let name = column.quoted(self.dialect.quote);
            if *value == Value::Null {
                return format!("{name} IS NULL");
            }
            format!("{name} = {}", self.bind(value))
        });
        parts.collect::<Vec<_>>().join(" AND ")
    }

    fn done(self, sql: String) -> Statement {
        Statement {
            sql,
            params: self.params,
        }
    }
}

/// Changes rows.
pub(super) fn update(update: &Update, dialect: Dialect) -> Statement {
    change(&update.table, &update.set, &update.filter, dialect)
}

/// Gives the rows with these columns those values.
pub(super) fn change(
    table: &Table,
    set: &Columns,
    filter: &Columns,
    dialect: Dialect,
) -> Statement {
    let mut builder = Builder::new(dialect);
    let table = table.quoted(dialect.quote);
    let set = builder.assign(set);
    let filter = builder.filter(filter);
    builder.done(format!("UPDATE {table} SET {set} WHERE {filter}"))
}

/// Makes a row; it fails if there is one.
pub(super) fn insert(row: &Row, dialect: Dialect) -> Statement {
    let mut builder = Builder::new(dialect);
    let all = || row.on.iter().chain(&row.others);
    let names: Vec<_> = all().map(|(it, _)| it.quoted(dialect.quote)).collect();
    let places: Vec<_> = all().map(|(_, value)| builder.bind(value)).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        row.into.quoted(dialect.quote),
        names.join(", "),
        places.join(", ")
    );
    builder.done(sql)
}

/// Makes a row unless it is there, in PostgreSQL and SQLite.
pub(super) fn insert_if_absent(row: &Row, dialect: Dialect) -> Statement {
    let mut statement = insert(row, dialect);
    let on = names(&row.on, dialect);
    let _ = write!(statement.sql, " ON CONFLICT ({on}) DO NOTHING");
    statement
}

/// Makes a row or changes it, in PostgreSQL and SQLite.
pub(super) fn upsert(row: &Row, dialect: Dialect) -> Statement {
    let mut statement = insert(row, dialect);
    let on = names(&row.on, dialect);
    let set = row.others.iter().map(|(column, _)| {
        let name = column.quoted(dialect.quote);
        format!("{name} = excluded.{name}")
    });
    let set = set.collect::<Vec<_>>().join(", ");
    let _ = write!(statement.sql, " ON CONFLICT ({on}) DO UPDATE SET {set}");
    statement
}

/// Asks whether there is such a row, and keeps it as it is until the transaction ends.
pub(super) fn is_there(row: &Row, dialect: Dialect) -> Statement {
    let mut builder = Builder::new(dialect);
    let table = row.into.quoted(dialect.quote);
    let filter = builder.filter(&row.on);
    builder.done(format!("SELECT 1 FROM {table} WHERE {filter} FOR UPDATE"))
}

fn names(columns: &Columns, dialect: Dialect) -> String {
    let names = columns.iter().map(|(it, _)| it.quoted(dialect.quote));
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::names::Column;
    use super::*;

    const NUMBERED: Dialect = Dialect {
        quote: '"',
        place: |number| format!("${number}"),
    };

    fn columns(names: &[&str]) -> Columns {
        let of = |name: &&str| (Column::parse(name).unwrap(), Value::text(name));
        names.iter().map(of).collect()
    }

    fn row() -> Row {
        Row {
            into: Table::parse("s.t").unwrap(),
            on: columns(&["a"]),
            others: columns(&["b", "c"]),
        }
    }

    #[test]
    fn rows_are_made_or_changed() {
        let statement = upsert(&row(), NUMBERED);
        assert_eq!(
            statement.sql,
            r#"INSERT INTO "s"."t" ("a", "b", "c") VALUES ($1, $2, $3) ON CONFLICT ("a") DO UPDATE SET "b" = excluded."b", "c" = excluded."c""#
        );
        let statement = insert_if_absent(&row(), NUMBERED);
        assert!(statement.sql.ends_with(r#"ON CONFLICT ("a") DO NOTHING"#));
        assert_eq!(statement.params.len(), 3);
    }

    #[test]
    fn null_is_compared_as_null() {
        let mut filter = columns(&["x", "y"]);
        filter[0].1 = Value::Null;
        let statement = change(
            &Table::parse("t").unwrap(),
            &columns(&["a"]),
            &filter,
            NUMBERED,
        );
        assert_eq!(
            statement.sql,
            r#"UPDATE "t" SET "a" = $1 WHERE "x" IS NULL AND "y" = $2"#
        );
        assert_eq!(statement.params.len(), 2);
    }
}
