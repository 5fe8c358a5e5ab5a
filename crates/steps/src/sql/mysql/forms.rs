//! Forms that take more than one statement in MySQL and MariaDB.
//!
//! `ON DUPLICATE KEY UPDATE` and `INSERT IGNORE` look at every unique column of a table, so a clash
//! in one that the step did not name would change a stranger's row, or be taken for success. Here
//! the row is the one with the named columns, and these must be unique.

use std::collections::BTreeMap;

use mysql_async::prelude::Queryable as _;

use super::fault::{DUPLICATE, code, of};
use super::{DIALECT, MysqlSession};
use crate::sql::build;
use crate::sql::fault::Fault;
use crate::sql::plan::Row;
use crate::sql::rows::{Found, Room};

/// The unique columns of a table, by index.
const UNIQUE: &str = "SELECT index_name, column_name FROM information_schema.statistics \
                      WHERE non_unique = 0 AND table_name = ? \
                      AND table_schema = COALESCE(?, DATABASE())";

impl MysqlSession {
    /// Whether the columns that a row is known by are unique together.
    pub(super) async fn check_unique(&mut self, row: &Row) -> Result<(), Fault> {
        let mut on: Vec<_> = row
            .on
            .iter()
            .map(|(it, _)| it.as_str().to_lowercase())
            .collect();
        on.sort();
        let table = row.into.quoted('`');
        let known = format!("{table}({})", on.join(","));
        if self.unique.contains(&known) {
            return Ok(());
        }
        let (schema, name) = row.into.split();
        let found = self.conn.exec(UNIQUE, (name, schema)).await;
        let found: Vec<(String, String)> = found.map_err(|error| of(&error))?;
        let mut indexes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (index, column) in found {
            indexes
                .entry(index)
                .or_default()
                .push(column.to_lowercase());
        }
        let is_it = |columns: &mut Vec<String>| {
            columns.sort();
            *columns == on
        };
        if indexes.values_mut().any(is_it) {
            self.unique.insert(known);
            return Ok(());
        }
        Err(Fault::refused(format!(
            "{table} has no unique index on exactly {}; two steps could make the row at the same time",
            on.join(", ")
        )))
    }

    /// Makes a row or changes it.
    pub(super) async fn upsert(&mut self, row: &Row, room: Room) -> Result<Found, Fault> {
        let change = build::change(&row.into, &row.others, &row.on, DIALECT);
        let changed = self.run(&change, room).await;
        let changed = changed.map_err(|error| of(&error))?;
        if changed.count > 0 {
            return Ok(changed);
        }
        let insert = build::insert(row, DIALECT);
        let made = match self.run(&insert, room).await {
            Ok(made) => return Ok(made),
            Err(error) if code(&error) == Some(DUPLICATE) => of(&error),
            Err(error) => return Err(of(&error)),
        };
        // Somebody else made it in between; else it is another row that is in the way.
        let changed = self.run(&change, room).await;
        let changed = changed.map_err(|error| of(&error))?;
        if changed.count > 0 {
            return Ok(changed);
        }
        Err(made)
    }

    /// Makes a row unless it is there.
    pub(super) async fn insert_if_absent(&mut self, row: &Row, room: Room) -> Result<Found, Fault> {
        let insert = build::insert(row, DIALECT);
        let clash = match self.run(&insert, room).await {
            Ok(made) => return Ok(made),
            Err(error) if code(&error) == Some(DUPLICATE) => of(&error),
            Err(error) => return Err(of(&error)),
        };
        let there = self.run(&build::is_there(row, DIALECT), room).await;
        let there = there.map_err(|error| of(&error))?;
        if there.count == 0 {
            return Err(clash);
        }
        Ok(Found {
            rows: None,
            count: 0,
        })
    }
}
