//! Telling which rows of runs change on this node, to whoever wants to know.
//!
//! While nobody does, a change costs one look at a number.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel_store::run::RunId;
use tokio::sync::broadcast::{self, error::RecvError};

/// How many changes a follower may be behind.
const BEHIND: usize = 4096;

/// Where changes are told.
#[derive(Debug)]
pub(crate) struct Changed {
    followers: Arc<AtomicUsize>,
    told: broadcast::Sender<RunId>,
}

impl Default for Changed {
    fn default() -> Changed {
        Changed {
            followers: Arc::default(),
            told: broadcast::Sender::new(BEHIND),
        }
    }
}

impl Changed {
    pub(crate) fn tell(&self, run: RunId) {
        if self.followers.load(Ordering::Relaxed) > 0 {
            // Whoever wanted to know may be gone by now.
            let _ = self.told.send(run);
        }
    }

    pub(crate) fn follow(&self) -> Changes {
        let told = self.told.subscribe();
        self.followers.fetch_add(1, Ordering::Relaxed);
        Changes {
            told,
            followers: Arc::clone(&self.followers),
        }
    }
}

/// The rows that change from now on.
#[derive(Debug)]
pub struct Changes {
    told: broadcast::Receiver<RunId>,
    followers: Arc<AtomicUsize>,
}

impl Changes {
    /// The next; `None` if some were missed.
    pub async fn next(&mut self) -> Option<RunId> {
        match self.told.recv().await {
            Ok(run) => Some(run),
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.followers.fetch_sub(1, Ordering::Relaxed);
    }
}
