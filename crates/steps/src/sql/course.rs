//! The course of a step through a database, the same for each of them.
//!
//! begin → mark → work → result into the mark → commit. The invariants: only COMMIT can have an
//! effect, so [`semel_act::Trace::sent`] is called right before it, and whatever fails earlier
//! certainly did not happen; after it, only the database's word counts. A statement that commits by
//! itself is its own COMMIT.

use std::time::Duration;

use semel_act::{Answer, Outcome, Trace};
use semel_flow::Value;
use tokio::time::{Instant, timeout_at};

use super::fault::{Fault, FaultKind};
use super::plan::{Plan, Work};
use super::pool::Pool;
use super::receipts::Claim;
use super::rows::Found;
use super::session::{Access, Door, Session};
use super::words;
use crate::secrets::Redactor;

/// The most time that is kept for asking what became of a COMMIT.
const MOST_TO_ASK: Duration = Duration::from_secs(5);
/// How often it is asked again after a lost race.
const QUESTIONS: usize = 3;

/// One step on its way.
pub(super) struct Course<'c, D: Door> {
    pub(super) door: &'c D,
    pub(super) pool: &'c Pool<D::Session>,
    pub(super) password: Option<String>,
    pub(super) plan: Plan,
    pub(super) redactor: Redactor,
    pub(super) trace: &'c dyn Trace,
    pub(super) timeout: Duration,
}

/// How far a step came.
#[derive(Default)]
struct Way {
    /// What was sent last may have committed.
    sent: bool,
}

