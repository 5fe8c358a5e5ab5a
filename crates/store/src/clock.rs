//! What time it is, without surprises.
//!
//! Leases are promises about elapsed time, so they must not move when somebody sets the wall
//! clock. [`SteadyClock`] reads the wall once, then counts on a clock that only runs forward;
//! a wall that later disagrees is reported, not followed.

use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use semel_ledger::{Millis, Time};

/// Where `now` comes from.
pub trait Clock: Debug + Send + Sync {
    /// The present instant.
    fn now(&self) -> Time;

    /// How far the machine's wall clock is ahead of this clock, in milliseconds.
    fn wall_drift(&self) -> i64 {
        0
    }

    /// Which boot of which machine this clock counts on and how long ago that was, in milliseconds;
    /// `None` for a clock that is nobody else's.
    fn boot(&self) -> Option<([u8; 16], i64)> {
        None
    }

    /// Takes over the time of an authority (the database), `ahead` milliseconds ahead of ours.
    fn adjust(&self, ahead: i64);
}

/// The wall clock as it was at the start, carried on by elapsed time.
#[derive(Debug)]
pub struct SteadyClock {
    booted_at_start: i64,
    wall_at_start: i64,
    adjusted: AtomicI64,
}

impl SteadyClock {
    /// Starts from the wall clock, but not before `floor`: time on record is never gone back on.
    #[must_use]
    pub fn start(floor: Time) -> SteadyClock {
        let wall_at_start = wall_millis().max(floor.0);
        SteadyClock {
            booted_at_start: since_boot_millis(),
            wall_at_start,
            adjusted: AtomicI64::new(0),
        }
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Time {
        let elapsed = since_boot_millis() - self.booted_at_start;
        Time(self.wall_at_start + elapsed + self.adjusted.load(Ordering::Relaxed))
    }

    fn wall_drift(&self) -> i64 {
        wall_millis() - self.now().0
    }

    fn boot(&self) -> Option<([u8; 16], i64)> {
        let id = std::fs::read("/proc/sys/kernel/random/boot_id").ok()?;
        let mut name = [0; 16];
        name.copy_from_slice(&blake3::hash(&id).as_bytes()[..16]);
        Some((name, since_boot_millis()))
    }

    fn adjust(&self, ahead: i64) {
        self.adjusted.fetch_add(ahead, Ordering::Relaxed);
    }
}

/// Time since the machine started. It runs forward only and, unlike most such clocks, also while
/// the machine sleeps: a lease must not outlive the sleep of who gave it.
fn since_boot_millis() -> i64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec * 1_000 + now.tv_nsec / 1_000_000
}

/// The machine's wall clock.
#[must_use]
pub fn wall_millis() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, whole_millis)
}

fn whole_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// A clock that moves only when told, for tests and simulations.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    wall_drift: AtomicI64,
}

impl ManualClock {
    /// Starts at `now`.
    #[must_use]
    pub fn at(now: Time) -> ManualClock {
        ManualClock {
            now: AtomicI64::new(now.0),
            wall_drift: AtomicI64::new(0),
        }
    }

    /// Somebody sets the machine's wall clock, `ahead` milliseconds ahead of this one.
    pub fn set_wall(&self, ahead: i64) {
        self.wall_drift.store(ahead, Ordering::SeqCst);
    }

    /// Lets `span` pass.
    pub fn advance(&self, span: Millis) {
        self.now
            .fetch_add(i64::try_from(span.0).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time(self.now.load(Ordering::SeqCst))
    }

    fn wall_drift(&self) -> i64 {
        self.wall_drift.load(Ordering::SeqCst)
    }

    fn adjust(&self, _ahead: i64) {}
}
