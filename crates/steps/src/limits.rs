//! How hard a destination may be pressed.
//!
//! Owns, for each origin, a rate, a number of requests at once, and a circuit breaker. Waiting is
//! bounded in time and in count: whoever cannot be let through is told when to come back, and
//! nothing of its request was sent. Leaves to its callers what counts as a failure.

mod breaker;
mod rate;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use semel_ledger::Millis;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::outgoing::{Origin, millis};
use breaker::Breaker;
use rate::Pace;

pub use breaker::{BreakerSettings, BreakerState};
pub use rate::Rate;

/// How many destinations are remembered; those with nothing under way make room.
const MOST_DESTINATIONS: usize = 4096;

/// How hard one destination may be pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestinationLimits {
    /// Requests at once.
    pub concurrency: usize,
    /// Requests in a time.
    pub rate: Option<Rate>,
    /// How many may wait for their turn.
    pub queue: usize,
    /// How long one may wait for its turn.
    pub wait: Millis,
    /// When to leave it alone for a while.
    pub breaker: Option<BreakerSettings>,
}

impl Default for DestinationLimits {
    fn default() -> DestinationLimits {
        DestinationLimits {
            concurrency: 64,
            rate: None,
            queue: 1024,
            wait: Millis::seconds(10),
            breaker: Some(BreakerSettings::default()),
        }
    }
}

/// The limits of all destinations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitSettings {
    /// Of those that are not named.
    pub default: DestinationLimits,
    /// Of those that are: `host` or `host:port`, in lower case.
    pub hosts: BTreeMap<String, DestinationLimits>,
}

impl LimitSettings {
    fn of(&self, origin: &Origin) -> DestinationLimits {
        let host: &str = &origin.host;
        let named = self.hosts.get(&format!("{host}:{}", origin.port));
        *named
            .or_else(|| self.hosts.get(host))
            .unwrap_or(&self.default)
    }
}

/// How a destination is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationState {
    /// Scheme, host and port.
    pub origin: String,
    /// Requests under way.
    pub in_flight: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Failures since the last success.
    pub failures: u32,
    /// Whether it is left alone.
    pub breaker: BreakerState,
}

/// Why a request is not let through; nothing of it was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Held {
    #[error("{origin} is left alone for {after} after {failures} failures in a row")]
    Open {
        origin: Origin,
        failures: u32,
        after: Millis,
    },
    #[error("{limit} requests already wait for {origin}")]
    QueueFull {
        origin: Origin,
        limit: usize,
        after: Millis,
    },
    #[error("no turn at {origin} within {within}")]
    NoTurn {
        origin: Origin,
        within: Millis,
        after: Millis,
    },
}

impl Held {
    /// When to come back.
    pub(crate) fn retry_after(&self) -> Millis {
        match self {
            Held::Open { after, .. }
            | Held::QueueFull { after, .. }
            | Held::NoTurn { after, .. } => *after,
        }
    }
}

/// When to come back to a queue that was full.
const QUEUE_PAUSE: Millis = Millis::seconds(1);

struct Destination {
    origin: Origin,
    limits: DestinationLimits,
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    pace: Mutex<Pace>,
    breaker: Mutex<Breaker>,
}

/// The destinations.
pub(crate) struct Limits {
    settings: LimitSettings,
    known: Mutex<HashMap<Origin, Arc<Destination>>>,
}

/// Leave to send one request. Dropped without a word, it tells nothing about the destination.
pub(crate) struct Pass {
    destination: Arc<Destination>,
    probe: bool,
    _slot: OwnedSemaphorePermit,
}

impl Limits {
    pub(crate) fn new(settings: LimitSettings) -> Limits {
        Limits {
            settings,
            known: Mutex::default(),
        }
    }

    /// Waits for a turn, at most until `by`.
    pub(crate) async fn enter(&self, origin: &Origin, by: Instant) -> Result<Pass, Held> {
        let destination = self.destination(origin);
        destination.may_pass(Instant::now())?;
        let slot = match destination.slot_at_once() {
            Some(slot) => slot,
            None => destination.turn(by).await?,
        };
        // Much may have happened while it waited.
        let probe = destination.begin(Instant::now())?;
        Ok(Pass {
            destination,
            probe,
            _slot: slot,
        })
    }

