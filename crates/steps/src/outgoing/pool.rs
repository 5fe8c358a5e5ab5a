//! Connections that wait for their next request.
//!
//! Bounded for each origin, in all, and in time. A server closes an idle connection when it likes,
//! and a request that crosses with that is lost; so a request whose repeat would be noticed gets
//! only a connection that was busy a moment ago, or that the server promised to keep.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::link::Link;
use super::target::Origin;

/// How long a connection may wait.
const IDLE: Duration = Duration::from_secs(30);
/// How long it may have waited for a request that must not be lost. Common servers close after
/// two to five seconds.
const IDLE_CAREFUL: Duration = Duration::from_secs(1);
/// How many may wait for one origin.
const MOST_PER_ORIGIN: usize = 64;
/// How many may wait in all.
const MOST: usize = 512;
/// How often those that waited too long are closed.
const REAP: Duration = Duration::from_secs(5);

struct Idle {
    link: Link,
    until: Instant,
    careful_until: Instant,
}

#[derive(Default)]
struct Rack {
    idle: HashMap<Origin, Vec<Idle>>,
    count: usize,
    reaping: bool,
}

/// The connections that wait.
#[derive(Default)]
pub(super) struct Pool {
    rack: Mutex<Rack>,
}

impl Pool {
    fn rack(&self) -> MutexGuard<'_, Rack> {
        self.rack.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that was used last.
    pub(super) fn take(&self, origin: &Origin, careful: bool) -> Option<Link> {
        let now = Instant::now();
        let mut rack = self.rack();
        let Rack { idle, count, .. } = &mut *rack;
        let waiting = idle.get_mut(origin)?;
        let newest = waiting.last()?;
        if careful && newest.careful_until < now && newest.until >= now {
            return None;
        }
        let newest = waiting.pop()?;
        *count -= 1;
        if newest.until >= now {
            return Some(newest.link);
        }
        // The others have waited longer still, or were promised less.
        *count -= waiting.len();
        waiting.clear();
        None
    }

    /// Keeps a connection for the next request; `promised` is how long the server said it would.
    pub(super) fn put(self: &Arc<Pool>, origin: &Origin, link: Link, promised: Option<Duration>) {
        let now = Instant::now();
        // A second for what is under way in either direction.
        let promised = promised.map(|time| time.saturating_sub(Duration::from_secs(1)).min(IDLE));
        if promised == Some(Duration::ZERO) {
            return;
        }
        let mut rack = self.rack();
        if rack.count >= MOST {
            return;
        }
        if !rack.idle.contains_key(origin) {
            rack.idle.insert(origin.clone(), Vec::new());
        }
        let Some(waiting) = rack.idle.get_mut(origin) else {
            return;
        };
        if waiting.len() >= MOST_PER_ORIGIN {
            return;
        }
        waiting.push(Idle {
            link,
            until: now + promised.unwrap_or(IDLE),
            careful_until: now + promised.unwrap_or(IDLE_CAREFUL),
        });
        rack.count += 1;
        if !rack.reaping {
            rack.reaping = true;
            tokio::spawn(reap(Arc::downgrade(self)));
        }
    }

    /// Closes what waited too long; tells whether anything still waits.
    fn sweep(&self) -> bool {
        let now = Instant::now();
        let mut rack = self.rack();
        rack.idle.retain(|_, waiting| {
            waiting.retain(|idle| idle.until >= now);
            !waiting.is_empty()
        });
        rack.count = rack.idle.values().map(Vec::len).sum();
        rack.reaping = rack.count > 0;
        rack.reaping
    }

    /// How many wait for an origin.
    #[cfg(test)]
    pub(super) fn waiting(&self, origin: &Origin) -> usize {
        self.rack().idle.get(origin).map_or(0, Vec::len)
    }
}

/// Runs as long as something waits.
async fn reap(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(REAP).await;
        match pool.upgrade() {
            Some(pool) if pool.sweep() => {}
            _ => return,
        }
    }
}
