//! What an error of PostgreSQL says about the effect.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity};

use crate::sql::fault::{Fault, FaultKind};

/// Of a session that did not come about.
pub(super) fn unreachable(error: &Error) -> Fault {
    let message = format!("cannot connect to PostgreSQL: {}", told(error));
    let code = error.code().map_or("", |code| code.code());
    // The user, the password or the database is wrong: that does not pass.
    if matches!(code.get(..2), Some("28" | "3D")) {
        return Fault::refused(message);
    }
    Fault::unreachable(message)
}

/// Of anything in a session. An error that does not end the session is the server's word that the
/// transaction is lost, also when it comes in answer to COMMIT; one that does may come after the
/// commit and before the answer.
pub(super) fn of(error: &Error) -> Fault {
    let message = told(error);
    let Some(database) = error.as_db_error() else {
        return Fault::gone(message);
    };
    if ends_session(database) || is_stale(database) {
        return Fault::gone(message);
    }
    let code = database.code().code();
    match (code.get(..2), code) {
        (Some("40" | "53"), _) | (_, "55P03" | "57014") => Fault::new(FaultKind::Busy, message),
        (_, "25006") => Fault::refused(format!("{message}; what writes belongs under `run`")),
        _ => Fault::refused(message),
    }
}

/// Of BEGIN: a server that cannot begin is as good as none. It may be about to take over.
pub(super) fn of_begin(error: &Error) -> Fault {
    let fault = of(error);
    match fault.kind {
        FaultKind::Gone => fault,
        _ => Fault::unreachable(fault.message),
    }
}

/// The session's remembered statements are of no more use: their table was changed, or somebody
/// removed them. A new session has none.
fn is_stale(error: &DbError) -> bool {
    let changed = error.routine() == Some("RevalidateCachedQuery");
    changed || error.code().code() == "26000"
}

fn ends_session(error: &DbError) -> bool {
    let fatal = match error.parsed_severity() {
        Some(severity) => matches!(severity, Severity::Fatal | Severity::Panic),
        None => matches!(error.severity(), "FATAL" | "PANIC"),
    };
    fatal || matches!(error.code().code().get(..2), Some("08" | "58" | "XX"))
}

/// The error in one line. Details are left out: they repeat rows.
fn told(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(database), _) => {
            format!(
                "{} (SQLSTATE {})",
                database.message(),
                database.code().code()
            )
        }
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
