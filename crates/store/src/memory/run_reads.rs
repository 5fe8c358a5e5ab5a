//! Asking for runs, releases and saved positions in memory.

use semel_ledger::{Scope, State, Time};

use super::Memory;
use super::runs::{Row, Runs};
use crate::error::StoreError;
use crate::listen::Topic;
use crate::query::Page;
use crate::run::{Ended, Loaded, Release, ReleaseId, Run, RunFilter, RunId, RunState};

impl Runs {
    fn load(&self, id: RunId) -> Option<Loaded> {
        let run = self.rows.get(&id)?.run.clone();
        let journal = self.journal.range((id, 0)..=(id, u32::MAX));
        Some(Loaded {
            run,
            journal: journal.map(|(_, row)| row.clone()).collect(),
            mail: self.mail_of(id).cloned().collect(),
        })
    }
}

impl Memory {
    pub(crate) async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        let world = self.world();
        Ok(world.runs.rows.get(&id).map(|row| row.run.clone()))
    }

    pub(crate) async fn load_runs(&self, ids: &[RunId]) -> Result<Vec<Loaded>, StoreError> {
        let world = self.world();
        Ok(ids.iter().filter_map(|id| world.runs.load(*id)).collect())
    }

    pub(crate) async fn runs(&self, filter: RunFilter) -> Result<Page<Run, RunId>, StoreError> {
        let world = self.world();
        let found = world.runs.rows.values().rev().map(|row| &row.run);
        let found = found.filter(|run| matches(run, &filter));
        let items = found.take(filter.limit + 1).cloned().collect();
        Ok(Page::new(items, filter.limit, |run: &Run| run.id))
    }

    pub(crate) async fn children(&self, id: RunId) -> Result<Vec<(RunState, u64)>, StoreError> {
        let world = self.world();
        let mut counts = [0; RunState::ALL.len()];
        for Row { run, .. } in world.runs.rows.values() {
            if run.parent == Some(id) {
                counts[run.state as usize] += 1;
            }
        }
        let counted = RunState::ALL.into_iter().zip(counts);
        Ok(counted.filter(|(_, count)| *count > 0).collect())
    }

    pub(crate) async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        let world = self.world();
        let resting = world.runs.rows.values().map(|row| &row.run);
        let resting = resting.filter(|run| run.node.is_none());
        Ok(resting.filter_map(|run| run.wake).min())
    }

    pub(crate) async fn ended_runs(
        &self,
        after: RunId,
        limit: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        let world = self.world();
        let behind = world.runs.rows.range(after..).map(|(_, row)| &row.run);
        let behind = behind.filter(|run| run.id != after).take(limit);
        Ok(behind.map(Ended::of).collect())
    }

    pub(crate) async fn releases(&self, flow: Option<&str>) -> Result<Vec<Release>, StoreError> {
        let world = self.world();
        let newest_first = world.releases.all.iter().rev();
        let wanted = |release: &&Release| flow.is_none_or(|flow| *release.flow == *flow);
        Ok(newest_first.filter(wanted).cloned().collect())
    }

    pub(crate) async fn release(&self, id: ReleaseId) -> Result<Option<Release>, StoreError> {
        let world = self.world();
        Ok(world.releases.all.iter().find(|it| it.id == id).cloned())
    }

    pub(crate) async fn live(&self) -> Result<Vec<Release>, StoreError> {
        let world = self.world();
        let mut live: Vec<Release> = world
            .releases
            .all
            .iter()
            .filter(|it| it.live)
            .cloned()
            .collect();
        live.sort_by(|a, b| a.flow.cmp(&b.flow));
        Ok(live)
    }

    pub(crate) async fn topics(&self) -> Result<Vec<Topic>, StoreError> {
        Ok(self.world().runs.listeners.topics.iter().cloned().collect())
    }

    pub(crate) async fn live_revision(&self) -> Result<i64, StoreError> {
        Ok(self.world().releases.live_revision)
    }

    pub(crate) async fn cursor(&self, name: &str) -> Result<Option<Box<str>>, StoreError> {
        Ok(self.world().cursors.get(name).cloned())
    }

    pub(crate) async fn done_keys(&self, scope: &Scope) -> Result<u64, StoreError> {
        let world = self.world();
        let done = world
            .effects
            .values()
            .filter(|record| record.effect.scope == *scope && record.entry.state == State::Done);
        Ok(done.count() as u64)
    }
}

fn matches(run: &Run, filter: &RunFilter) -> bool {
    run.parent == filter.parent
        && filter.flow.as_deref().is_none_or(|flow| *run.flow == *flow)
        && (filter.states.is_empty() || filter.states.contains(&run.state))
        && filter
            .key
            .as_deref()
            .is_none_or(|key| run.key.as_str() == key)
        && filter.since.is_none_or(|since| run.created_at >= since)
        && filter.until.is_none_or(|until| run.created_at < until)
        && filter.changed.is_none_or(|since| run.changed_at >= since)
        && filter.before.is_none_or(|before| run.id < before)
}
