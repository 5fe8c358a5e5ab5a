//! The ledger in PostgreSQL: several nodes on one database, equal, any of which may die.
//!
//! | file | owns |
//! |---|---|
//! | `connect`, `tls` | reaching the server, sessions |
//! | `migrate` | the schema, and which servers are refused |
//! | `writer`, `attempt` | group commit: gather, try, try again, find out what became of a lost answer |
//! | `ground` | what must be known, and held, before a batch is planned |
//! | `ask`, `plan`, `starts` | what a batch will write, in memory |
//! | `effects`, `receipts` | writing it, set at a time |
//! | `others`, `advance`, `runs`, `releases`, `nodes` | what is answered while it is written |
//! | `columns`, `row` | a record as columns, there and back |
//! | `loader`, `reads`, `run_reads`, `space` | single effects for many callers; everything people ask; giving back |
//!
//! Leaves what a change means to [`crate::record::advance`].
//!
//! The invariants: an answered change is committed with its writer's mark, which is what a lost
//! answer is read back by; every commit holds its node's epoch; what is written was read in the
//! same transaction or is conditional on what was read; time is the database's.

mod advance;
mod ask;
mod attempt;
mod audit;
mod columns;
mod connect;
mod effects;
mod fault;
mod ground;
mod kv;
mod listeners;
mod loader;
mod migrate;
mod nodes;
mod others;
mod people;
mod pipeline;
mod plan;
mod reads;
mod receipts;
mod releases;
mod row;
mod run_reads;
mod run_statements;
mod runs;
mod secrets;
mod space;
mod starts;
mod statements;
mod tls;
mod writer;

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use semel_ledger::EffectId;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::ask::Ask;
use self::connect::{Address, Outage, Purpose};
use self::effects::Mark;
use self::fault::{Fault, Silent};
use self::loader::Loader;
use self::reads::Questions;
use self::writer::{Line, Queue, Writer};
use crate::change::{Answer, Change};
use crate::error::{OpenError, Source, StoreError};
use crate::group::{Group, group};
use crate::node::Membership;
use crate::open::Options;
use crate::record::Record;
use crate::store::{Context, random_bytes};

/// How long the server may take for one round trip before it is taken to be gone.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Of the connections that are allowed, one loads and one answers questions; the rest write. Few
/// writers with large batches are faster than many with small ones (measured: two beat four).
const OTHER_SESSIONS: usize = 2;
/// How often our clock is compared with the database's.
const CLOCK_PAUSE: Duration = Duration::from_mins(1);
/// Differences up to this are drift, and followed.
const DRIFT_MILLIS: i64 = 1_000;

/// The backend.
#[derive(Debug)]
pub struct Postgres {
    context: Arc<Context>,
    writes: Group<Ask, Vec<Answer>>,
    loads: Group<[u8; 16], Option<Record>>,
    questions: Questions,
    closing: watch::Sender<bool>,
    writers: Mutex<Vec<JoinHandle<()>>>,
}

impl Postgres {
    pub(crate) async fn open(
        url: &str,
        options: &Options,
        context: Arc<Context>,
    ) -> Result<Postgres, OpenError> {
        let address = Arc::new(Address::parse(url)?);
        let mut session = address.connect(Purpose::Questions).await.map_err(refused)?;
        migrate::check_server(&session).await?;
        migrate::migrate(&mut session, &address).await?;
        let ahead = migrate::clock_ahead(&session, &*context.clock)
            .await
            .map_err(refused)?;
        context.clock.adjust(ahead);
        drop(session);

        let (writes, requests) = group(options.queue);
        let queue: Queue = Arc::new(tokio::sync::Mutex::new(requests));
        let (closing, closed) = watch::channel(false);
        let mut tasks = Vec::new();
        for _ in 0..options.connections.saturating_sub(OTHER_SESSIONS).max(1) {
            let task = Writer {
                address: Arc::clone(&address),
                context: Arc::clone(&context),
                queue: Arc::clone(&queue),
                closing: closed.clone(),
                batch: options.batch.max(1),
                mark: Mark {
                    writer: random_bytes(),
                    commit: 0,
                },
                line: Some(Line::open(&address).await.map_err(not_opened)?),
                outage: Outage::default(),
            };
            tasks.push(tokio::spawn(task.run()));
        }
        let (loads, requests) = group(options.queue);
        let loader = Loader {
            address: Arc::clone(&address),
            requests,
            batch: options.batch.max(1),
            line: Some(loader::open(&address).await.map_err(not_opened)?),
            outage: Outage::default(),
        };
        tokio::spawn(loader.run());
        let questions = Questions::new(Arc::clone(&address));
        tokio::spawn(keep_time(questions.clone(), Arc::clone(&context), closed));
        Ok(Postgres {
            context,
            writes,
            loads,
            questions,
            closing,
            writers: Mutex::new(tasks),
        })
    }

    pub(crate) fn queue_depth(&self) -> usize {
        self.writes.waiting()
    }

    pub(crate) async fn commit(
        &self,
        changes: Vec<Change>,
        member: Option<Membership>,
    ) -> Result<Vec<Answer>, StoreError> {
        self.writes.ask(Ask::new(member, changes)).await
    }

    pub(crate) async fn load(&self, effect: &EffectId) -> Result<Option<Record>, StoreError> {
        self.loads.ask(effect.hash()).await
    }

    pub(crate) async fn close(&self) {
        self.closing.send_replace(true);
        let writers =
            std::mem::take(&mut *self.writers.lock().unwrap_or_else(PoisonError::into_inner));
        for writer in writers {
            if let Err(error) = writer.await {
                tracing::error!(%error, "a writer did not end in good order");
            }
        }
    }
}

/// Follows the database's clock where it drifts from ours. A jump is somebody setting it: leases
/// are promises about elapsed time, so that is reported and not followed.
async fn keep_time(
    questions: Questions,
    context: Arc<Context>,
    mut closing: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            _ = closing.wait_for(|closing| *closing) => return,
            () = tokio::time::sleep(CLOCK_PAUSE) => {}
        }
        let Ok(session) = questions.session().await else {
            continue;
        };
        match migrate::clock_ahead(&session, &*context.clock).await {
            Ok(ahead) if ahead.abs() <= DRIFT_MILLIS => context.clock.adjust(ahead),
            Ok(ahead) => {
                tracing::warn!(ahead, "the database's clock jumped; ours goes on as before");
            }
            Err(error) => tracing::debug!(%error, "the database's clock was not read"),
        }
    }
}

/// Gives the server only so much time.
async fn within<T>(round_trip: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    tokio::time::timeout(ANSWER_TIMEOUT, round_trip)
        .await
        .unwrap_or_else(|_| Err(Fault::Gone(Arc::new(Silent))))
}

fn refused(source: impl Into<Source>) -> OpenError {
    OpenError::Database {
        source: source.into(),
    }
}

fn not_opened(fault: Fault) -> OpenError {
    refused(StoreError::from(fault))
}
