//! The group commit: a few writers share one queue, each with its own session.
//!
//! Owns gathering callers, trying again, and answering each caller exactly once. How one attempt
//! goes is in [`super::attempt`].
//!
//! A batch is tried again when the connection broke before COMMIT was sent (nothing was written) or
//! when a race was lost (the world has changed, so it is planned again). When it broke at COMMIT,
//! the writer asks the database whether its mark is there and goes on from the truth. Everything
//! is bounded, so every caller is answered.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};

use super::ask::Ask;
use super::attempt::{Attempt, Doubtful, Outcome};
use super::connect::{Address, Outage, Purpose, Session};
use super::effects::Mark;
use super::fault::{Cause, Fault, RaceLost};
use super::kv::KvStatements;
use super::plan::Answers;
use super::run_statements::RunStatements;
use super::statements::Statements;
use super::within;
use crate::change::Answer;
use crate::error::StoreError;
use crate::group::{Request, Requests};
use crate::store::Context;

/// How often a batch is planned again because somebody else was first.
const MOST_RACES: usize = 50;

/// How many bytes of content share one commit; PostgreSQL takes a gigabyte in one message.
const HEAVIEST: usize = 64 * 1024 * 1024;

/// The queue that all writers take from.
pub(super) type Queue = Arc<Mutex<Requests<Ask, Vec<Answer>>>>;

/// One writer.
pub(super) struct Writer {
    pub(super) address: Arc<Address>,
    pub(super) context: Arc<Context>,
    pub(super) queue: Queue,
    pub(super) closing: watch::Receiver<bool>,
    pub(super) batch: usize,
    pub(super) mark: Mark,
    pub(super) line: Option<Line>,
    pub(super) outage: Outage,
}

/// A session with everything a writer says prepared.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) session: Session,
    pub(super) statements: Statements,
    pub(super) runs: RunStatements,
    pub(super) kv: KvStatements,
}

impl Line {
    pub(super) async fn open(address: &Address) -> Result<Line, Fault> {
        within(async {
            let session = address.connect(Purpose::ByKey).await?;
            let statements = Statements::prepare(&session).await?;
            let runs = RunStatements::prepare(&session).await?;
            let kv = KvStatements::prepare(&session).await?;
            Ok(Line {
                session,
                statements,
                runs,
                kv,
            })
        })
        .await
    }
}

impl Writer {
    /// Serves until the queue is closed and empty.
    pub(super) async fn run(mut self) {
        loop {
            let mut requests = Vec::new();
            {
                let mut queue = self.queue.lock().await;
                gather(&mut queue, &mut self.closing, &mut requests, self.batch).await;
            }
            if requests.is_empty() {
                return;
            }
            let (asks, replies): (Vec<Ask>, Vec<_>) = requests
                .into_iter()
                .map(|Request { ask, reply }| (ask, reply))
                .unzip();
            let mut replies = replies.into_iter();
            for group in asks.chunk_by(lighter_together()) {
                let answers = self.serve(group).await;
                for (answer, reply) in answers.into_iter().zip(&mut replies) {
                    // A caller that no longer waits has lost nothing: its change is written.
                    drop(reply.send(answer));
                }
            }
        }
    }

    async fn serve(&mut self, asks: &[Ask]) -> Answers {
        match self.commit(asks).await {
            Ok(answers) => answers,
            // One caller's impossible wish must not fail its neighbours.
            Err(Fault::Refused(_)) if asks.len() > 1 => {
                let mut answers = Vec::with_capacity(asks.len());
                for ask in asks {
                    let alone = self.commit(std::slice::from_ref(ask)).await;
                    let alone = alone.map_err(|fault| fault.for_caller());
                    answers.push(alone.and_then(only));
                }
                answers
            }
            Err(fault) => asks.iter().map(|_| Err(fault.for_caller())).collect(),
        }
    }

    /// Commits a batch, however often it has to be tried.
    async fn commit(&mut self, asks: &[Ask]) -> Result<Answers, Fault> {
        let mut races = 0;
        loop {
            let fault = match self.attempt(asks, races > 0).await {
                Ok(Outcome::Durable(answers)) => {
                    self.outage.over();
                    return Ok(answers);
                }
                Ok(Outcome::Doubtful(Doubtful { answers, cause })) => {
                    if self.has_happened(&cause).await? {
                        return Ok(answers);
                    }
                    Fault::Gone(cause)
                }
                Ok(Outcome::RaceLost) => Fault::Contended(Arc::new(RaceLost)),
                Err(fault) => fault,
            };
            match fault {
                Fault::Contended(_) if races < MOST_RACES => races += 1,
                Fault::Gone(_) => {
                    self.line = None;
                    if !self.outage.wait().await {
                        return Err(fault);
                    }
                }
                fault => return Err(fault),
            }
        }
    }

    async fn attempt(&mut self, asks: &[Ask], held: bool) -> Result<Outcome, Fault> {
        let line = match self.line.take() {
            Some(line) if !line.session.is_closed() => line,
            _ => Line::open(&self.address).await?,
        };
        let line = self.line.insert(line);
        self.mark.commit += 1;
        let attempt = Attempt {
            line,
            clock: &*self.context.clock,
            seen: &self.context.seen,
            mark: self.mark,
        };
        attempt.run(asks, held).await
    }

    /// Finds out whether the commit that was just sent has happened, although its answer was lost.
    async fn has_happened(&mut self, cause: &Cause) -> Result<bool, Fault> {
        tracing::warn!(error = %cause, "the answer to a commit was lost; asking for it");
        loop {
            match self.last_commit().await {
                Ok(last) => return Ok(last == self.mark.commit),
                Err(Fault::Gone(_) | Fault::Contended(_)) => {}
                Err(_) => return Err(Fault::InDoubt(Arc::clone(cause))),
            }
            if !self.outage.wait().await {
                return Err(Fault::InDoubt(Arc::clone(cause)));
            }
        }
    }

    /// The number of this writer's latest commit; waits for one that the server still works on.
    async fn last_commit(&mut self) -> Result<i64, Fault> {
        self.line = None;
        let line = Line::open(&self.address).await?;
        let (writer, now) = (self.mark.writer.as_slice(), self.context.clock.now().0);
        let last = within(async {
            let row = line
                .session
                .query_one(&line.statements.last_commit, &[&writer, &now])
                .await?;
            Ok(row.try_get::<_, i64>(0)?)
        })
        .await?;
        self.line = Some(line);
        Ok(last)
    }
}

/// Takes what waits; nothing if the store is closing and everything was taken.
async fn gather(
    queue: &mut Requests<Ask, Vec<Answer>>,
    closing: &mut watch::Receiver<bool>,
    requests: &mut Vec<Request<Ask, Vec<Answer>>>,
    batch: usize,
) {
    tokio::select! {
        biased;
        // Also when the store was dropped without being closed.
        _ = closing.wait_for(|closing| *closing) => queue.close(),
        _ = queue.recv_many(requests, batch) => return,
    }
    queue.recv_many(requests, batch).await;
}

/// Cuts a batch where it would become too heavy for one message.
fn lighter_together() -> impl FnMut(&Ask, &Ask) -> bool {
    let mut weight = 0;
    move |before, next| {
        weight += before.bytes();
        let together = weight + next.bytes() <= HEAVIEST;
        if !together {
            weight = 0;
        }
        together
    }
}

fn only(mut answers: Answers) -> Result<Vec<Answer>, StoreError> {
    answers.pop().unwrap_or(Err(StoreError::Closed))
}
