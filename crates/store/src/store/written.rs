//! How much was written: what a bench prints and a test holds a kind of step to.
//!
//! Counts what this process asked for and was told is durable; a look that changes nothing is none.

use std::sync::atomic::{AtomicU64, Ordering};

use semel_ledger::Command;

use crate::change::Change;
use crate::run::Next;

/// What was made durable so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Commits of runs that wrote something; those of different runs may share a sync.
    pub commits: u64,
    /// Steps of effects: claims, settlements and the like.
    pub effects: u64,
    /// Rows of journals.
    pub rows: u64,
}

impl Written {
    /// What came on top since then.
    #[must_use]
    pub fn since(self, before: Written) -> Written {
        Written {
            commits: self.commits - before.commits,
            effects: self.effects - before.effects,
            rows: self.rows - before.rows,
        }
    }

    pub(super) fn of(changes: &[Change]) -> Written {
        let looks = |change: &Change| match change {
            Change::Effect(effect) => matches!(effect.command, Command::Lapse),
            Change::Advance(advance) => advance.row.is_none() && matches!(advance.next, Next::GoOn),
            _ => false,
        };
        let count = |wanted: fn(&Change) -> bool| {
            let found = changes.iter().filter(|it| wanted(it) && !looks(it));
            found.count() as u64
        };
        let of_run = changes.iter().any(|it| matches!(it, Change::Advance(_)));
        let wrote = changes.iter().any(|it| !looks(it));
        Written {
            commits: u64::from(of_run && wrote),
            effects: count(|change| matches!(change, Change::Effect(_))),
            rows: count(|change| matches!(change, Change::Advance(it) if it.row.is_some())),
        }
    }
}

/// The same, while it grows.
#[derive(Debug, Default)]
pub(super) struct Tally {
    commits: AtomicU64,
    effects: AtomicU64,
    rows: AtomicU64,
}

impl Tally {
    pub(super) fn add(&self, written: Written) {
        self.commits.fetch_add(written.commits, Ordering::Relaxed);
        self.effects.fetch_add(written.effects, Ordering::Relaxed);
        self.rows.fetch_add(written.rows, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Written {
        Written {
            commits: self.commits.load(Ordering::Relaxed),
            effects: self.effects.load(Ordering::Relaxed),
            rows: self.rows.load(Ordering::Relaxed),
        }
    }
}
