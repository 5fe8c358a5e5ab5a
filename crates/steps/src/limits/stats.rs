//! What came of the calls to a destination, and how long they took: a few numbers, whatever their count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use semel_act::{LATENCIES, Outcome};
use semel_ledger::Millis;

use crate::outgoing::millis;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    Failed,
    Unknown,
}

impl Ended {
    pub(crate) fn of(outcome: &Outcome) -> Ended {
        match outcome {
            Outcome::Done(_) => Ended::Done,
            Outcome::Failed(_) => Ended::Failed,
            Outcome::Unknown { .. } => Ended::Unknown,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Stats {
    failed: AtomicU64,
    unknown: AtomicU64,
    took: [AtomicU64; LATENCIES.len() + 1],
    in_all: AtomicU64,
}

/// The numbers at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallStats {
    /// Definitely did nothing.
    pub failed: u64,
    /// May or may not have happened.
    pub unknown: u64,
    /// By how long they took.
    pub took: [u64; LATENCIES.len() + 1],
    /// How long all took together.
    pub in_all: Millis,
}

impl Stats {
    pub(super) fn count(&self, ended: Ended, took: Duration) {
        match ended {
            Ended::Done => {}
            Ended::Failed => drop(self.failed.fetch_add(1, Ordering::Relaxed)),
            Ended::Unknown => drop(self.unknown.fetch_add(1, Ordering::Relaxed)),
        }
        let took = millis(took).0;
        let place = LATENCIES.partition_point(|bound| *bound < took);
        self.took[place].fetch_add(1, Ordering::Relaxed);
        self.in_all.fetch_add(took, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> CallStats {
        let load = |it: &AtomicU64| it.load(Ordering::Relaxed);
        CallStats {
            failed: load(&self.failed),
            unknown: load(&self.unknown),
            took: self.took.each_ref().map(load),
            in_all: Millis(load(&self.in_all)),
        }
    }
}
