//! Bringing a file to the newest schema, forward only. A file from a later version is refused.

use rusqlite::{Connection, TransactionBehavior};

use super::connect::refused;
use crate::error::OpenError;

/// `SEML`, so that `file` and other tools can tell whose database it is.
const APPLICATION: i64 = 0x5345_4D4C;

const MIGRATIONS: [(i64, &str); 6] = [
    (1, include_str!("migrations/0001_ledger.sql")),
    (2, include_str!("migrations/0002_runs.sql")),
    (3, include_str!("migrations/0003_secrets.sql")),
    (4, include_str!("migrations/0004_kv.sql")),
    (5, include_str!("migrations/0005_listeners.sql")),
    (6, include_str!("migrations/0006_people.sql")),
];

/// The newest schema that this version knows.
pub const NEWEST_SCHEMA: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// To be asked before anything is set: a file from a later version is left as it is.
pub(super) fn refuse_newer(connection: &Connection) -> Result<i64, OpenError> {
    let found = version(connection)?;
    if found > NEWEST_SCHEMA {
        return Err(OpenError::Newer {
            found,
            known: NEWEST_SCHEMA,
        });
    }
    Ok(found)
}

pub(super) fn migrate(connection: &mut Connection) -> Result<(), OpenError> {
    if version(connection)? == NEWEST_SCHEMA {
        return Ok(());
    }
    // Another process may be doing the same: whoever gets the lock second finds it done.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(refused)?;
    let found = refuse_newer(&transaction)?;
    for (number, migration) in MIGRATIONS.into_iter().filter(|(number, _)| *number > found) {
        transaction.execute_batch(migration).map_err(refused)?;
        transaction
            .pragma_update(None, "user_version", number)
            .map_err(refused)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION)
        .map_err(refused)?;
    transaction.commit().map_err(refused)
}

fn version(connection: &Connection) -> Result<i64, OpenError> {
    connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(refused)
}
