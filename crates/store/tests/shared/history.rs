//! What was acknowledged, and whether a ledger that was opened again still has it.
//!
//! Every effect and every run of a workload has one writer at a time, so its acknowledged states
//! have an order. After a crash it must be in the last state acknowledged before it, or in a later one
//! (written, but the answer did not get out). Anything else is a loss or an invention: an older
//! state, a grant that nobody was given, a result of other bytes.

use std::collections::BTreeMap;
use std::collections::HashMap;

use semel_ledger::{EffectId, Entry};
use semel_store::run::{Loaded, RunFilter, RunId};
use semel_store::{Filter, Record, Store, StoreError};

/// One state of an effect or of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Effect {
        entry: Entry,
        result: Option<Box<str>>,
    },
    /// With its journal and its mail.
    Run(Box<Loaded>),
}

/// The states of every effect and run, each with the moment at which it was known to be durable.
#[derive(Debug, Default)]
pub(crate) struct History {
    states: BTreeMap<String, Vec<(usize, Known)>>,
    blocked: BTreeMap<String, Vec<(usize, u64)>>,
}

/// What a ledger holds, read through a [`Store`].
#[derive(Debug)]
pub(crate) struct Found(HashMap<String, (Known, u64)>);

fn name(effect: &EffectId) -> String {
    format!("{} {}", effect.scope.as_str(), effect.key.as_str())
}

async fn known(store: &Store, record: &Record) -> Result<Known, StoreError> {
    let result = match &record.result {
        Some(stored) => Some(store.text(stored).await?.unwrap_or_else(|| "lost".into())),
        None => None,
    };
    Ok(Known::Effect {
        entry: record.entry,
        result,
    })
}

/// All runs, children too.
async fn runs(store: &Store) -> Result<Vec<Loaded>, StoreError> {
    let all = RunFilter {
        limit: 1000,
        ..RunFilter::default()
    };
    let mut ids: Vec<RunId> = Vec::new();
    for root in store.runs(&all).await?.items {
        let parent = Some(root.id);
        let children = RunFilter {
            parent,
            ..all.clone()
        };
        ids.push(root.id);
        ids.extend(store.runs(&children).await?.items.iter().map(|run| run.id));
    }
    store.load_runs(&ids).await
}

impl History {
    /// A state of an effect was acknowledged; `at` is read after the answer.
    pub(crate) fn acknowledged(&mut self, effect: &EffectId, at: usize, known: Known) {
        self.note(name(effect), at, known);
    }

    /// A state of a run was acknowledged.
    pub(crate) fn acknowledged_run(&mut self, loaded: Loaded, at: usize) {
        self.note(loaded.run.id.text(), at, Known::Run(Box::new(loaded)));
    }

    fn note(&mut self, name: String, at: usize, known: Known) {
        let states = self.states.entry(name).or_default();
        if states.last().is_none_or(|(_, last)| *last != known) {
            states.push((at, known));
        }
    }

    /// Notes everything that the store now holds as acknowledged.
    pub(crate) fn acknowledge_all(&mut self, found: Found, at: usize) {
        for (name, (known, blocked)) in found.0 {
            self.note(name.clone(), at, known);
            self.blocked.entry(name).or_default().push((at, blocked));
        }
    }

    /// Receipts are evidence, not safety: those that could not be written are not missed.
    pub(crate) fn forget_receipts(&mut self) {
        self.blocked.clear();
    }

    /// How many effects and runs were acknowledged at all.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// What `found` lacks of what was acknowledged by `cut`, or has and cannot have.
    pub(crate) fn losses(&self, found: &Found, cut: usize) -> Vec<String> {
        let mut losses = Vec::new();
        for (name, states) in &self.states {
            let acknowledged = states.iter().take_while(|(at, _)| *at <= cut).count();
            match found.0.get(name) {
                None if acknowledged > 0 => losses.push(format!("{name} is gone")),
                None => {}
                Some((known, _)) => {
                    let allowed = &states[acknowledged.saturating_sub(1)..];
                    if !allowed.iter().any(|(_, state)| state == known) {
                        let last = allowed.first();
                        losses.push(format!("{name} is {known:?}, acknowledged was {last:?}"));
                    }
                }
            }
        }
        let invented = found
            .0
            .keys()
            .filter(|name| !self.states.contains_key(*name));
        losses.extend(invented.map(|name| format!("{name} was never asked for")));
        losses.extend(self.lost_receipts(found, cut));
        losses
    }

    fn lost_receipts(&self, found: &Found, cut: usize) -> Vec<String> {
        let mut lost = Vec::new();
        for (name, counts) in &self.blocked {
            let due = counts.iter().take_while(|(at, _)| *at <= cut).last();
            let due = due.map_or(0, |(_, count)| *count);
            let has = found.0.get(name).map_or(0, |(_, blocked)| *blocked);
            if has < due {
                lost.push(format!("{name} has {has} receipts of {due}"));
            }
        }
        lost
    }
}

impl Found {
    /// Reads the whole ledger.
    pub(crate) async fn read(store: &Store) -> Result<Found, StoreError> {
        let mut filter = Filter {
            limit: 500,
            ..Filter::default()
        };
        let mut found = HashMap::new();
        loop {
            let page = store.list(&filter).await?;
            for record in &page.items {
                let known = known(store, record).await?;
                found.insert(name(&record.effect), (known, record.blocked));
            }
            match page.next {
                Some(next) => filter.after = Some(next),
                None => break,
            }
        }
        for loaded in runs(store).await? {
            let name = loaded.run.id.text();
            found.insert(name, (Known::Run(Box::new(loaded)), 0));
        }
        Ok(Found(found))
    }

    /// Every effect and run that was found.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
