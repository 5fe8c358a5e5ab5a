//! Owns the proof that planned faults reach SQLite as the errors they stand
//! for, and that the disk works again once they are over.

mod common;

use common::{NAME, insert, open, rows};
use rusqlite::{Connection, Error, ffi};
use semel_faults::{Disk, Fault, Lasting, On, RegisterError};
use std::sync::Arc;
use tempfile::TempDir;

fn recorded(vfs: &str) -> (Arc<Disk>, TempDir, Connection) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let disk = Disk::register(vfs, dir.path()).expect("the name is free");
    let db = open(dir.path(), vfs, "FULL").expect("the database opens");
    (disk, dir, db)
}

fn code(result: rusqlite::Result<()>) -> i32 {
    match result {
        Ok(()) => ffi::SQLITE_OK,
        Err(Error::SqliteFailure(error, _)) => error.extended_code,
        Err(error) => panic!("not an error of SQLite: {error}"),
    }
}

#[test]
fn a_failed_sync_fails_the_commit_once() {
    let (disk, dir, db) = recorded("sync-once");
    let nth = disk.counts().syncs + 2;
    disk.inject(Fault::io_error(On::Syncs, nth, Lasting::Once));
    assert_eq!(code(insert(&db, 1)), ffi::SQLITE_OK);
    assert_eq!(disk.fired(), 0);
    assert_eq!(code(insert(&db, 2)), ffi::SQLITE_IOERR_FSYNC);
    assert_eq!(disk.fired(), 1);
    assert_eq!(code(insert(&db, 3)), ffi::SQLITE_OK);
    assert_eq!(disk.fired(), 1);
    assert_eq!(rows(dir.path()), [1, 3]);
}

#[test]
fn failing_writes_fail_until_they_are_cleared() {
    let (disk, dir, db) = recorded("write-lasting");
    let nth = disk.counts().writes + 1;
    disk.inject(Fault::io_error(On::Writes, nth, Lasting::FromThenOn));
    for n in 1..5 {
        assert_eq!(code(insert(&db, n)), ffi::SQLITE_IOERR_WRITE);
    }
    assert!(disk.fired() >= 4);
    disk.clear();
    assert_eq!(code(insert(&db, 5)), ffi::SQLITE_OK);
    assert_eq!(rows(dir.path()), [5]);
}

#[test]
fn a_full_disk_is_full_until_it_is_cleared() {
    let (disk, dir, db) = recorded("full-disk");
    assert_eq!(code(insert(&db, 1)), ffi::SQLITE_OK);
    disk.inject(Fault::full(disk.counts().writes + 1));
    for n in 2..5 {
        assert_eq!(code(insert(&db, n)), ffi::SQLITE_FULL);
    }
    assert!(disk.fired() >= 3);
    disk.clear();
    assert_eq!(code(insert(&db, 5)), ffi::SQLITE_OK);
    assert_eq!(rows(dir.path()), [1, 5]);
}

#[test]
fn a_failed_truncation_fails_the_checkpoint() {
    let (disk, _dir, db) = recorded("truncation");
    insert(&db, 1).expect("a row");
    disk.inject(Fault::io_error(On::Truncates, 1, Lasting::Once));
    let truncate = || db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    assert_eq!(code(truncate()), ffi::SQLITE_IOERR_TRUNCATE);
    assert_eq!((disk.fired(), disk.counts().truncates), (1, 1));
    assert_eq!(code(truncate()), ffi::SQLITE_OK);
}

#[test]
fn writes_and_syncs_are_counted_together_and_late_faults_still_fire() {
    let (disk, _dir, db) = recorded("together");
    let fail = |nth| disk.inject(Fault::io_error(On::WritesAndSyncs, nth, Lasting::Once));
    let so_far = || disk.counts().writes + disk.counts().syncs;
    // Each of these rows takes one page: two writes to the WAL and a sync.
    fail(so_far() + 2);
    assert_eq!(code(insert(&db, 1)), ffi::SQLITE_IOERR_WRITE);
    fail(so_far() + 3);
    assert_eq!(code(insert(&db, 1)), ffi::SQLITE_IOERR_FSYNC);
    fail(1);
    assert_eq!(code(insert(&db, 1)), ffi::SQLITE_IOERR_WRITE);
    assert_eq!(disk.fired(), 3);
    assert_eq!(code(insert(&db, 1)), ffi::SQLITE_OK);
}

#[test]
fn readers_on_other_threads_see_what_the_writer_commits() {
    let (disk, dir, db) = recorded("threads");
    let before = disk.counts();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let path = dir.path().join(NAME);
                let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
                let reader = Connection::open_with_flags_and_vfs(path, flags, "threads")
                    .expect("a reader opens");
                let mut seen = 0;
                while seen < 100 {
                    let now: i64 = reader
                        .query_row("SELECT count(*) FROM rows", [], |row| row.get(0))
                        .expect("a reader reads");
                    assert!(now >= seen, "rows went away");
                    seen = now;
                }
            });
        }
        for n in 1..=100 {
            insert(&db, n).expect("the writer writes");
        }
    });
    assert!(disk.counts().syncs - before.syncs >= 100);
    drop(db);
    assert_eq!(rows(dir.path()).len(), 100);
}

#[test]
fn mapping_files_into_memory_is_declined_without_harm() {
    let (_disk, dir, db) = recorded("mapping");
    for n in 1..=30 {
        insert(&db, n).expect("a row");
    }
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("all rows reach the database file");
    // A reader with an empty cache asks for each page to be mapped.
    let reader = open(dir.path(), "mapping", "FULL").expect("a reader opens");
    reader
        .pragma_update(None, "mmap_size", 1 << 20)
        .expect("the setting is taken");
    let count: i64 = reader
        .query_row("SELECT count(body) FROM rows WHERE body <> ''", [], |row| {
            row.get(0)
        })
        .expect("the rows are read instead");
    assert_eq!(count, 30);
}

#[test]
fn files_elsewhere_are_neither_recorded_nor_broken() {
    let (disk, _dir, _db) = recorded("elsewhere");
    let (before, counts) = (disk.position(), disk.counts());
    disk.inject(Fault::io_error(On::WritesAndSyncs, 1, Lasting::FromThenOn));
    let other = tempfile::tempdir().expect("a temporary directory");
    let db = open(other.path(), "elsewhere", "FULL").expect("it opens");
    insert(&db, 1).expect("a row");
    assert_eq!((disk.position(), disk.counts()), (before, counts));
    assert_eq!(disk.fired(), 0);
}

#[test]
fn a_name_is_registered_once() {
    let (_disk, dir, _db) = recorded("once");
    let again = Disk::register("once", dir.path()).expect_err("the name is taken");
    assert!(matches!(again, RegisterError::Taken(name) if name == "once"));
    let gone = Disk::register("gone", dir.path().join("gone")).expect_err("no directory");
    assert!(matches!(gone, RegisterError::Directory(_)));
}
