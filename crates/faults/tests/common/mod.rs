//! Owns the workload that the tests of this crate share: a table of numbered
//! rows whose content follows from the number.

use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// The database file inside of a recorded directory.
pub(crate) const NAME: &str = "rows.db";

/// Opens the database through a VFS, in WAL mode.
pub(crate) fn open(dir: &Path, vfs: &str, synchronous: &str) -> rusqlite::Result<Connection> {
    let path = dir.join(NAME);
    let db = Connection::open_with_flags_and_vfs(path, OpenFlags::default(), vfs)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", synchronous)?;
    // Small enough for a checkpoint every few rows.
    db.pragma_update(None, "wal_autocheckpoint", 8)?;
    db.execute_batch("CREATE TABLE IF NOT EXISTS rows (n INTEGER PRIMARY KEY, body BLOB)")?;
    Ok(db)
}

/// Commits a row; when this returns, the row is acknowledged.
pub(crate) fn insert(db: &Connection, n: i64) -> rusqlite::Result<()> {
    db.execute("INSERT INTO rows VALUES (?1, ?2)", (n, body(n)))?;
    Ok(())
}

/// Some rows fit a page many times, others need several pages.
fn body(n: i64) -> Vec<u8> {
    let len = usize::try_from(n % 7).expect("rows have positive numbers");
    vec![n.to_le_bytes()[0]; 10 + len * len * 200]
}

/// The rows of the database in a directory, read through SQLite's own VFS, and
/// none if the table is not there. Fails if anything is corrupt.
pub(crate) fn rows(dir: &Path) -> Vec<i64> {
    let db = Connection::open(dir.join(NAME)).expect("the database opens");
    let check: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the database can be checked");
    assert_eq!(check, "ok");
    if !db
        .table_exists(None, "rows")
        .expect("the schema is readable")
    {
        return Vec::new();
    }
    let mut rows = db
        .prepare("SELECT n, body FROM rows ORDER BY n")
        .expect("the table is as it was made");
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("the rows can be read")
        .map(|row: rusqlite::Result<(i64, Vec<u8>)>| {
            let (n, found) = row.expect("a row can be read");
            assert!(found == body(n), "row {n} has another content");
            n
        })
        .collect()
}
