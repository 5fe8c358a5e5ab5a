//! Runs that wait for an event, in memory.

use std::collections::{BTreeMap, BTreeSet};

use semel_ledger::Time;

use super::runs::{Row, Runs};
use crate::listen::{Listen, Topic};
use crate::run::RunId;

/// Who listens where, and for what.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    /// By run and step.
    pub(super) places: BTreeMap<(RunId, Box<str>), [u8; 16]>,
    pub(super) topics: BTreeSet<Topic>,
}

impl Runs {
    pub(super) fn listen(&mut self, listen: Listen) -> bool {
        if !self.rows.get(&listen.run).is_some_and(Row::is_open) {
            return false;
        }
        let step = (listen.run, listen.step);
        self.listeners.places.insert(step, listen.place);
        self.listeners.topics.insert(Topic {
            source: listen.source,
            path: listen.path,
        });
        true
    }

    pub(super) fn hush(&mut self, run: RunId, step: Box<str>) {
        self.listeners.places.remove(&(run, step));
    }

    pub(super) fn tell(&mut self, place: [u8; 16], note: &str, now: Time) -> Vec<RunId> {
        let places = self.listeners.places.iter();
        let there = places.filter(|(_, at)| **at == place);
        let runs: BTreeSet<RunId> = there.map(|((run, _), _)| *run).collect();
        let told = |run: &RunId| self.mail(*run, note.into(), now);
        runs.into_iter().filter(told).collect()
    }
}
