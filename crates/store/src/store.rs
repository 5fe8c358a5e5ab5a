//! The store as its callers see it, whatever is underneath.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use semel_ledger::{After, Command, EffectId, Time, Verdict, apply};
use tokio::sync::watch;

use crate::change::{Answer, Answered, Change, Content, EffectChange};
use crate::clock::{Clock, SteadyClock};
use crate::error::{OpenError, Source, StoreError};
use crate::gate::Gate;
use crate::memory::Memory;
use crate::node::{Membership, NodeChange};
use crate::open::{Location, Options};
use crate::postgres::Postgres;
use crate::receipt::Waiting;
use crate::record::Record;
use crate::seen::Seen;
use crate::sqlite::Sqlite;

#[derive(Debug)]
enum Backend {
    Memory(Box<Memory>),
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Calls the method of whichever backend it is; all three have the same ones. A conversation with
/// PostgreSQL is kept apart, or every call of a file would carry the room for one.
macro_rules! backend {
    ($store:expr, $method:ident ( $($argument:expr),* )) => {
        match &$store.backend {
            Backend::Memory(it) => it.$method($($argument),*).await,
            Backend::Sqlite(it) => it.$method($($argument),*).await,
            Backend::Postgres(it) => Box::pin(it.$method($($argument),*)).await,
        }
    };
}

mod beside;
mod engine;
mod kv;
mod people;
mod questions;
mod random;
mod receipts;
mod runs;
mod written;

pub use random::random_bytes;
pub use written::Written;

/// One ledger. Cheap to share behind an [`Arc`].
#[derive(Debug)]
pub struct Store {
    backend: Backend,
    context: Arc<Context>,
    keep: semel_ledger::Millis,
    gate: Option<Arc<dyn Gate>>,
    waiting: Waiting,
    /// Held by whoever writes receipts.
    writing: tokio::sync::Mutex<()>,
    /// What the latest run's name begins with.
    last_run: AtomicU64,
    tally: written::Tally,
    closed: AtomicBool,
}

/// What a backend shares with its store.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) clock: Arc<dyn Clock>,
    /// Under which identity commits are made; none for a process that only passes by.
    pub(crate) member: watch::Sender<Option<Membership>>,
    /// Which effects are likely to exist.
    pub(crate) seen: Seen,
    /// Set once, when the store can no longer promise durability.
    pub(crate) failed: watch::Sender<bool>,
}

impl Context {
    fn new(clock: Arc<dyn Clock>, seen: Seen) -> Context {
        Context {
            clock,
            member: watch::Sender::new(None),
            seen,
            failed: watch::Sender::new(false),
        }
    }

    /// Declares that the store can no longer promise durability.
    pub(crate) fn fail(&self, source: impl Into<Source>) -> StoreError {
        let source = source.into();
        tracing::error!(error = %source, "the store failed; the process must stop and recover on start");
        self.failed.send_replace(true);
        StoreError::Failed { source }
    }
}

impl Store {
    /// Opens the store at `location`, making or migrating it if needed.
    ///
    /// # Errors
    /// [`OpenError`] if it cannot be used safely; nothing is changed then.
    pub async fn open(location: &Location, options: Options) -> Result<Store, OpenError> {
        let clock = options
            .clock
            .clone()
            .unwrap_or_else(|| Arc::new(SteadyClock::start(Time(0))));
        let seen = match location {
            Location::Memory => Seen::small(),
            _ => Seen::default(),
        };
        let context = Arc::new(Context::new(clock, seen));
        let backend = match location {
            Location::Memory => Backend::Memory(Box::new(Memory::new(Arc::clone(&context)))),
            Location::Sqlite(path) => {
                Backend::Sqlite(Sqlite::open(path, &options, Arc::clone(&context)).await?)
            }
            Location::Postgres(url) => {
                Backend::Postgres(Postgres::open(url, &options, Arc::clone(&context)).await?)
            }
        };
        Ok(Store::of(backend, context, options.keep, options.gate))
    }

