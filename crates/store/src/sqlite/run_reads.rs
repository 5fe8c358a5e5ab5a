//! Not there yet.
#![allow(clippy::unused_async, missing_docs)]
use super::Sqlite;
use crate::error::StoreError;
use crate::query::Page;
use crate::run::{Ended, Loaded, Release, ReleaseId, Run, RunFilter, RunId, RunState};
use semel_ledger::{Scope, Time};

fn not_yet<T>() -> Result<T, StoreError> {
    Err(StoreError::Unavailable {
        source: "runs are not kept in this store yet".into(),
    })
}

impl Sqlite {
    pub(crate) async fn run(&self, _: RunId) -> Result<Option<Run>, StoreError> {
        not_yet()
    }
    pub(crate) async fn load_runs(&self, _: &[RunId]) -> Result<Vec<Loaded>, StoreError> {
        not_yet()
    }
    pub(crate) async fn runs(&self, _: RunFilter) -> Result<Page<Run, RunId>, StoreError> {
        not_yet()
    }
    pub(crate) async fn children(&self, _: RunId) -> Result<Vec<(RunState, u64)>, StoreError> {
        not_yet()
    }
    pub(crate) async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        not_yet()
    }
    pub(crate) async fn ended_runs(&self, _: RunId, _: usize) -> Result<Vec<Ended>, StoreError> {
        not_yet()
    }
    pub(crate) async fn releases(&self, _: Option<&str>) -> Result<Vec<Release>, StoreError> {
        not_yet()
    }
    pub(crate) async fn release(&self, _: ReleaseId) -> Result<Option<Release>, StoreError> {
        not_yet()
    }
    pub(crate) async fn live(&self) -> Result<Vec<Release>, StoreError> {
        not_yet()
    }
    pub(crate) async fn live_revision(&self) -> Result<i64, StoreError> {
        not_yet()
    }
    pub(crate) async fn cursor(&self, _: &str) -> Result<Option<Box<str>>, StoreError> {
        not_yet()
    }
    pub(crate) async fn done_keys(&self, _: &Scope) -> Result<u64, StoreError> {
        not_yet()
    }
}
pub(super) fn refuse(changes: &[crate::change::Change]) -> Result<(), StoreError> {
    use crate::change::Change;
    let new = |change: &Change| {
        !matches!(
            change,
            Change::Effect(_)
                | Change::Blob(_)
                | Change::Token(_)
                | Change::Node(_)
                | Change::Receipts(_)
                | Change::Free { .. }
        )
    };
    if changes.iter().any(new) {
        not_yet()
    } else {
        Ok(())
    }
}
