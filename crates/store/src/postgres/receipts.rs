//! Receipts on their way into the table: in full, on their effect, and in the tallies.
//!
//! Counted in memory first, so that a storm on one key costs one update of its row.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tokio_postgres::types::ToSql;

use super::columns::text;
use super::pipeline::Pipeline;
use super::statements::Statements;
use crate::receipt::Receipt;

const HOUR: i64 = 3_600_000;

/// Refused claims, turned on their side.
#[derive(Default)]
pub(super) struct Blocked<'a> {
    full: Full<'a>,
    effects: Vec<Vec<u8>>,
    effect_counts: Vec<i64>,
    hours: Vec<i64>,
    scopes: Vec<&'a str>,
    verdicts: Vec<&'static str>,
    counts: Vec<i64>,
}

#[derive(Default)]
struct Full<'a> {
    id: Vec<&'a [u8]>,
    effect: Vec<Vec<u8>>,
    verdict: Vec<&'static str>,
    at: Vec<i64>,
    by: Vec<Option<Cow<'a, str>>>,
    attempt: Vec<i64>,
    count: Vec<i64>,
}

impl<'a> Blocked<'a> {
    pub(super) fn of(receipts: &[&'a Receipt]) -> Blocked<'a> {
        let mut blocked = Blocked::default();
        let mut effects = BTreeMap::<[u8; 16], i64>::new();
        let mut tallies = BTreeMap::<(i64, &str, &'static str), i64>::new();
        for receipt in receipts {
            let effect = receipt.effect.hash();
            let count = receipt.count.cast_signed();
            let hour = receipt.at.0 - receipt.at.0.rem_euclid(HOUR);
            let scope = receipt.effect.scope.as_str();
            *effects.entry(effect).or_default() += count;
            *tallies
                .entry((hour, scope, receipt.verdict.name()))
                .or_default() += count;
            if !receipt.counted {
                blocked.full.push(effect, receipt);
            }
        }
        for (effect, count) in effects {
            blocked.effects.push(effect.to_vec());
            blocked.effect_counts.push(count);
        }
        for ((hour, scope, verdict), count) in tallies {
            blocked.hours.push(hour);
            blocked.scopes.push(scope);
            blocked.verdicts.push(verdict);
            blocked.counts.push(count);
        }
        blocked
    }

    /// The effects whose claims were refused.
    pub(super) fn effects(&self) -> impl Iterator<Item = Vec<u8>> {
        self.effects.iter().cloned()
    }

    pub(super) fn pipe<'c>(&'c self, pipe: &mut Pipeline<'c>, statements: &'c Statements) {
        if self.effects.is_empty() {
            return;
        }
        if !self.full.id.is_empty() {
            pipe.execute(&statements.receipts, self.full.parameters());
        }
        pipe.execute(
            &statements.blocked,
            vec![&self.effects, &self.effect_counts],
        );
        pipe.execute(
            &statements.tallies,
            vec![&self.hours, &self.scopes, &self.verdicts, &self.counts],
        );
    }
}

impl<'a> Full<'a> {
    fn push(&mut self, effect: [u8; 16], receipt: &'a Receipt) {
        self.id.push(&receipt.id.0);
        self.effect.push(effect.to_vec());
        self.verdict.push(receipt.verdict.name());
        self.at.push(receipt.at.0);
        self.by.push(receipt.by.as_deref().map(text));
        self.attempt.push(receipt.attempt.into());
        self.count.push(receipt.count.cast_signed());
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        vec![
            &self.id,
            &self.effect,
            &self.verdict,
            &self.at,
            &self.by,
            &self.attempt,
            &self.count,
        ]
    }
}
