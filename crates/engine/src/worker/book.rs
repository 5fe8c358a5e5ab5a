//! What a run has to write, and writing it.
//!
//! Owns the row that is being gathered, the changes that go with it, and the commit. The
//! invariant: a row and the changes it tells of are one commit, under the membership with which
//! the run was taken; whoever has lost the run writes nothing.

use std::sync::Arc;
use std::time::Duration;

use semel_ledger::{Millis, Time};
use semel_store::kv::KvPut;
use semel_store::node::Membership;
use semel_store::planted::{self, Bug};
use semel_store::run::{Advance, Next, RunId, RunState};
use semel_store::{Answer, Change, StoreError};

use super::{Active, More};
use crate::decide::Rest;
use crate::engine::Inner;
use crate::flight::Slot;
use crate::journal::{self, Happening, How};
use crate::places;
use semel_flow::model::{Action, Class, Order};

/// How long to wait before a commit that could not be made is tried again.
const PAUSE: Duration = Duration::from_millis(200);
/// How long what was read may wait for a commit to go with: people look at runs, and nobody wants much read twice.
const KEPT_BACK: Millis = Millis::seconds(2);

/// The run is no longer this node's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Gone {
    /// Another node holds it, or this one was declared dead.
    #[error("another node may hold it now")]
    Lost,
    /// The store could not write; what is on disk is taken up again later.
    #[error("the store could not: {source}")]
    Store {
        /// Why.
        #[from]
        source: StoreError,
    },
}

/// What a run has to write.
pub(crate) struct Book {
    pub(crate) member: Membership,
    pub(crate) rows: u32,
    /// When its last row was written, or an act ended of which the next one tells.
    pub(crate) last_row_at: Time,
    pub(crate) pending: Vec<Happening>,
    pub(crate) contents: Vec<Vec<u8>>,
    pub(crate) changes: Vec<Change>,
    /// Values that the row tells of.
    pub(crate) puts: Vec<KvPut>,
    pub(crate) read_mail: Option<i64>,
    /// Slots of acts whose settlement is among the changes; freed when it is durable.
    pub(crate) slots: Vec<Slot>,
    /// What was read may be in something that is about to be sent.
    pub(crate) leaves: bool,
    /// Since when what was read is kept back.
    kept_back: Option<Time>,
}

impl Book {
    pub(crate) fn new(member: Membership) -> Book {
        Book {
            member,
            rows: 0,
            last_row_at: Time(0),
            pending: Vec::new(),
            contents: Vec::new(),
            changes: Vec::new(),
            puts: Vec::new(),
            read_mail: None,
            slots: Vec::new(),
            leaves: false,
            kept_back: None,
        }
    }
}

/// What must be durable before anything else is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// Nothing: it would be decided again, the same.
    Never,
    /// It would be read or drawn again, perhaps another: before anything leaves that it may be in.
    BeforeItLeaves,
    /// It says what happened.
    Now,
}

impl Active {
    /// Whether something is known that must be durable before anything else is waited for: before what was begun
    /// since is polled for the first time, and so before it is sent.
    pub(super) fn must_flush(&mut self, now: Time) -> bool {
        let leaves = std::mem::take(&mut self.journal.leaves);
        if !self.journal.changes.is_empty() {
            return true;
        }
        let most = self.journal.pending.iter().map(|it| self.due(it)).max();
        match most.unwrap_or(Due::Never) {
            Due::Never => false,
            Due::BeforeItLeaves => {
                let since = *self.journal.kept_back.get_or_insert(now);
                leaves || now >= since.after(KEPT_BACK)
            }
            Due::Now => true,
        }
    }

    /// When what was read is written in any case.
    pub(super) fn flush_at(&self) -> Option<Time> {
        Some(self.journal.kept_back?.after(KEPT_BACK))
    }

    /// Reading costs no commit of its own: what was read goes with the next one.
    fn due(&self, happening: &Happening) -> Due {
        let done = match happening {
            Happening::Skipped { .. } | Happening::Entered { .. } => return Due::Never,
            Happening::Done(done) => done,
            _ => return Due::Now,
        };
        let step = places::find(&self.compiled.flow, &done.step);
        match step.map(|step| (&step.action, step.class())) {
            Some((Action::Act(_), Class::Pure | Class::Read)) if done.how == How::Act => {
                Due::BeforeItLeaves
            }
            Some((Action::Set(members), _)) if members.iter().any(|(_, it)| it.is_volatile()) => {
                Due::BeforeItLeaves
            }
            _ if done.attempt.is_none() && done.input.is_none() => Due::Never,
            _ => Due::Now,
        }
    }

