//! What an error of SQLite says about the effect.

use rusqlite::{Connection, ErrorCode};

use crate::sql::fault::{Fault, FaultKind};

/// The thread with the connection is gone.
pub(super) fn stopped() -> Fault {
    Fault::gone("the work on the file was given up")
}

/// Of an error before COMMIT.
pub(super) fn of(error: &rusqlite::Error) -> Fault {
    let message = told(error);
    let kind = match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::SystemIoFailure,
        ) => FaultKind::Busy,
        Some(ErrorCode::AuthorizationForStatementDenied) => {
            return Fault::wrong(format!(
                "{message}: a step may not use PRAGMA, ATTACH, or end its own transaction"
            ));
        }
        Some(ErrorCode::ReadOnly) => {
            return Fault::refused(format!("{message}; what writes belongs under `run`"));
        }
        _ => FaultKind::Refused,
    };
    Fault::new(kind, message)
}

/// Of an error of COMMIT. If the transaction is still open, nothing was committed; if it is not, a
/// disk that fails may have kept it all the same.
pub(super) fn of_commit(connection: &Connection, error: &rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => Fault::gone(told(error)),
        _ if connection.is_autocommit() => Fault::gone(told(error)),
        _ => of(error),
    }
}

/// The error in one line.
pub(super) fn told(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}
