//! The one writer: takes all callers that wait, writes their changes in one transaction, syncs
//! once, answers each.

use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};
use semel_ledger::Time;

use super::effects::{self, Scopes};
use super::failure::classify;
use super::{Ask, blobs, nodes, receipts};
use crate::change::{Answer, Change};
use crate::error::StoreError;
use crate::group::{Request, Requests};
use crate::store::Context;

type Waiting = Request<Ask, Vec<Answer>>;

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
        while requests.blocking_recv_many(&mut waiting, self.batch) > 0 {
            let (asks, replies): (Vec<_>, Vec<_>) = waiting
                .drain(..)
                .map(|request| (request.ask, request.reply))
                .unzip();
            match self.write(asks) {
                Ok(answers) => {
                    for (reply, answer) in replies.into_iter().zip(answers) {
                        // A caller that went away does not need its answer.
                        let _ = reply.send(Ok(answer));
                    }
                }
                Err(error) => {
                    let failed = matches!(error, StoreError::Failed { .. });
                    for reply in replies {
                        let _ = reply.send(Err(error.again()));
                    }
                    if failed {
                        return;
                    }
                }
            }
        }
    }

    fn write(&mut self, asks: Vec<Ask>) -> Result<Vec<Vec<Answer>>, StoreError> {
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

fn transaction(
    connection: &mut Connection,
    context: &Context,
    scopes: &mut Scopes,
    asks: Vec<Ask>,
) -> Result<Vec<Vec<Answer>>, StoreError> {
    let failed = |error| classify(error, context);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let member = *context.member.borrow();
    if let Some(member) = member
        && !nodes::is_member(&transaction, member).map_err(failed)?
    {
        return Err(StoreError::Fenced);
    }
    // After the lock is held, so that time does not run backwards from one commit to the next.
    let now = context.clock.now();
    let mut answers = Vec::with_capacity(asks.len());
    for ask in asks {
        answers.push(apply_all(&transaction, scopes, ask, now).map_err(failed)?);
    }
    transaction.commit().map_err(failed)?;
    Ok(answers)
}

fn apply_all(
    connection: &Connection,
    scopes: &mut Scopes,
    ask: Ask,
    now: Time,
) -> rusqlite::Result<Vec<Answer>> {
    match ask {
        Ask::Changes(changes) => changes
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