impl<D: Door> Course<'_, D> {
    pub(super) async fn perform(&self) -> Outcome {
        let deadline = Instant::now() + self.timeout;
        let Some(_turn) = self.pool.turn(deadline).await else {
            let message = format!("no connection of `{}` was free in time", self.plan.on);
            return Fault::unreachable(message).outcome();
        };
        let mut way = Way::default();
        let to_act = match self.plan.receipt {
            Some(_) => deadline - (self.timeout / 5).min(MOST_TO_ASK),
            None => deadline,
        };
        let acted = timeout_at(to_act, self.act(to_act, &mut way)).await;
        let acted = acted.unwrap_or_else(|_| Err(Fault::gone("the step's time was over")));
        match acted {
            Ok(names) => done(names),
            Err(fault) if way.sent && fault.kind == FaultKind::Gone => {
                self.in_doubt(fault, deadline).await
            }
            Err(fault) if way.sent && self.commits_itself() => unknown(&fault.message),
            Err(fault) => fault.outcome(),
        }
    }

    /// All of it, in one session.
    async fn act(&self, by: Instant, way: &mut Way) -> Result<Value, Fault> {
        let mut session = self.begun(by).await?;
        let ended = self.inside(&mut session, by, way).await;
        let outside = match &ended {
            Ok(_) => true,
            // An answer that was too long has not been read to its end.
            Err(fault) if matches!(fault.kind, FaultKind::Gone | FaultKind::Wrong) => false,
            // A COMMIT that was refused has ended the transaction too; another end does no harm.
            Err(_) => session.rollback().await.is_ok(),
        };
        if outside && self.leaves_no_trace() {
            self.pool.put(session);
        }
        ended
    }

    /// A session in a new transaction: one that waited, if it still answers, else a new one.
    async fn begun(&self, by: Instant) -> Result<D::Session, Fault> {
        let access = if self.plan.only_reads() {
            Access::Read
        } else {
            Access::Write
        };
        while let Some(mut session) = self.pool.take() {
            match session.begin(access, rest(by)).await {
                Ok(()) => return Ok(session),
                Err(fault) if fault.kind == FaultKind::Gone => {}
                Err(fault) => return Err(fault),
            }
        }
        let mut session = self.door.open(self.password.as_deref()).await?;
        session.begin(access, rest(by)).await?;
        Ok(session)
    }

    /// What happens between BEGIN and the answer to COMMIT.
    async fn inside(
        &self,
        session: &mut D::Session,
        by: Instant,
        way: &mut Way,
    ) -> Result<Value, Fault> {
        if let Some(recorded) = self.mark(session, by).await? {
            session.rollback().await?;
            return Ok(recorded);
        }
        session.prepare(&self.plan).await?;
        let commits_itself = self.commits_itself();
        if commits_itself {
            way.sent = true;
            self.trace.sent();
        }
        let found = session.carry_out(&self.plan).await?;
        self.check(&found)?;
        let names = self.names(found);
        if self.plan.only_reads() {
            session.rollback().await?;
            return Ok(names);
        }
        if let Some(effect) = &self.plan.receipt {
            session.record(effect, &names.to_json()).await?;
        }
        if !commits_itself {
            way.sent = true;
            self.trace.sent();
        }
        session.commit().await?;
        Ok(names)
    }

    /// Makes the mark; what came of it, if it was there.
    async fn mark(&self, session: &mut D::Session, by: Instant) -> Result<Option<Value>, Fault> {
        let Some(effect) = &self.plan.receipt else {
            return Ok(None);
        };
        let word = self.plan.word().unwrap_or_default();
        if self.commits_itself() {
            return Err(Fault::wrong(format!(
                "{word} commits by itself here, so `receipt` could not be written with it; leave one of them out"
            )));
        }
        let mut claim = session.claim(effect).await?;
        if claim == Claim::NoTable {
            session.rollback().await?;
            session.make_table().await?;
            session.begin(Access::Write, rest(by)).await?;
            claim = session.claim(effect).await?;
        }
        match claim {
            Claim::New => Ok(None),
            Claim::Recorded(text) => read_recorded(&text).map(Some),
            Claim::NoTable => Err(Fault::refused("the table semel_receipts does not stay")),
        }
    }

    fn check(&self, found: &Found) -> Result<(), Fault> {
        match &self.plan.work {
            Work::Update(update) if update.expect != found.count => Err(Fault::refused(format!(
                "`update` found {} rows, not the {} of `expect`; nothing was changed",
                found.count, update.expect
            ))),
            _ => Ok(()),
        }
    }

    /// After COMMIT was sent and no answer came.
    async fn in_doubt(&self, fault: Fault, deadline: Instant) -> Outcome {
        if self.plan.receipt.is_none() {
            return unknown(&fault.message);
        }
        let mut last = fault;
        for _ in 0..QUESTIONS {
            let asked = timeout_at(deadline, self.ask(deadline)).await;
            match asked.unwrap_or_else(|_| Err(Fault::gone("the mark could not be read in time"))) {
                Ok(Some(names)) => return done(names),
                Ok(None) => return last.outcome(),
                Err(fault) if fault.kind == FaultKind::Busy => last = fault,
                Err(fault) => return unknown(&fault.message),
            }
        }
        unknown(&last.message)
    }

    /// Asks for the mark by trying to make it: that waits for a transaction that is still under
    /// way, and if it succeeds, that transaction has ended and can never commit.
    async fn ask(&self, by: Instant) -> Result<Option<Value>, Fault> {
        let Some(effect) = &self.plan.receipt else {
            return Ok(None);
        };
        let mut session = self.door.open(self.password.as_deref()).await?;
        session.begin(Access::Write, rest(by)).await?;
        let claim = session.claim(effect).await?;
        session.rollback().await?;
        match claim {
            Claim::New => Ok(None),
            Claim::Recorded(text) => read_recorded(&text).map(Some),
            Claim::NoTable => Err(Fault::refused("the table semel_receipts is gone")),
        }
    }

    fn commits_itself(&self) -> bool {
        let word = self.plan.word();
        word.is_some_and(|word| !self.plan.only_reads() && self.door.commits_itself(&word))
    }

    /// Whether the session is afterwards as it was before, so that another step can have it. What
    /// a query sets is undone with its transaction.
    fn leaves_no_trace(&self) -> bool {
        self.plan.only_reads()
            || self
                .plan
                .word()
                .is_none_or(|word| words::changes_rows(&word))
    }

    /// What expressions see. Without secrets already here, as it is kept in the mark.
    fn names(&self, found: Found) -> Value {
        let rows = found.rows.map_or(Value::Null, Value::list);
        let count = i64::try_from(found.count).unwrap_or(i64::MAX);
        self.redactor
            .value(Value::map([("rows", rows), ("count", Value::Int(count))]))
    }
}

fn done(names: Value) -> Outcome {
    let rows = names.get("rows").filter(|rows| **rows != Value::Null);
    let result = rows.or(names.get("count")).cloned();
    Outcome::Done(Answer {
        result: result.unwrap_or(Value::Null),
        names,
    })
}

fn unknown(message: &str) -> Outcome {
    Outcome::Unknown {
        message: format!("{message}; it may have been committed"),
        evidence: None,
    }
}

fn rest(by: Instant) -> Duration {
    by.saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1))
}

fn read_recorded(text: &str) -> Result<Value, Fault> {
    Value::read(text.as_bytes()).map_err(|error| {
        Fault::refused(format!(
            "the mark in semel_receipts cannot be read: {error}"
        ))
    })
}
