//! The one writer: takes all callers that wait, writes their changes in one transaction, syncs
//! once, answers each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use semel_ledger::Time;
use tokio::sync::oneshot;

use super::effects::{self, Scopes};
use super::failure::classify;
use super::{Ask, blobs, nodes, receipts};
use crate::change::{Answer, Change};
use crate::error::StoreError;
use crate::group::{Request, Requests};
use crate::node::Membership;
use crate::store::Context;

type Waiting = Request<Ask, Vec<Answer>>;
type Reply = oneshot::Sender<Result<Vec<Answer>, StoreError>>;
/// Each caller's own answer.
type Answers = Vec<Result<Vec<Answer>, StoreError>>;

/// How many free pages one commit gives back to the file system.
const VACUUM_PAGES: u32 = 2000;

pub(super) struct Writer {
    connection: Connection,
    context: Arc<Context>,
    scopes: Scopes,
    batch: usize,
}

/// A writer that panics leaves callers in doubt about durability: that ends the store.
struct Alarm(Arc<Context>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.fail("the writer panicked");
        }
    }
}

impl Writer {
    pub(super) fn new(connection: Connection, context: Arc<Context>, batch: usize) -> Writer {
        Writer {
            connection,
            context,
            scopes: Scopes::default(),
            batch,
        }
    }

    /// Writes until every caller's end of the queue is gone or the store has failed.
    pub(super) fn run(mut self, mut requests: Requests<Ask, Vec<Answer>>) {
        let _alarm = Alarm(Arc::clone(&self.context));
        let mut waiting: Vec<Waiting> = Vec::with_capacity(self.batch);
        let mut pace = Pace::default();
        while requests.blocking_recv_many(&mut waiting, self.batch) > 0 {
            pace.gather(&mut requests, &mut waiting, self.batch);
            let started = Instant::now();
            let (asks, replies): (Vec<_>, Vec<_>) = waiting
                .drain(..)
                .map(|request| (request.ask, request.reply))
                .unzip();
            pace.callers = asks.len();
            let answered = self.write(asks);
            pace.commit = started.elapsed();
            if !answer(answered, replies) {
                return;
            }
        }
    }

    fn write(&mut self, asks: Vec<Ask>) -> Result<Answers, StoreError> {
        let Writer {
            connection,
            context,
            scopes,
            ..
        } = self;
        let result = transaction(connection, context, scopes, asks);
        if result.is_err() {
            scopes.clear();
        }
        result
    }
}

/// Tells each caller; false if the store has failed.
fn answer(answered: Result<Answers, StoreError>, replies: Vec<Reply>) -> bool {
    // A caller that went away does not need its answer.
    match answered {
        Ok(answers) => {
            for (reply, answer) in replies.into_iter().zip(answers) {
                let _ = reply.send(answer);
            }
            true
        }
        Err(error) => {
            for reply in replies {
                let _ = reply.send(Err(error.again()));
            }
            !matches!(error, StoreError::Failed { .. })
        }
    }
}

/// How the last commit went, to guess whether more callers are about to come.
///
/// Those answered by one commit come back nearly together. Taking the first of them alone would
/// let the others wait for a whole commit, so the writer waits for a small part of one.
#[derive(Default)]
struct Pace {
    callers: usize,
    commit: Duration,
}

impl Pace {
    const LONGEST_WAIT: Duration = Duration::from_micros(500);

    fn gather(
        &self,
        requests: &mut Requests<Ask, Vec<Answer>>,
        waiting: &mut Vec<Waiting>,
        batch: usize,
    ) {
        let patience = (self.commit / 8).min(Self::LONGEST_WAIT);
        let expected = self.callers.min(batch);
        let started = Instant::now();
        while waiting.len() + requests.len() < expected && started.elapsed() < patience {
            std::thread::yield_now();
        }
        while waiting.len() < batch
            && let Ok(request) = requests.try_recv()
        {
            waiting.push(request);
        }
    }
}

fn transaction(
    connection: &mut Connection,
    context: &Context,
    scopes: &mut Scopes,
    asks: Vec<Ask>,
) -> Result<Answers, StoreError> {
    let failed = |error| classify(error, context);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    // After the lock is held, so that time does not run backwards from one commit to the next.
    let now = context.clock.now();
    let mut answers = Vec::with_capacity(asks.len());
    let mut alive = None;
    for ask in asks {
        let fenced = is_fenced(&transaction, &ask, &mut alive).map_err(failed)?;
        answers.push(if fenced {
            Err(StoreError::Fenced)
        } else {
            Ok(apply_all(&transaction, scopes, ask, now).map_err(failed)?)
        });
    }
    transaction.commit().map_err(failed)?;
    Ok(answers)
}

/// Whether the caller's node was taken over from. `alive` is who was found alive in this transaction.
fn is_fenced(
    connection: &Connection,
    ask: &Ask,
    alive: &mut Option<Membership>,
) -> rusqlite::Result<bool> {
    let Ask::Changes {
        member: Some(member),
        ..
    } = ask
    else {
        return Ok(false);
    };
    if *alive != Some(*member) {
        *alive = nodes::is_member(connection, *member)?.then_some(*member);
    }
    Ok(alive.is_none())
}

fn apply_all(
    connection: &Connection,
    scopes: &mut Scopes,
    ask: Ask,
    now: Time,
) -> rusqlite::Result<Vec<Answer>> {
    match ask {
        Ask::Changes { changes, .. } => changes
            .into_iter()
            .map(|change| apply(connection, scopes, change, now))
            .collect(),
        Ask::GiveBack => {
            while blobs::drop_unused(connection, now)? > 0 {}
            connection.execute_batch(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
            Ok(Vec::new())
        }
    }
}

fn apply(
    connection: &Connection,
    scopes: &mut Scopes,
    change: Change,
    now: Time,
) -> rusqlite::Result<Answer> {
    Ok(match change {
        Change::Effect(change) => {
            Answer::Effect(Box::new(effects::step(connection, scopes, &change, now)?))
        }
        Change::Blob(content) => {
            blobs::put(connection, &content, now)?;
            Answer::Written
        }
        Change::Token(change) => Answer::Token(nodes::change_token(connection, change, now)?),
        Change::Node(change) => Answer::Node(nodes::change(connection, change, now)?),
        Change::Receipts(receipts) => {
            receipts::write(connection, scopes, &receipts)?;
            Answer::Written
        }
    })
}
