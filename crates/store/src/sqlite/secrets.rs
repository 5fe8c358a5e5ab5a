//! Sealed secrets: a small table, seldom written.

use rusqlite::{Connection, Row, params};
use semel_ledger::Time;

use super::row;
use crate::secret::{Sealed, SecretChange};

pub(super) fn change(
    connection: &Connection,
    change: &SecretChange,
    now: Time,
) -> rusqlite::Result<bool> {
    const SET: &str = "INSERT OR REPLACE INTO secrets (name, key, sealed, changed_at, by)
        VALUES (?, ?, ?, ?, ?)";
    const FIRST: &str = "INSERT OR IGNORE INTO secrets (name, key, sealed, changed_at, by)
        VALUES (?, ?, ?, ?, ?)";
    const RESEAL: &str = "UPDATE secrets SET key = ?, sealed = ? WHERE name = ? AND sealed = ?";
    let changed = match change {
        SecretChange::Set {
            name,
            key,
            bytes,
            by,
            first,
        } => connection
            .prepare_cached(if *first { FIRST } else { SET })?
            .execute(params![name, key, bytes, now.0, by])?,
        SecretChange::Remove { name } => connection
            .prepare_cached("DELETE FROM secrets WHERE name = ?")?
            .execute([name])?,
        SecretChange::Reseal {
            name,
            was,
            key,
            becomes,
        } => connection
            .prepare_cached(RESEAL)?
            .execute(params![key, becomes, name, was])?,
    };
    if changed > 0 {
        connection.execute("UPDATE secrets_revision SET number = number + 1", [])?;
    }
    Ok(changed > 0)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Sealed> {
    Ok(Sealed {
        name: row.get(0)?,
        key: row.get(1)?,
        bytes: row.get(2)?,
        changed_at: Time(row.get(3)?),
        by: row::text(row, 4)?,
    })
}

/// All, by name.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Sealed>> {
    const ALL: &str = "SELECT name, key, sealed, changed_at, by FROM secrets ORDER BY name";
    let mut all = connection.prepare_cached(ALL)?;
    all.query_map([], read)?.collect()
}

pub(super) fn revision(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT number FROM secrets_revision")?
        .query_row([], |row| row.get(0))
}