    /// `memory`, `sqlite` or `postgres`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.backend {
            Backend::Memory(_) => "memory",
            Backend::Sqlite(_) => "sqlite",
            Backend::Postgres(_) => "postgres",
        }
    }

    /// The store's present time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.context.clock.now()
    }

    /// The store's clock.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.context.clock
    }

    /// How long inputs, results and receipts are kept in full.
    #[must_use]
    pub fn keep(&self) -> semel_ledger::Millis {
        self.keep
    }

    /// Writes changes; they become durable together, each under its own precondition.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not; see each for whether anything was written.
    pub async fn commit(&self, changes: Vec<Change>) -> Result<Vec<Answer>, StoreError> {
        let member = self.committing_as(&changes)?;
        self.write(changes, member).await
    }

    async fn write(
        &self,
        changes: Vec<Change>,
        member: Option<Membership>,
    ) -> Result<Vec<Answer>, StoreError> {
        if let Some(gate) = &self.gate {
            gate.before().await;
        }
        let written = Written::of(&changes);
        let answers = backend!(self, commit(changes, member));
        if answers.is_ok() {
            self.tally.add(written);
        }
        if let Some(gate) = &self.gate {
            gate.after().await;
        }
        answers
    }

    /// What was made durable by commits of this process so far.
    #[must_use]
    pub fn written(&self) -> Written {
        self.tally.read()
    }

    fn of(
        backend: Backend,
        context: Arc<Context>,
        keep: semel_ledger::Millis,
        gate: Option<Arc<dyn Gate>>,
    ) -> Store {
        Store {
            backend,
            context,
            keep,
            gate,
            waiting: Waiting::default(),
            writing: tokio::sync::Mutex::default(),
            last_run: AtomicU64::new(0),
            tally: written::Tally::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// A node commits under its epoch as it is at the time of the call. Only joining needs none,
    /// and nobody may claim for a node, or a life of one, that it is not.
    fn committing_as(&self, changes: &[Change]) -> Result<Option<Membership>, StoreError> {
        let joins = |change: &Change| matches!(change, Change::Node(NodeChange::Join { .. }));
        if !changes.is_empty() && changes.iter().all(joins) {
            return Ok(None);
        }
        let member = self.member();
        let foreign = |change: &Change| match (change.node_claiming(), member) {
            (Some(claiming), Some(member)) => claiming != member,
            _ => false,
        };
        if changes.iter().any(foreign) {
            return Err(StoreError::Fenced);
        }
        Ok(member)
    }

    /// Writes one step of one effect. A refused claim or request leaves a receipt.
    ///
    /// A claim that is refused by what is already committed needs no write and no fsync: of an
    /// effect that passed by lately it is answered by a read, of others by the writer.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn step(&self, change: EffectChange) -> Result<Answered, StoreError> {
        let asks = matches!(
            change.command,
            Command::Claim(_) | Command::Once(_) | Command::Request(_)
        );
        if !asks {
            return self.write_step(change).await;
        }
        let (effect, by) = (change.effect.clone(), change.content.by.clone());
        let hash = effect.hash();
        let committed = if self.context.seen.contains(hash) {
            self.refused_by_committed(&change).await?
        } else {
            None
        };
        let answered = match committed {
            Some(answered) => answered,
            None => self.write_step(change).await?,
        };
        self.context.seen.add(hash);
        Ok(self.with_receipt(effect, hash, by, answered))
    }

    async fn write_step(&self, change: EffectChange) -> Result<Answered, StoreError> {
        let mut answers = self.commit(vec![change.into()]).await?;
        match answers.pop() {
            Some(Answer::Effect(answered)) => Ok(*answered),
            _ => Err(StoreError::Closed),
        }
    }

    async fn refused_by_committed(
        &self,
        change: &EffectChange,
    ) -> Result<Option<Answered>, StoreError> {
        // The read would still answer, but promise a receipt that nobody can write any more.
        if self.closed.load(Ordering::Acquire) || *self.context.failed.borrow() {
            return Err(StoreError::Closed);
        }
        let judge = |record: &Record| apply(Some(&record.entry), &change.command, self.now());
        let mut record = self.recall(&change.effect).await?;
        // What differs can be told only from the input.
        let conflicts = |record: &Record| judge(record).verdict == Verdict::Conflict;
        if record.as_ref().is_some_and(conflicts) {
            record = self.load(&change.effect).await?;
        }
        let Some(record) = record else {
            return Ok(None);
        };
        let step = judge(&record);
        // A grant, even one given again, is for the writer: it knows who may commit.
        if step.after != After::Same || step.verdict.is_grant() {
            return Ok(None);
        }
        let entry = Some(record.entry);
        Ok(Some(Answered {
            verdict: step.verdict,
            entry,
            record: Some(Box::new(record)),
            receipt: None,
        }))
    }

    /// The record of an effect, without its input if it was asked for lately.
    async fn recall(&self, effect: &EffectId) -> Result<Option<Record>, StoreError> {
        match &self.backend {
            // Only a node is sure to be alone with the file.
            Backend::Sqlite(it) if self.member().is_some() => it.recall(effect),
            _ => self.load(effect).await,
        }
    }

    /// Gives freed space back to the file system and drops blobs that nothing refers to.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn give_back(&self) -> Result<(), StoreError> {
        backend!(self, give_back())
    }

    /// Under which identity commits are made.
    #[must_use]
    pub fn member(&self) -> Option<Membership> {
        *self.context.member.borrow()
    }

    pub(crate) fn become_member(&self, member: Option<Membership>) {
        self.context.member.send_replace(member);
    }

    /// Waits until the store has failed and the process must stop.
    pub async fn failed(&self) {
        let mut failed = self.context.failed.subscribe();
        if failed.wait_for(|failed| *failed).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// How many calls wait for the writer.
    #[must_use]
    pub fn queue_depth(&self) -> usize {
        match &self.backend {
            Backend::Memory(_) => 0,
            Backend::Sqlite(it) => it.queue_depth(),
            Backend::Postgres(it) => it.queue_depth(),
        }
    }

    /// Writes what waits and ends the writer. Later calls answer [`StoreError::Closed`].
    ///
    /// # Errors
    /// [`StoreError`] if the last receipts could not be written.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.closed.store(true, Ordering::Release);
        let written = self.write_receipts().await;
        backend!(self, close());
        written.map(drop)
    }
}

impl EffectChange {
    /// A command that brings no texts.
    #[must_use]
    pub fn bare(effect: EffectId, command: Command) -> EffectChange {
        EffectChange {
            effect,
            command,
            content: Content::default(),
        }
    }
}
