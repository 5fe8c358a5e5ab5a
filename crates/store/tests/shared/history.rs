//! What was acknowledged, and whether a ledger that was opened again still has it.
//!
//! Every effect of a workload has one writer at a time, so its acknowledged states have an order.
//! After a crash an effect must be in the last state acknowledged before it, or in a later one
//! (written, but the answer did not get out). Anything else is a loss or an invention: an older
//! state, a grant that nobody was given, a result of other bytes.

use std::collections::BTreeMap;
use std::collections::HashMap;

use semel_ledger::{EffectId, Entry};
use semel_store::{Filter, Record, Store, StoreError};

/// One state of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) entry: Entry,
    pub(crate) result: Option<Box<str>>,
}

/// The states of every effect, each with the moment at which it was known to be durable.
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
    Ok(Known {
        entry: record.entry,
        result,
    })
}

impl History {
    /// A state of an effect was acknowledged; `at` is read after the answer.
    pub(crate) fn acknowledged(&mut self, effect: &EffectId, at: usize, known: Known) {
        let states = self.states.entry(name(effect)).or_default();
        if states.last().is_none_or(|(_, last)| *last != known) {
            states.push((at, known));
        }
    }

    /// Notes everything that the store now holds as acknowledged.
    pub(crate) fn acknowledge_all(&mut self, found: Found, at: usize) {
        for (name, (known, blocked)) in found.0 {
            let states = self.states.entry(name.clone()).or_default();
            if states.last().is_none_or(|(_, last)| *last != known) {
                states.push((at, known));
            }
            self.blocked.entry(name).or_default().push((at, blocked));
        }
    }

    /// Receipts are evidence, not safety: those that could not be written are not missed.
    pub(crate) fn forget_receipts(&mut self) {
        self.blocked.clear();
    }

    /// How many effects were acknowledged at all.
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
                None => return Ok(Found(found)),
            }
        }
    }

    /// Every effect that was found.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
