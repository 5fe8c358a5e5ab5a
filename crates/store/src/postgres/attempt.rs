//! One attempt to commit one batch: read, plan, write, commit.
//!
//! The first attempt reads without locks, so that a batch which needs no write starts no
//! transaction and costs no fsync; what it then writes is conditional on what it read. If that
//! is no longer so, the next attempt holds the rows while it plans and can lose only to new keys.
//!
//! The invariant: COMMIT is sent only after every write was answered as planned, so whoever knows
//! that the mark is there knows that everything is.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::effects::{self, Mark, Written};
use super::fault::{Cause, Fault};
use super::nodes;
use super::pipeline::Pipeline;
use super::plan::{Answers, Ask, Plan};
use super::row::{Stamped, Unreadable};
use super::within;
use super::writer::Line;
use crate::clock::Clock;
use crate::node::Membership;
use crate::seen::Seen;

/// How an attempt ended.
pub(super) enum Outcome {
    /// The answers may be given.
    Durable(Answers),
    /// The connection broke at COMMIT.
    Doubtful(Doubtful),
    /// Somebody else was first; nothing was written.
    RaceLost,
}

/// A commit of which nobody knows whether it happened.
pub(super) struct Doubtful {
    /// True if it did.
    pub(super) answers: Answers,
    pub(super) cause: Cause,
}

/// What was read before planning.
struct Read {
    rows: Vec<Row>,
    alive: Vec<Membership>,
    /// No part of it was taken from a hint.
    sure: bool,
}

/// What an attempt works with.
pub(super) struct Attempt<'a> {
    pub(super) line: &'a Line,
    pub(super) clock: &'a dyn Clock,
    pub(super) seen: &'a Seen,
    pub(super) mark: Mark,
}

impl Attempt<'_> {
    /// Tries once; with `held`, rows are held from before they are read.
    pub(super) async fn run(&self, asks: &[Ask], held: bool) -> Result<Outcome, Fault> {
        let written = within(self.plan_and_write(asks, held)).await;
        let (plan, open) = match written {
            Ok((plan, open)) => (plan, open),
            Err(Fault::Gone(cause)) => return Err(Fault::Gone(cause)),
            Err(fault) => {
                self.roll_back().await?;
                return Err(fault);
            }
        };
        let Some(plan) = plan else {
            if open {
                self.roll_back().await?;
            }
            return Ok(Outcome::RaceLost);
        };
        let answers = plan.answers;
        if !open {
            return Ok(Outcome::Durable(answers));
        }
        let commit = async {
            let commit = self.line.session.batch_execute("COMMIT").await;
            commit.map_err(Fault::at_commit)
        };
        match within(commit).await {
            Ok(()) => Ok(Outcome::Durable(answers)),
            // Silence at COMMIT says no more than a broken connection does.
            Err(Fault::InDoubt(cause) | Fault::Gone(cause)) => {
                Ok(Outcome::Doubtful(Doubtful { answers, cause }))
            }
            Err(fault) => Err(fault),
        }
    }

    /// The plan, written into a transaction that is left open, if there was anything to write.
    /// No plan if a race was lost.
    async fn plan_and_write<'a>(
        &self,
        asks: &'a [Ask],
        held: bool,
    ) -> Result<(Option<Plan<'a>>, bool), Fault> {
        let Line {
            session,
            statements,
        } = self.line;
        let read = self.read(asks, held).await?;
        let mut plan = Plan::new(asks, stamped(&read.rows)?, &read.alive, self.clock.now());
        if plan.is_idle() {
            // Nothing will be written that could prove a hint wrong: look, to be sure.
            let sure = read.sure;
            if held {
                self.roll_back().await?;
            }
            return Ok((Some(plan).filter(|_| sure), false));
        }
        let written = effects::write(session, statements, &plan, self.mark, !held).await?;
        let Written::All(seqs) = written else {
            return Ok((None, true));
        };
        plan.number(&seqs);
        for (caller, place, change) in std::mem::take(&mut plan.others) {
            let answer = nodes::apply(session, change, plan.now).await?;
            if let Ok(answers) = &mut plan.answers[caller] {
                answers[place] = answer;
            }
        }
        Ok((Some(plan), true))
    }

    /// The effects that `asks` are about, and the nodes that are alive.
    async fn read(&self, asks: &[Ask], held: bool) -> Result<Read, Fault> {
        let Line {
            session,
            statements,
        } = self.line;
        let mut ids: Vec<Vec<u8>> = if held {
            asks.iter().flat_map(Ask::touches).map(Into::into).collect()
        } else {
            let read = asks.iter().flat_map(|ask| ask.must_read(self.seen));
            read.map(Into::into).collect()
        };
        ids.sort_unstable();
        ids.dedup();
        let members: Vec<Membership> = asks.iter().filter_map(|ask| ask.member).collect();
        let sure = held || asks.iter().all(|ask| ask.guesses(self.seen) == 0);
        if !sure && ids.is_empty() {
            // The write holds the members' epochs and so finds out who is not alive.
            return Ok(Read {
                rows: Vec::new(),
                alive: members,
                sure,
            });
        }
        let nodes: Vec<i64> = members.iter().map(|m| m.node.cast_signed()).collect();
        let (alive, load) = if held {
            (&statements.hold, &statements.load_held)
        } else {
            (&statements.alive, &statements.load)
        };
        let mut pipe = Pipeline::new(session);
        if held {
            pipe.control("BEGIN");
        }
        let alive = (!nodes.is_empty()).then(|| pipe.query(alive, vec![&nodes]));
        let rows = (!ids.is_empty()).then(|| pipe.query(load, vec![&ids]));
        let mut replies = pipe.run().await?;
        let mut take = |place: Option<_>| place.map(|place| replies.take(place).rows);
        Ok(Read {
            rows: take(rows).unwrap_or_default(),
            alive: nodes::memberships(&take(alive).unwrap_or_default()),
            sure,
        })
    }

    async fn roll_back(&self) -> Result<(), Fault> {
        within(async { Ok(self.line.session.batch_execute("ROLLBACK").await?) }).await
    }
}

fn stamped(rows: &[Row]) -> Result<HashMap<[u8; 16], Stamped>, Unreadable> {
    rows.iter().map(Stamped::read).collect()
}
