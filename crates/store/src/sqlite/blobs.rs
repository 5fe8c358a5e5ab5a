//! Long values, once each, kept while an effect or a run refers to them.

use rusqlite::{Connection, OptionalExtension as _, params};
use semel_ledger::Time;

use crate::blob::{BLOB_GRACE, BlobRef};
use crate::record::Record;

/// How many blobs one transaction drops.
const BITE: i64 = 100;

/// Keeps a blob; writing it again renews the time in which somebody must refer to it.
pub(super) fn put(connection: &Connection, content: &[u8], now: Time) -> rusqlite::Result<()> {
    const PUT: &str = "INSERT INTO blobs (hash, content, at) VALUES (?, ?, ?)
                       ON CONFLICT (hash) DO UPDATE SET at = max(at, excluded.at)";
    let name = BlobRef::of(content);
    connection
        .prepare_cached(PUT)?
        .execute(params![name.hash, content, now.0])?;
    Ok(())
}

pub(super) fn get(connection: &Connection, hash: &[u8; 32]) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut get = connection.prepare_cached("SELECT content FROM blobs WHERE hash = ?")?;
    get.query_row([hash], |row| row.get(0)).optional()
}

/// Makes the uses on record those that this record has now.
pub(super) fn refer(connection: &Connection, record: &Record) -> rusqlite::Result<()> {
    release(connection, record.seq)?;
    for hash in record.kept_blobs() {
        connection
            .prepare_cached("INSERT OR IGNORE INTO blob_uses (hash, effect) VALUES (?, ?)")?
            .execute(params![hash, record.seq])?;
    }
    Ok(())
}

pub(super) fn release(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM blob_uses WHERE effect = ?")?
        .execute([seq])?;
    Ok(())
}

/// Drops one bite of blobs that nothing refers to; gives how many.
pub(super) fn drop_unused(connection: &Connection, now: Time) -> rusqlite::Result<usize> {
    const DROP: &str = "DELETE FROM blobs WHERE rowid IN (
        SELECT rowid FROM blobs WHERE at <= ?
           AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob_uses.hash = blobs.hash)
           AND NOT EXISTS (SELECT 1 FROM run_blobs WHERE run_blobs.hash = blobs.hash) LIMIT ?)";
    let grace = i64::try_from(BLOB_GRACE.0).unwrap_or(i64::MAX);
    connection
        .prepare_cached(DROP)?
        .execute(params![now.0.saturating_sub(grace), BITE])
}
