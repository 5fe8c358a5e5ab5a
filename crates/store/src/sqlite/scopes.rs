//! The numbers of scopes and flows: their names stand in millions of rows.

use std::collections::HashMap;

use rusqlite::Connection;
use semel_ledger::Scope;

/// Scopes are few; if they are not, their numbers are looked up again.
const REMEMBERED_SCOPES: usize = 10_000;

/// The numbers of scopes that were seen.
#[derive(Debug, Default)]
pub(super) struct Scopes(HashMap<Box<str>, i64>);

impl Scopes {
    pub(super) fn number(
        &mut self,
        connection: &Connection,
        scope: &Scope,
    ) -> rusqlite::Result<i64> {
        self.named(connection, scope.as_str())
    }

    /// The number of a scope, or of a flow: their names are of one kind.
    pub(super) fn named(&mut self, connection: &Connection, name: &str) -> rusqlite::Result<i64> {
        if let Some(number) = self.0.get(name) {
            return Ok(*number);
        }
        connection
            .prepare_cached("INSERT OR IGNORE INTO scopes (name) VALUES (?)")?
            .execute([name])?;
        let mut find = connection.prepare_cached("SELECT id FROM scopes WHERE name = ?")?;
        let number = find.query_row([name], |row| row.get(0))?;
        if self.0.len() >= REMEMBERED_SCOPES {
            self.0.clear();
        }
        self.0.insert(name.into(), number);
        Ok(number)
    }

    /// Forgets what a rolled-back transaction may have taught.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
