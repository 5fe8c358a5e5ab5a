//! Sessions that wait for their next step, and how many there may be.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// How long a session waits. Firewalls forget connections without a word, so not for long.
const IDLE: Duration = Duration::from_mins(1);

/// The sessions of one connection.
pub(super) struct Pool<S> {
    turns: Semaphore,
    idle: Mutex<Vec<(S, Instant)>>,
}

impl<S> Pool<S> {
    pub(super) fn new(most: usize) -> Pool<S> {
        Pool {
            turns: Semaphore::new(most),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Waits for a turn; `None` if it did not come in time.
    pub(super) async fn turn(&self, by: Instant) -> Option<SemaphorePermit<'_>> {
        timeout_at(by, self.turns.acquire()).await.ok()?.ok()
    }

    /// A session that waits, the last one first.
    pub(super) fn take(&self) -> Option<S> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(_, since)| since.elapsed() < IDLE);
        idle.pop().map(|(session, _)| session)
    }

    /// Lets a session wait that is outside of any transaction.
    pub(super) fn put(&self, session: S) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((session, Instant::now()));
    }
}