    /// Writes what is gathered; gives the answers to the changes that went with it.
    pub(super) async fn flush(&mut self, inner: &Inner) -> Result<Vec<Answer>, Gone> {
        self.write(inner, Next::GoOn).await
    }

    pub(super) async fn write(&mut self, inner: &Inner, next: Next) -> Result<Vec<Answer>, Gone> {
        let book = &mut self.journal;
        let row = (!book.pending.is_empty()).then(|| journal::write(&book.pending));
        let (at, text) = (book.rows, row.clone());
        let advance = Advance {
            run: self.id,
            at: book.rows,
            row,
            contents: std::mem::take(&mut book.contents),
            puts: std::mem::take(&mut book.puts),
            read_mail: book.read_mail,
            next,
        };
        let mut changes = std::mem::take(&mut book.changes);
        changes.push(Change::Advance(Box::new(advance)));
        let Committed {
            mut answers,
            doubtful,
        } = commit(inner, book.member, changes).await?;
        let advanced = matches!(answers.pop(), Some(Answer::Advanced(true)));
        let written =
            advanced || (doubtful && is_written(inner, self.id, at, text.as_deref()).await?);
        if !written {
            return Err(Gone::Lost);
        }
        if text.is_some() {
            book.rows += 1;
            book.last_row_at = inner.store.now();
        }
        book.pending.clear();
        book.kept_back = None;
        book.slots.clear();
        for answer in &answers {
            if let Answer::Told(runs) = answer {
                for run in runs {
                    inner.mail_came(*run);
                }
            }
        }
        Ok(answers)
    }

    /// Lets go of the run until its time or mail comes.
    pub(super) async fn rest(&mut self, inner: &Arc<Inner>, rest: Rest) -> Result<More, Gone> {
        let Rest { state, why, wake } = rest;
        let wake = wake.filter(|_| !planted::is(Bug::LoseTimer));
        let aside = matches!(
            state,
            RunState::Retrying | RunState::Parked | RunState::Unknown
        );
        let yields = aside && self.compiled.flow.order == Order::Loose;
        let next = Next::Rest {
            state,
            why: why.into(),
            wake,
            yields,
        };
        self.write(inner, next).await?;
        inner.has_moved(self.id, state);
        // It may be the next to wake; and whom it let pass may be due.
        inner.due.notify_one();
        Ok(More::No)
    }
}

/// Whether the row at that position is this one: it was written before its answer was lost.
async fn is_written(
    inner: &Inner,
    run: RunId,
    at: u32,
    row: Option<&str>,
) -> Result<bool, StoreError> {
    let loaded = inner.store.load_run(run).await?;
    let there = loaded.and_then(|loaded| loaded.journal.into_iter().find(|row| row.at == at));
    Ok(there.as_ref().map(|there| there.row.as_ref()) == row)
}

/// Commits; while the store cannot for now, waits and tries again: what is known must not be lost.
/// After an answer that was lost the same is asked again: every change in it is recognised.
pub(super) async fn commit(
    inner: &Inner,
    member: Membership,
    changes: Vec<Change>,
) -> Result<Committed, Gone> {
    let mut doubtful = false;
    loop {
        match inner.store.commit_as(member, changes.clone()).await {
            Ok(answers) => return Ok(Committed { answers, doubtful }),
            Err(StoreError::Fenced) => return Err(Gone::Lost),
            Err(source @ (StoreError::Closed | StoreError::Failed { .. })) => {
                return Err(Gone::Store { source });
            }
            Err(error) => {
                doubtful |= !error.wrote_nothing();
                tracing::warn!(%error, "what became of a run is not written yet");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Asks the store; while it cannot for now, waits and asks again: whoever holds a run must not drop it.
pub(super) async fn patiently<T, F>(ask: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    loop {
        match ask().await {
            Err(error) if !matches!(error, StoreError::Closed | StoreError::Failed { .. }) => {
                tracing::warn!(%error, "what a run needs to know cannot be read yet");
                tokio::time::sleep(PAUSE).await;
            }
            answer => return answer,
        }
    }
}

/// What a commit answered.
pub(super) struct Committed {
    pub(super) answers: Vec<Answer>,
    /// It may be the second time that the same was written.
    pub(super) doubtful: bool,
}
