//! One destination: who may speak to it now, and who waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use semel_ledger::Millis;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::breaker::Breaker;
use super::rate::Pace;
use super::stats::Stats;
use super::{DestinationLimits, DestinationState, lock};
use crate::outgoing::{Origin, millis};

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

/// A destination.
pub(super) struct Destination {
    origin: Origin,
    limits: DestinationLimits,
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    pace: Mutex<Pace>,
    pub(super) breaker: Mutex<Breaker>,
    pub(super) stats: Stats,
}

impl Destination {
    pub(super) fn new(origin: Origin, limits: DestinationLimits) -> Destination {
        Destination {
            origin,
            slots: Arc::new(Semaphore::new(limits.concurrency.max(1))),
            waiting: AtomicUsize::new(0),
            pace: Mutex::default(),
            breaker: Mutex::new(Breaker::new(limits.breaker)),
            stats: Stats::default(),
            limits,
        }
    }

    pub(super) fn state(&self, now: Instant) -> DestinationState {
        let breaker = lock(&self.breaker);
        let free = self.slots.available_permits();
        DestinationState {
            origin: self.origin.to_string(),
            in_flight: self.limits.concurrency.max(1).saturating_sub(free),
            waiting: self.waiting.load(Ordering::Relaxed),
            failures: breaker.failures(),
            breaker: breaker.state(now),
            name: format!("{}:{}", self.origin.host, self.origin.port),
            limits: self.limits,
            calls: self.stats.read(),
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
    pub(super) fn may_pass(&self, now: Instant) -> Result<(), Held> {
        let breaker = lock(&self.breaker);
        breaker
            .may_pass(now)
            .map_err(|after| self.open(&breaker, after))
    }

    /// Counts a request in; tells whether it is the one that tries a destination left alone.
    pub(super) fn begin(&self, now: Instant) -> Result<bool, Held> {
        let mut breaker = lock(&self.breaker);
        let begun = breaker.begin(now);
        begun.map_err(|after| self.open(&breaker, after))
    }

    /// A slot, if there is neither a rate to keep nor a queue to join.
    pub(super) fn slot_at_once(&self) -> Option<OwnedSemaphorePermit> {
        if self.limits.rate.is_some() {
            return None;
        }
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    /// A slot, once its time has come and one is free.
    pub(super) async fn turn(&self, by: Instant) -> Result<OwnedSemaphorePermit, Held> {
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
