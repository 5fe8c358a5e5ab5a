//! When the log is copied into the database.
//!
//! SQLite would do it by itself inside somebody's commit and keep a failure to itself. Here it is
//! done between commits, after the callers have their answers, and a disk that fails at it ends the
//! store like any other failed sync.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;

use super::connect::refused;
use super::failure::classify;
use crate::error::{OpenError, StoreError};
use crate::store::Context;

#[derive(Debug)]
pub(super) struct Checkpoints {
    /// How long the log is, as of the latest commit.
    log_pages: Arc<AtomicU32>,
    /// How long it may get.
    limit: u32,
}

impl Checkpoints {
    /// Takes over from SQLite on this connection.
    pub(super) fn of(connection: &mut Connection, limit: u32) -> Result<Checkpoints, OpenError> {
        let log_pages = Arc::new(AtomicU32::new(0));
        let noted = Arc::clone(&log_pages);
        let note = move |_: &mut _, pages| {
            noted.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        connection.wal_hook(Some(note)).map_err(refused)?;
        Ok(Checkpoints { log_pages, limit })
    }

    /// Copies the log if it has become long. Readers are not waited for: what they still need
    /// stays for the next time.
    pub(super) fn run_if_due(
        &self,
        connection: &Connection,
        context: &Context,
    ) -> Result<(), StoreError> {
        if self.log_pages.load(Ordering::Relaxed) < self.limit {
            return Ok(());
        }
        let copied = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        match copied.map_err(|error| classify(error, context)) {
            // Nothing acknowledged depends on it: it is all in the log.
            Err(StoreError::Full { source } | StoreError::Unavailable { source }) => {
                tracing::warn!(error = %source, "the log could not be copied into the database yet");
                Ok(())
            }
            other => other,
        }
    }
}