    fn destination(&self, origin: &Origin) -> Arc<Destination> {
        let mut known = lock(&self.known);
        if let Some(destination) = known.get(origin) {
            return Arc::clone(destination);
        }
        if known.len() >= MOST_DESTINATIONS {
            known.retain(|_, destination| Arc::strong_count(destination) > 1);
        }
        let destination = Arc::new(Destination::new(origin.clone(), self.settings.of(origin)));
        known.insert(origin.clone(), Arc::clone(&destination));
        destination
    }

    /// How all destinations are doing, by name.
    pub(crate) fn states(&self) -> Vec<DestinationState> {
        let now = Instant::now();
        let mut states: Vec<_> = lock(&self.known).values().map(|it| it.state(now)).collect();
        states.sort_by(|a, b| a.origin.cmp(&b.origin));
        states
    }
}

impl Destination {
    fn new(origin: Origin, limits: DestinationLimits) -> Destination {
        Destination {
            origin,
            slots: Arc::new(Semaphore::new(limits.concurrency.max(1))),
            waiting: AtomicUsize::new(0),
            pace: Mutex::default(),
            breaker: Mutex::new(Breaker::new(limits.breaker)),
            limits,
        }
    }

    fn state(&self, now: Instant) -> DestinationState {
        let breaker = lock(&self.breaker);
        let free = self.slots.available_permits();
        DestinationState {
            origin: self.origin.to_string(),
            in_flight: self.limits.concurrency.max(1).saturating_sub(free),
            waiting: self.waiting.load(Ordering::Relaxed),
            failures: breaker.failures(),
            breaker: breaker.state(now),
        }
    }

    fn open(&self, breaker: &Breaker, after: Duration) -> Held {
        Held::Open {
            origin: self.origin.clone(),
            failures: breaker.failures(),
            after: millis(after),
        }
    }

    /// Turns those away who would only wait to be turned away.
    fn may_pass(&self, now: Instant) -> Result<(), Held> {
        let breaker = lock(&self.breaker);
        breaker
            .may_pass(now)
            .map_err(|after| self.open(&breaker, after))
    }

    /// Counts a request in; tells whether it is the one that tries a destination left alone.
    fn begin(&self, now: Instant) -> Result<bool, Held> {
        let mut breaker = lock(&self.breaker);
        let begun = breaker.begin(now);
        begun.map_err(|after| self.open(&breaker, after))
    }

    /// A slot, if there is neither a rate to keep nor a queue to join.
    fn slot_at_once(&self) -> Option<OwnedSemaphorePermit> {
        if self.limits.rate.is_some() {
            return None;
        }
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    /// A slot, once its time has come and one is free.
    async fn turn(&self, by: Instant) -> Result<OwnedSemaphorePermit, Held> {
        let _place = Place::take(self)?;
        let begun = Instant::now();
        let by = by.min(begun + Duration::from_millis(self.limits.wait.0));
        let no_turn = |after: Millis| Held::NoTurn {
            origin: self.origin.clone(),
            within: millis(by - begun),
            after,
        };
        if let Some(rate) = self.limits.rate {
            let at = lock(&self.pace)
                .reserve(rate, begun, by)
                .map_err(|at| no_turn(millis(at - begun)))?;
            sleep_until(at).await;
        }
        match timeout_at(by, Arc::clone(&self.slots).acquire_owned()).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(no_turn(QUEUE_PAUSE)),
        }
    }
}

/// A place in the queue.
struct Place<'d>(&'d Destination);

impl Place<'_> {
    fn take(destination: &Destination) -> Result<Place<'_>, Held> {
        let limit = destination.limits.queue;
        let before = destination.waiting.fetch_add(1, Ordering::AcqRel);
        let place = Place(destination);
        if before < limit {
            return Ok(place);
        }
        Err(Held::QueueFull {
            origin: destination.origin.clone(),
            limit,
            after: QUEUE_PAUSE,
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Pass {
    /// Tells how it went; nothing if it says nothing about the destination.
    pub(crate) fn report(mut self, healthy: Option<bool>) {
        let Some(healthy) = healthy else {
            return;
        };
        let probe = std::mem::take(&mut self.probe);
        lock(&self.destination.breaker).report(healthy, probe, Instant::now());
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.probe {
            lock(&self.destination.breaker).probe_lost();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
