//! What SQLite's errors mean for a caller.

use rusqlite::ErrorCode;

use crate::error::StoreError;
use crate::store::Context;

/// Classifies an error of a write or read. One that puts durability in doubt ends the store:
/// after a failed sync nobody knows what the disk holds, and only a fresh start can find out.
pub(super) fn classify(error: rusqlite::Error, context: &Context) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full {
            source: error.into(),
        },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Unavailable {
            source: error.into(),
        },
        _ => context.fail(error),
    }
}
