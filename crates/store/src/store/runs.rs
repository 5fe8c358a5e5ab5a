//! Runs, releases and saved positions as the store's callers see them.

use std::sync::atomic::Ordering;

use semel_ledger::{Command, Scope, Time};

use super::{Backend, Store, random_bytes};
use crate::change::{Answer, Change, EffectChange};
use crate::error::StoreError;
use crate::listen::Topic;
use crate::query::{MAX_PAGE, Page};
use crate::run::{
    Ended, Loaded, Release, ReleaseId, Run, RunFilter, RunId, RunState, Start, StartOutcome,
    Started,
};

/// How many runs are looked at for one page of those with a text.
const LOOKED_AT: usize = 20_000;

impl Store {
    /// A fresh name for a run, greater than every other that this store gave.
    #[must_use]
    pub fn new_run_id(&self) -> RunId {
        // The time in milliseconds, then a count within it.
        let time = self.now().0.unsigned_abs() << 16;
        let after = |last: u64| Some(time.max(last + 1));
        let order = (Ordering::Relaxed, Ordering::Relaxed);
        let last = self.last_run.fetch_update(order.0, order.1, after);
        let number = last.map_or(time, |last| time.max(last + 1));
        let mut id: [u8; 16] = random_bytes();
        id[..8].copy_from_slice(&number.to_be_bytes());
        RunId(id)
    }

    /// Starts a run together with the effect that stands for its key. A refused one leaves a
    /// receipt and, like a refused claim, needs no write if what is committed refuses it.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub fn start(
        &self,
        start: impl Into<Box<Start>>,
    ) -> impl Future<Output = Result<Started, StoreError>> + Send {
        self.start_or_receipt(start.into())
    }

    async fn start_or_receipt(&self, start: Box<Start>) -> Result<Started, StoreError> {
        let Some(once) = start.once.as_ref().filter(|once| claims(once)) else {
            return self.write_start(start).await;
        };
        if let Some(refused) = self.start_refused(once).await? {
            return Ok(refused);
        }
        let (effect, by) = (once.effect.clone(), once.content.by.clone());
        let hash = effect.hash();
        let mut started = self.write_start(start).await?;
        self.context.seen.add(hash);
        started.answered = started
            .answered
            .map(|answered| self.with_receipt(effect, hash, by, answered));
        Ok(started)
    }

    /// What [`Store::start`] answers if the effect came by lately and what is committed refuses it:
    /// whoever asks first need not make the run.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn start_refused(&self, once: &EffectChange) -> Result<Option<Started>, StoreError> {
        let hash = once.effect.hash();
        if !claims(once) || !self.context.seen.contains(hash) {
            return Ok(None);
        }
        let refused = self.refused_by_committed(once).await?;
        Ok(refused.map(|answered| {
            let (effect, by) = (once.effect.clone(), once.content.by.clone());
            Started {
                answered: Some(self.with_receipt(effect, hash, by, answered)),
                outcome: StartOutcome::Refused,
            }
        }))
    }

    async fn write_start(&self, start: Box<Start>) -> Result<Started, StoreError> {
        let mut answers = self.commit(vec![Change::Start(start)]).await?;
        match answers.pop() {
            Some(Answer::Started(started)) => Ok(*started),
            _ => Err(StoreError::Closed),
        }
    }

    /// One run.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        backend!(self, run(id))
    }

    /// One run with everything that is needed to go on with it.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn load_run(&self, id: RunId) -> Result<Option<Loaded>, StoreError> {
        Ok(self.load_runs(&[id]).await?.pop())
    }

    /// Runs with everything that is needed to go on with them, in the order of `ids`. Those that
    /// are not there are left out.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn load_runs(&self, ids: &[RunId]) -> Result<Vec<Loaded>, StoreError> {
        backend!(self, load_runs(ids))
    }

    /// The runs that match, newest first. With a text a page may be short, or empty, with more behind
    /// it: only so many runs are looked at for one.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Page<Run, RunId>, StoreError> {
        let filter = RunFilter {
            limit: filter.limit.clamp(1, MAX_PAGE),
            ..filter.clone()
        };
        match filter.text.as_deref().map(str::to_lowercase) {
            Some(text) => self.runs_with(&text, filter).await,
            None => backend!(self, runs(filter)),
        }
    }

    /// Looks at runs one bite after the other: what people type is found in no index.
    async fn runs_with(
        &self,
        text: &str,
        filter: RunFilter,
    ) -> Result<Page<Run, RunId>, StoreError> {
        let has = |it: &str| it.to_lowercase().contains(text);
        let limit = filter.limit;
        let mut bite = RunFilter {
            limit: MAX_PAGE,
            ..filter
        };
        let mut items: Vec<Run> = Vec::new();
        for _ in 0..LOOKED_AT / MAX_PAGE {
            let page: Page<Run, RunId> = backend!(self, runs(bite.clone()))?;
            bite.before = page.next;
            let found = page.items.into_iter();
            items.extend(found.filter(|run| has(run.key.as_str()) || has(&run.why)));
            if items.len() > limit || bite.before.is_none() {
                break;
            }
        }
        if items.len() > limit {
            return Ok(Page::new(items, limit, |run: &Run| run.id));
        }
        let next = bite.before;
        Ok(Page { items, next })
    }

    /// How many children a run has in each state, in the order of the states; none is left out.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn children(&self, parent: RunId) -> Result<Vec<(RunState, u64)>, StoreError> {
        backend!(self, children(parent))
    }

    /// When the next run wakes that no node holds.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        backend!(self, next_wake())
    }

    /// Runs behind `after`, oldest first: what the sweeper walks over.
    pub(crate) async fn ended_runs(
        &self,
        after: RunId,
        limit: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        backend!(self, ended_runs(after, limit))
    }

    /// Every release, or every one of a flow, newest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn releases(&self, flow: Option<&str>) -> Result<Vec<Release>, StoreError> {
        backend!(self, releases(flow))
    }

    /// One release.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn release(&self, id: ReleaseId) -> Result<Option<Release>, StoreError> {
        backend!(self, release(id))
    }

    /// The releases that take triggers, one a flow, in the order of the flows' names.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn live(&self) -> Result<Vec<Release>, StoreError> {
        backend!(self, live())
    }

    /// A number that is another whenever [`Store::live`] is; cheap to ask for.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn live_revision(&self) -> Result<i64, StoreError> {
        backend!(self, live_revision())
    }

    /// Everything that is listened for, or was, in order.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn topics(&self) -> Result<Vec<Topic>, StoreError> {
        backend!(self, topics())
    }

    /// A saved position.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn cursor(&self, name: &str) -> Result<Option<Box<str>>, StoreError> {
        backend!(self, cursor(name))
    }

    /// How many effects of a scope are done, tombstones too.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn done_keys(&self, scope: &Scope) -> Result<u64, StoreError> {
        backend!(self, done_keys(scope))
    }
}

fn claims(once: &EffectChange) -> bool {
    matches!(once.command, Command::Claim(_) | Command::Once(_))
}
