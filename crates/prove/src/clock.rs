//! The time of a simulation: it stands still while anything is to be done, passes at once, and can be set.

use std::sync::atomic::{AtomicI64, Ordering};

use semel_ledger::{Millis, Time};
use semel_store::Clock;

/// When simulations begin, so that times in a story are believable: 2026-01-05T09:00:00Z.
const MONDAY: Time = Time(1_767_603_600_000);

/// The time of a simulation's runtime, what passed beside it, and how far the clock that shows it was set.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    began: tokio::time::Instant,
    beside: AtomicI64,
    set: AtomicI64,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch {
            began: tokio::time::Instant::now(),
            beside: AtomicI64::new(0),
            set: AtomicI64::new(0),
        }
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, span: Millis) {
        let millis = i64::try_from(span.0).unwrap_or(i64::MAX);
        self.beside.fetch_add(millis, Ordering::Relaxed);
    }

    /// Sets the clock that the nodes see; for everybody else no time passes by that.
    pub(crate) fn jump(&self, millis: i64) {
        self.set.fetch_add(millis, Ordering::Relaxed);
    }

    /// What time it is in the world.
    pub(crate) fn in_the_world(&self) -> Time {
        let passed = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Time(MONDAY.0 + passed + self.beside.load(Ordering::Relaxed))
    }
}

impl Clock for Stopwatch {
    fn now(&self) -> Time {
        Time(self.in_the_world().0 + self.set.load(Ordering::Relaxed))
    }

    fn adjust(&self, _ahead: i64) {}
}
