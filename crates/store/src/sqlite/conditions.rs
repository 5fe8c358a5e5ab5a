//! A question as the WHERE of a statement; every value is bound.

use rusqlite::types::Value;
use semel_ledger::{State, Time};

use super::runs::key_hash;
use crate::query::{Filter, ReceiptFilter};
use crate::run::{RunFilter, RunState};

/// As the index on open effects spells it.
const OPEN: &str = "effects.state = 0 OR effects.state = 3 OR effects.state = 4";

/// When the present state began; the value is the present time.
const BEGAN: &str =
    "CASE WHEN effects.state = 0 AND effects.lease_until <= ? THEN effects.lease_until
          ELSE effects.changed_at END";

#[derive(Default)]
struct Conditions {
    terms: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn add(&mut self, term: &str, value: impl Into<Value>) {
        self.terms.push(term.to_owned());
        self.values.push(value.into());
    }

    fn finish(self) -> (String, Vec<Value>) {
        if self.terms.is_empty() {
            return ("TRUE".to_owned(), self.values);
        }
        (self.terms.join(" AND "), self.values)
    }
}

pub(super) fn effect_conditions(filter: &Filter, now: Time) -> (String, Vec<Value>) {
    let mut found = Conditions::default();
    if let Some(scope) = &filter.scope {
        found.add(
            "effects.scope = (SELECT id FROM scopes WHERE name = ?)",
            scope.as_str().to_owned(),
        );
    }
    if let Some(id) = &filter.external_id {
        found.add("effects.external_id = ?", id.clone());
    }
    if let Some(prefix) = &filter.key_prefix {
        found.add("substr(effects.key, 1, length(?)) = ?", prefix.clone());
        found.values.push(prefix.clone().into());
    }
    for (bound, comparison) in [(filter.since, ">="), (filter.until, "<")] {
        let Some(bound) = bound else { continue };
        let began = format!("{BEGAN} {comparison} ?");
        found.add(&began, now.0);
        found.values.push(bound.0.into());
    }
    if let Some((from, to)) = filter.hashes {
        found.add("effects.id BETWEEN ? AND ?", from.to_vec());
        found.values.push(to.to_vec().into());
    }
    if let Some(after) = filter.after {
        found.add("effects.seq < ?", after);
    }
    states(&mut found, &filter.states, now);
    found.finish()
}

/// A claim whose lease ran out already counts as unknown, whether or not a duty has been by.
fn states(found: &mut Conditions, states: &[State], now: Time) {
    if states.is_empty() {
        return;
    }
    if states.iter().all(|state| state.is_open()) {
        found.terms.push(format!("({OPEN})"));
    }
    let mut any = Vec::new();
    for state in states {
        any.push(match state {
            State::Claimed => "(effects.state = 0 AND effects.lease_until > ?)".to_owned(),
            State::Unknown => {
                "(effects.state = 3 OR (effects.state = 0 AND effects.lease_until <= ?))".to_owned()
            }
            other => format!("effects.state = {}", *other as i64),
        });
        if matches!(state, State::Claimed | State::Unknown) {
            found.values.push(now.0.into());
        }
    }
    found.terms.push(format!("({})", any.join(" OR ")));
}

pub(super) fn receipt_conditions(filter: &ReceiptFilter) -> (String, Vec<Value>) {
    let mut found = Conditions::default();
    if let Some(effect) = filter.effect {
        found.add(
            "receipts.effect = (SELECT seq FROM effects WHERE id = ?)",
            effect.to_vec(),
        );
    }
    if let Some(scope) = &filter.scope {
        found.add("scopes.name = ?", scope.as_str().to_owned());
    }
    if let Some(verdict) = filter.verdict {
        found.add("receipts.verdict = ?", verdict.name().to_owned());
    }
    if let Some(since) = filter.since {
        found.add("receipts.at >= ?", since.0);
    }
    if let Some(after) = filter.after {
        found.add("receipts.seq < ?", after);
    }
    found.finish()
}

pub(super) fn run_conditions(filter: &RunFilter) -> (String, Vec<Value>) {
    let mut found = Conditions::default();
    match filter.parent {
        // Both terms: the index covers those that have one, the question is for this one's.
        Some(parent) => found.add(
            "runs.parent IS NOT NULL AND runs.parent = ?",
            parent.0.to_vec(),
        ),
        None => found.terms.push("runs.parent IS NULL".to_owned()),
    }
    if let Some(flow) = &filter.flow {
        found.add(
            "runs.flow = (SELECT id FROM scopes WHERE name = ?)",
            flow.clone(),
        );
    }
    if let Some(key) = &filter.key {
        found.add("runs.key_hash = ? AND runs.key = ?", key_hash(key));
        found.values.push(key.clone().into());
    }
    if let Some(since) = filter.since {
        found.add("runs.created_at >= ?", since.0);
    }
    if let Some(until) = filter.until {
        found.add("runs.created_at < ?", until.0);
    }
    if let Some(changed) = filter.changed {
        found.add("runs.changed_at >= ?", changed.0);
    }
    if let Some(before) = filter.before {
        found.add("runs.id < ?", before.0.to_vec());
    }
    if !filter.states.is_empty() {
        let states = filter
            .states
            .iter()
            .map(|state| (*state as i64).to_string());
        let states: Vec<String> = states.collect();
        found
            .terms
            .push(format!("runs.state IN ({})", states.join(", ")));
        if !filter.states.contains(&RunState::Done) {
            found.terms.push("runs.state <> 6".to_owned());
        }
    }
    found.finish()
}
