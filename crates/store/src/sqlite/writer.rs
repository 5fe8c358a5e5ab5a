//! The one writer: takes all callers that wait, writes their changes in one transaction, syncs
//! once, answers each.

use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::checkpoint::Checkpoints;
use super::effects::{Batch, Statements};
use super::failure::classify;
use super::recent::Recent;
use super::scopes::Scopes;
use super::{
    Ask, audit, blobs, kv, listeners, mail, nodes, people, receipts, releases, runs, secrets,
};
use crate::change::{Answer, Change};
use crate::error::{OpenError, StoreError};
use crate::group::{Request, Requests};
use crate::node::Membership;
use crate::open::Options;
use crate::store::Context;

type Waiting = Request<Ask, Vec<Answer>>;
type Reply = oneshot::Sender<Result<Vec<Answer>, StoreError>>;
/// Each caller's own answer.
type Answers = Vec<Result<Vec<Answer>, StoreError>>;

/// How many free pages one commit gives back to the file system.
const VACUUM_PAGES: u32 = 5000;

pub(super) struct Writer {
    connection: Connection,
    context: Arc<Context>,
    scopes: Scopes,
    recent: Arc<Recent>,
    checkpoints: Checkpoints,
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
    pub(super) fn new(
        mut connection: Connection,
        context: Arc<Context>,
        recent: Arc<Recent>,
        options: &Options,
    ) -> Result<Writer, OpenError> {
        let checkpoints = Checkpoints::of(&mut connection, options.checkpoint_pages)?;
        Ok(Writer {
            connection,
            context,
            scopes: Scopes::default(),
            recent,
            checkpoints,
            batch: options.batch.max(1),
        })
    }

    /// Writes until every caller's end of the queue is gone or the store has failed.
    pub(super) fn run(mut self, mut requests: Requests<Ask, Vec<Answer>>) {
        let _alarm = Alarm(Arc::clone(&self.context));
        let mut waiting: Vec<Waiting> = Vec::with_capacity(self.batch);
        while requests.blocking_recv_many(&mut waiting, self.batch) > 0 {
            let (asks, replies): (Vec<_>, Vec<_>) = waiting
                .drain(..)
                .map(|request| (request.ask, request.reply))
                .unzip();
            let sound = answer(self.write(asks), replies);
            let (checkpoints, connection) = (&self.checkpoints, &self.connection);
            if !sound || checkpoints.run_if_due(connection, &self.context).is_err() {
                return;
            }
        }
    }

    fn write(&mut self, asks: Vec<Ask>) -> Result<Answers, StoreError> {
        let Writer {
            connection,
            context,
            scopes,
            recent,
            ..
        } = self;
        let result = transaction(connection, context, scopes, recent, asks);
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

fn transaction(
    connection: &mut Connection,
    context: &Context,
    scopes: &mut Scopes,
    recent: &Recent,
    asks: Vec<Ask>,
) -> Result<Answers, StoreError> {
    let failed = |error| classify(error, context);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let mut answers = Vec::with_capacity(asks.len());
    let mut alive = None;
    let mut batch = Batch {
        connection: &transaction,
        statements: Statements::prepare(&transaction).map_err(failed)?,
        scopes,
        seen: &context.seen,
        member: None,
        touched: Vec::new(),
        // After the lock is held, so that time does not run backwards from one commit to the next.
        now: context.clock.now(),
    };
    for ask in asks {
        let fenced = is_fenced(&transaction, &ask, &mut alive).map_err(failed)?;
        answers.push(if fenced {
            Err(StoreError::Fenced)
        } else {
            Ok(apply_all(&mut batch, ask).map_err(failed)?)
        });
    }
    let touched = std::mem::take(&mut batch.touched);
    drop(batch);
    transaction.commit().map_err(failed)?;
    for it in touched {
        recent.touched(it);
    }
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

fn apply_all(batch: &mut Batch<'_>, ask: Ask) -> rusqlite::Result<Vec<Answer>> {
    match ask {
        Ask::Changes { changes, member } => {
            batch.member = member;
            let changes = changes.into_iter();
            changes.map(|change| apply(batch, change)).collect()
        }
        Ask::GiveBack => {
            blobs::drop_unused(batch.connection, batch.now)?;
            give_back_pages(batch.connection)?;
            Ok(Vec::new())
        }
    }
}

/// Each step of this statement gives one page back, so it is stepped to its end.
fn give_back_pages(connection: &Connection) -> rusqlite::Result<()> {
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
    let mut pages = vacuum.query([])?;
    while pages.next()?.is_some() {}
    Ok(())
}

fn apply(batch: &mut Batch<'_>, change: Change) -> rusqlite::Result<Answer> {
    let (connection, now) = (batch.connection, batch.now);
    Ok(match change {
        Change::Effect(change) => Answer::Effect(Box::new(batch.step(*change)?)),
        Change::Blob(content) => {
            blobs::put(connection, &content, now)?;
            Answer::Written
        }
        Change::Token(change) => Answer::Token(nodes::change_token(connection, change, now)?),
        Change::Secret(change) => Answer::Secret(secrets::change(connection, &change, now)?),
        Change::Node(change) => Answer::Node(nodes::change(connection, change, now)?),
        Change::Receipts(receipts) => {
            receipts::write(batch, &receipts)?;
            Answer::Written
        }
        Change::Start(start) => Answer::Started(Box::new(batch.start(*start)?)),
        Change::Advance(advance) => Answer::Advanced(batch.advance(&advance)?),
        Change::Mail { run, note } => Answer::Mailed(mail::send(connection, run, &note, now)?),
        Change::Take { limit } => Answer::Taken(batch.take(limit)?),
        Change::Free { node, limit } => Answer::Counted(batch.free(node, limit)?),
        Change::Forget { runs, until } => Answer::Counted(runs::forget(connection, &runs, until)?),
        Change::Release(change) => Answer::Released(releases::change(connection, &change, now)?),
        Change::Cursor(change) => Answer::Moved(releases::move_cursor(connection, &change)?),
        Change::Listen(listen) => Answer::Listens(listeners::listen(connection, &listen)?),
        Change::Hush { run, step } => {
            listeners::hush(connection, run, &step)?;
            Answer::Written
        }
        Change::Tell { place, note } => {
            Answer::Told(listeners::tell(connection, place, &note, now)?)
        }
        Change::Kv(change) => Answer::Kv(Box::new(batch.operate(*change)?)),
        Change::SweepKv { limit } => Answer::Counted(kv::sweep(connection, limit, now)?),
        Change::Person(change) => Answer::Person(people::change(connection, &change, now)?),
        Change::Audit(change) => Answer::Audited(audit::change(connection, &change, now)?),
    })
}
