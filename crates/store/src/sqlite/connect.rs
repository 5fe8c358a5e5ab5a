//! Opening connections so that what is acknowledged is durable, and refusing where it cannot be.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::migrate::refuse_newer;
use crate::error::OpenError;
use crate::open::Options;

/// The oldest SQLite whose write-ahead log is sound for us, as its version number.
pub const OLDEST_SQLITE: i32 = 3_051_003;

/// Visitors and a starting server may meet; each holds the write lock for one commit at a time.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);
const STATEMENTS: usize = 128;

pub(super) fn for_writing(path: &Path, options: &Options) -> Result<Connection, OpenError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let found = rusqlite::version().to_owned();
        return Err(OpenError::TooOld {
            software: "SQLite",
            found,
            needed: "3.51.3",
        });
    }
    if let Some(kind) = path.parent().and_then(network_file_system) {
        return Err(OpenError::NetworkFileSystem {
            path: path.to_owned(),
            kind,
        });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = open(path, flags, options)?;
    refuse_newer(&connection)?;
    let synchronous = if options.unsafe_no_sync {
        "NORMAL"
    } else {
        "FULL"
    };
    // auto_vacuum counts only before the first table is made. The cache holds the index of about a
    // million effects; a larger one costs more than it saves, as a commit after which pages of an index
    // changed places looks through all of it.
    let settings = format!(
        "PRAGMA auto_vacuum = INCREMENTAL;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = {synchronous};
         PRAGMA journal_size_limit = 67108864;
         PRAGMA cache_size = -24576;
         PRAGMA temp_store = MEMORY;"
    );
    connection.execute_batch(&settings).map_err(refused)?;
    Ok(connection)
}

pub(super) fn for_reading(path: &Path, options: &Options) -> Result<Connection, OpenError> {
    // Not read-only: the last connection to leave must be able to clean up the log.
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
    connection
        .execute_batch(
            "PRAGMA query_only = ON; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;",
        )
        .map_err(refused)?;
    Ok(connection)
}

fn open(path: &Path, flags: OpenFlags, options: &Options) -> Result<Connection, OpenError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match &options.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str()),
        None => Connection::open_with_flags(path, flags),
    };
    let connection = connection.map_err(refused)?;
    connection.busy_timeout(LOCK_PATIENCE).map_err(refused)?;
    // Without it every new value compiles the statement again, to see whether a partial index
    // has become usable: three quarters of the time of a claim.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(refused)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Asks SQLite itself whether the settings took: a file can refuse them without an error.
pub(super) fn check_durable(connection: &Connection, options: &Options) -> Result<(), OpenError> {
    let journal: String = connection
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .map_err(refused)?;
    if journal != "wal" {
        return Err(OpenError::NotDurable {
            setting: "journal_mode",
            found: journal,
            needed: "wal",
        });
    }
    let synchronous: i64 = connection
        .query_row("PRAGMA synchronous", [], |row| row.get(0))
        .map_err(refused)?;
    if synchronous < 2 && !options.unsafe_no_sync {
        let found = synchronous.to_string();
        return Err(OpenError::NotDurable {
            setting: "synchronous",
            found,
            needed: "2 (FULL)",
        });
    }
    Ok(())
}

pub(super) fn refused(source: rusqlite::Error) -> OpenError {
    OpenError::Database {
        source: source.into(),
    }
}

/// The kind of network file system that a directory is on, if it is on one. Locks and syncs
/// across machines are promises that such file systems do not reliably keep.
#[must_use]
pub fn network_file_system(directory: &Path) -> Option<&'static str> {
    const KINDS: [(u64, &str); 8] = [
        (0x6969, "nfs"),
        (0x517B, "smb"),
        (0xFF53_4D42, "cifs"),
        (0xFE53_4D42, "smb2"),
        (0x0102_1997, "9p"),
        (0x00C3_6400, "ceph"),
        (0x7373_7572, "coda"),
        (0x5346_414F, "afs"),
    ];
    let directory = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    let kind = u64::try_from(rustix::fs::statfs(directory).ok()?.f_type).ok()?;
    KINDS
        .into_iter()
        .find(|(magic, _)| *magic == kind & 0xFFFF_FFFF)
        .map(|(_, name)| name)
}
