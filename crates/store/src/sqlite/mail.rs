//! What runs are told.

use rusqlite::{Connection, params};
use semel_ledger::Time;

use crate::run::RunId;

/// Tells an open run something and wakes it if it rests; gives whether it is open.
pub(super) fn send(
    connection: &Connection,
    run: RunId,
    note: &str,
    now: Time,
) -> rusqlite::Result<bool> {
    const OPEN: &str = "SELECT node IS NULL FROM runs WHERE id = ? AND state < 6";
    const WAKE: &str = "UPDATE runs SET wake = min(coalesce(wake, ?1), ?1) WHERE id = ?2";
    const SEND: &str = "INSERT INTO mail (run, at, note) VALUES (?, ?, ?)";
    let mut open = connection.prepare_cached(OPEN)?;
    let mut rows = open.query([run.0])?;
    let Some(row) = rows.next()? else {
        return Ok(false);
    };
    if row.get(0)? {
        connection
            .prepare_cached(WAKE)?
            .execute(params![now.0, run.0])?;
    }
    connection
        .prepare_cached(SEND)?
        .execute(params![run.0, now.0, note])?;
    Ok(true)
}

/// Drops what a run has read, up to this position.
pub(super) fn drop_read(connection: &Connection, run: RunId, up_to: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM mail WHERE run = ? AND seq <= ?")?
        .execute(params![run.0, up_to])?;
    Ok(())
}
