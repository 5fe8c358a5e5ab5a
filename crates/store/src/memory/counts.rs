//! Counts in memory.

use std::collections::BTreeMap;

use semel_ledger::{State, Time};

use super::{Memory, World};
use crate::count::{Cell, Count, Counted, Span, Standing, cells};
use crate::error::StoreError;
use crate::run::RunState;

impl World {
    pub(super) fn count(&mut self, counts: &[Count]) {
        for (cell, count) in cells(counts) {
            *self.counts.entry(cell).or_default() += count;
        }
    }

    pub(super) fn sweep_counts(&mut self, span: Span, until: Time, limit: u32) -> usize {
        let old = |cell: &&Cell| cell.span == span.seconds() && cell.at < until.0;
        let old = self.counts.keys().filter(old).take(limit as usize);
        let old: Vec<Cell> = old.cloned().collect();
        for cell in &old {
            self.counts.remove(cell);
        }
        old.len()
    }
}

impl Memory {
    pub(crate) async fn counts(
        &self,
        span: Span,
        part: String,
        since: Time,
    ) -> Result<Vec<Counted>, StoreError> {
        let world = self.world();
        let wanted = |(cell, _): &(&Cell, &u64)| {
            cell.span == span.seconds() && cell.part == part && cell.at >= since.0
        };
        let counted = |(cell, count): (&Cell, &u64)| Counted {
            at: Time(cell.at),
            name: cell.name.clone(),
            what: cell.what.clone(),
            count: *count,
        };
        Ok(world.counts.iter().filter(wanted).map(counted).collect())
    }

    pub(crate) async fn counts_together(
        &self,
        span: Span,
        part: String,
        since: Time,
        only: &[&'static str],
    ) -> Result<Vec<Counted>, StoreError> {
        let mut together: BTreeMap<(Box<str>, Box<str>), Counted> = BTreeMap::new();
        let all = self.counts(span, part, since).await?.into_iter();
        for counted in all.filter(|it| only.contains(&&*it.what)) {
            let name = (counted.name.clone(), counted.what.clone());
            match together.get_mut(&name) {
                Some(all) => all.count += counted.count,
                None => drop(together.insert(name, counted)),
            }
        }
        Ok(together.into_values().collect())
    }

    pub(crate) async fn standing(&self) -> Result<Standing, StoreError> {
        let world = self.world();
        let mut counts = [0; RunState::ALL.len()];
        let runs = world.runs.rows.values().map(|row| &row.run);
        for run in runs.filter(|run| run.parent.is_none() && run.state.is_open()) {
            counts[run.state as usize] += 1;
        }
        let counted = RunState::ALL.into_iter().zip(counts);
        let waits = |record: &&crate::record::Record| record.entry.state == State::Review;
        Ok(Standing {
            runs: counted.filter(|(_, count)| *count > 0).collect(),
            reviews: world.effects.values().filter(waits).count() as u64,
        })
    }
}
