//! How hard a destination may be pressed.
//!
//! Owns, for each origin, a rate, a number of requests at once, and a circuit breaker. Waiting is
//! bounded in time and in count: whoever cannot be let through is told when to come back, and
//! nothing of its request was sent. Leaves to its callers what counts as a failure.

mod breaker;
mod destination;
mod rate;
mod stats;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_act::Breaker;
use semel_ledger::Millis;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::outgoing::Origin;
use destination::Destination;

pub(crate) use destination::Held;
pub(crate) use stats::Ended;

pub use breaker::{BreakerSettings, BreakerState};
pub use rate::Rate;
pub use stats::CallStats;

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
    /// Host and port.
    pub name: String,
    /// Requests under way.
    pub in_flight: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Failures since the last success.
    pub failures: u32,
    /// Whether it is left alone.
    pub breaker: BreakerState,
    /// How hard it may be pressed.
    pub limits: DestinationLimits,
    /// What came of the calls to it.
    pub calls: CallStats,
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
    began: Instant,
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
            began: Instant::now(),
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

impl Pass {
    /// Counts the call, which has ended.
    pub(crate) fn count(&self, ended: Ended) {
        let took = self.began.elapsed();
        self.destination.stats.count(ended, took);
    }

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

impl From<DestinationState> for semel_act::Destination {
    fn from(it: DestinationState) -> semel_act::Destination {
        let rate = |rate: Rate| format!("{}/{}", rate.requests, rate.per);
        semel_act::Destination {
            name: it.name,
            calls: it.calls.took.iter().sum(),
            failed: it.calls.failed,
            unknown: it.calls.unknown,
            took: it.calls.took,
            took_in_all: it.calls.in_all,
            open: it.in_flight,
            waiting: it.waiting,
            rate: it.limits.rate.map(rate),
            concurrency: Some(it.limits.concurrency),
            breaker: match it.breaker {
                BreakerState::Closed => Breaker::Closed,
                BreakerState::Open(left) => Breaker::Open(left),
                BreakerState::HalfOpen => Breaker::HalfOpen,
            },
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
