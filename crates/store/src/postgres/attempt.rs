//! One attempt to commit one batch: read, plan, write, commit.
//!
//! The first attempt reads without locks, so that a batch which needs no write starts no
//! transaction and costs no fsync; what it then writes is conditional on what it read. If that
//! is no longer so, the next attempt holds the rows while it plans and can lose only to new keys.
//! A batch that enters or leaves lanes holds them, and all it is about, from the first attempt on.
//!
//! The invariant: COMMIT is sent only after every write was answered as planned, so whoever knows
//! that the mark is there knows that everything is.

use super::ask::Ask;
use super::effects::{self, Mark, Written};
use super::fault::{Cause, Fault};
use super::ground::{self, Needs};
use super::plan::{Answers, Plan};
use super::writer::Line;
use super::{others, within};
use crate::clock::Clock;
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
        let needs = Needs::of(asks);
        let held = held || needs.any();
        let ground = if held {
            ground::hold(self.line, asks, needs).await?
        } else {
            ground::read(self.line, asks, self.seen).await?
        };
        let sure = ground.sure;
        let mut plan = Plan::new(asks, ground, self.clock.now());
        if plan.is_idle() {
            // Nothing will be written that could prove a hint wrong: look, to be sure.
            if held {
                self.roll_back().await?;
            }
            return Ok((Some(plan).filter(|_| sure), false));
        }
        let written = effects::write(self.line, &plan, self.mark, !held).await?;
        let Written::All(new) = written else {
            return Ok((None, true));
        };
        plan.number(&new.seqs);
        plan.refuse(plan.starts.refused(&new.started));
        plan.starts
            .follow(self.line, &new.started, plan.now)
            .await?;
        others::apply(self.line, &mut plan).await?;
        Ok((Some(plan), true))
    }

    async fn roll_back(&self) -> Result<(), Fault> {
        within(async { Ok(self.line.session.batch_execute("ROLLBACK").await?) }).await
    }
}
