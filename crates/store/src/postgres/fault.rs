//! What an error of the driver means for a batch.

use std::sync::Arc;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use super::row::Unreadable;
use crate::error::{Source, StoreError};

/// What went wrong, shared by all callers of a batch.
pub(super) type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// How a batch failed, told apart by what the writer does next.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The connection is gone and nothing was written: connect and try again.
    Gone(Cause),
    /// Somebody else was there first: plan again.
    Contended(Cause),
    /// The connection went away at COMMIT: ask whether it happened.
    InDoubt(Cause),
    /// No space is left.
    Full(Cause),
    /// The database refuses what one of the callers wants: find out which.
    Refused(Cause),
}

/// The database did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("PostgreSQL did not answer in time")]
pub(super) struct Silent;

/// Too many writers want the same new keys at the same time.
#[derive(Debug, thiserror::Error)]
#[error("another writer was always first; too many want the same keys")]
pub(super) struct RaceLost;

impl Fault {
    /// Of an error before COMMIT was sent.
    pub(super) fn of(error: Error) -> Fault {
        let Some(database) = error.as_db_error() else {
            return Fault::Gone(Arc::new(error));
        };
        let code = database.code().clone();
        let gone = ends_session(database);
        let cause: Cause = Arc::new(error);
        match code {
            SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::LOCK_NOT_AVAILABLE => Fault::Contended(cause),
            SqlState::DISK_FULL => Fault::Full(cause),
            // Another server took over, or somebody dropped the prepared statements.
            SqlState::READ_ONLY_SQL_TRANSACTION | SqlState::INVALID_SQL_STATEMENT_NAME => {
                Fault::Gone(cause)
            }
            _ if gone => Fault::Gone(cause),
            _ => Fault::Refused(cause),
        }
    }

    /// Of an error after COMMIT was sent: only a plain error says that nothing was committed. A
    /// session may also be ended after its commit and before the answer.
    pub(super) fn at_commit(error: Error) -> Fault {
        let plain = error
            .as_db_error()
            .is_some_and(|database| !ends_session(database));
        if plain {
            Fault::of(error)
        } else {
            Fault::InDoubt(Arc::new(error))
        }
    }

    /// What a caller is told.
    pub(super) fn for_caller(&self) -> StoreError {
        let source = |cause: &Cause| -> Source { Box::new(Shared(Arc::clone(cause))) };
        match self {
            Fault::InDoubt(cause) => StoreError::AnswerLost {
                source: source(cause),
            },
            Fault::Full(cause) => StoreError::Full {
                source: source(cause),
            },
            Fault::Gone(cause) | Fault::Contended(cause) | Fault::Refused(cause) => {
                StoreError::Unavailable {
                    source: source(cause),
                }
            }
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::of(error)
    }
}

impl From<Unreadable> for Fault {
    fn from(error: Unreadable) -> Fault {
        Fault::Refused(Arc::new(error))
    }
}

fn ends_session(error: &DbError) -> bool {
    let class = &error.code().code()[..2];
    matches!(error.severity(), "FATAL" | "PANIC") || matches!(class, "08" | "57" | "58" | "XX")
}

/// One cause, told to many.
#[derive(Debug)]
struct Shared(Cause);

impl std::fmt::Display for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Shared {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
