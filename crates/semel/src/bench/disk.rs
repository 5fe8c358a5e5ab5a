//! What the disk itself can do: syncs a second, and raw batched inserts through the same SQLite.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rusqlite::{Connection, params};
use semel_store::group::{Group, Request, group};
use semel_store::store::random_bytes;

use super::load::{Bounds, Measured, run_batched};

/// Overwrites one block and syncs, over and over.
pub(super) fn syncs(directory: &Path, bounds: Bounds) -> anyhow::Result<Measured> {
    let file = File::create(directory.join("syncs"))?;
    file.write_all_at(&[0; 4096], 0)?;
    file.sync_all()?;
    let mut round = 0u8;
    run_batched(1, bounds, |_| {
        round = round.wrapping_add(1);
        file.write_all_at(&[round; 4096], 0)?;
        Ok(file.sync_data()?)
    })
}

/// A plain table with a unique key, opened as the store opens its file.
pub(super) struct RawTable {
    connection: Connection,
    row: Vec<u8>,
}

impl RawTable {
    /// `row_bytes` is what one row holds beside its 16-byte key.
    pub(super) fn create(
        directory: &Path,
        name: &str,
        row_bytes: usize,
    ) -> anyhow::Result<RawTable> {
        let connection = Connection::open(directory.join(name))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 20000;
             PRAGMA cache_size = -65536;
             CREATE TABLE raw (seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, row BLOB NOT NULL) STRICT;",
        )?;
        Ok(RawTable {
            connection,
            row: vec![b'x'; row_bytes],
        })
    }

    pub(super) fn insert(&mut self, rows: usize) -> anyhow::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO raw (id, row) VALUES (?, ?)")?;
            for _ in 0..rows {
                insert.execute(params![random_bytes::<16>(), self.row])?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// The same table behind the store's group commit, with no ledger logic.
    pub(super) fn behind_group_commit(mut self, batch: usize) -> Group<(), ()> {
        let (group, mut requests) = group(8192);
        std::thread::spawn(move || {
            let mut waiting: Vec<Request<(), ()>> = Vec::with_capacity(batch);
            while requests.blocking_recv_many(&mut waiting, batch) > 0 {
                // Dropped replies tell the callers; the bench then ends with their error.
                let Ok(()) = self.insert(waiting.len()) else {
                    return;
                };
                for request in waiting.drain(..) {
                    let _ = request.reply.send(Ok(()));
                }
            }
        });
        group
    }
}

/// Batched inserts of rows of this size, `batch` to a transaction.
pub(super) fn inserts(
    directory: &Path,
    batch: usize,
    row_bytes: usize,
    bounds: Bounds,
) -> anyhow::Result<Measured> {
    let mut table = RawTable::create(directory, &format!("inserts-{batch}"), row_bytes)?;
    run_batched(batch, bounds, |rows| table.insert(rows))
}
