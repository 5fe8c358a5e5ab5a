//! What the database itself answers, inside the batch's transaction and after its effects.
//!
//! Each caller's changes are applied in its own order. Runs that move on are taken together, as many
//! as stand first in line with their callers; everything else comes seldom and goes one at a time.

use std::collections::{HashSet, VecDeque};

use semel_ledger::Time;

use super::ask::{By, Other};
use super::fault::Fault;
use super::plan::Plan;
use super::writer::Line;
use super::{advance, audit, kv, listeners, nodes, people, releases, runs, secrets};
use crate::change::{Answer, Change};
use crate::run::{Advance, RunId};

/// Applies what `plan` leaves to the database, and completes its answers.
pub(super) async fn apply(line: &Line, plan: &mut Plan<'_>) -> Result<(), Fault> {
    let mut waiting = VecDeque::from(std::mem::take(&mut plan.others));
    runs::hold(line, waiting.make_contiguous()).await?;
    while !waiting.is_empty() {
        let moves = leading_moves(&mut waiting);
        if !moves.is_empty() {
            let done = advance::apply(line, &moves, plan.now).await?;
            for ((other, _), done) in moves.iter().zip(done) {
                plan.answer(other.by, Answer::Advanced(done));
            }
        }
        for other in leading_others(&mut waiting) {
            let answer = apply_one(line, &other, plan.now).await?;
            plan.answer(other.by, answer);
        }
    }
    Ok(())
}

/// Takes every move that stands before anything else of its caller, each run once.
fn leading_moves<'a>(waiting: &mut VecDeque<Other<'a>>) -> Vec<(Other<'a>, &'a Advance)> {
    let (mut moves, mut later) = (Vec::new(), VecDeque::new());
    let (mut runs, mut behind): (HashSet<RunId>, HashSet<usize>) = Default::default();
    for other in waiting.drain(..) {
        match other.change {
            Change::Advance(advance)
                if !behind.contains(&other.by.caller) && runs.insert(advance.run) =>
            {
                moves.push((other, &**advance));
            }
            _ => {
                behind.insert(other.by.caller);
                later.push_back(other);
            }
        }
    }
    *waiting = later;
    moves
}

/// Takes the first of each caller, if it is no move.
fn leading_others<'a>(waiting: &mut VecDeque<Other<'a>>) -> Vec<Other<'a>> {
    let (mut first, mut later) = (Vec::new(), VecDeque::new());
    let mut callers = HashSet::new();
    for other in waiting.drain(..) {
        let is_first = callers.insert(other.by.caller);
        if is_first && !matches!(other.change, Change::Advance(_)) {
            first.push(other);
        } else {
            later.push_back(other);
        }
    }
    *waiting = later;
    first
}

async fn apply_one(line: &Line, other: &Other<'_>, now: Time) -> Result<Answer, Fault> {
    let By { member, .. } = other.by;
    Ok(match other.change {
        Change::Mail { run, note } => {
            let told = runs::tell(line, &[&run.0], note, now).await?;
            Answer::Mailed(told == 1)
        }
        Change::Take { limit } => Answer::Taken(runs::take(line, *limit, member, now).await?),
        Change::Free { node, limit } => {
            Answer::Counted(runs::free(line, *node, *limit, member, now).await?)
        }
        Change::Forget { runs, until } => Answer::Counted(runs::forget(line, runs, *until).await?),
        Change::Release(change) => Answer::Released(releases::change(line, change, now).await?),
        Change::Cursor(change) => Answer::Moved(releases::move_cursor(line, change).await?),
        Change::Node(change) => Answer::Node(nodes::change_node(&line.session, change, now).await?),
        Change::Secret(change) => {
            Answer::Secret(secrets::change(&line.session, change, now).await?)
        }
        Change::Token(change) => {
            Answer::Token(nodes::change_token(&line.session, change, now).await?)
        }
        Change::Listen(listen) => Answer::Listens(listeners::listen(line, listen).await?),
        Change::Hush { run, step } => {
            listeners::hush(line, *run, step).await?;
            Answer::Written
        }
        Change::Tell { place, note } => {
            Answer::Told(listeners::tell(line, *place, note, now).await?)
        }
        Change::SweepKv { limit } => Answer::Counted(kv::sweep(line, *limit, now).await?),
        Change::Person(change) => Answer::Person(people::change(&line.session, change, now).await?),
        Change::Audit(change) => Answer::Audited(audit::change(&line.session, change, now).await?),
        Change::Effect(_)
        | Change::Kv(_)
        | Change::Blob(_)
        | Change::Receipts(_)
        | Change::Start(_)
        | Change::Advance(_) => Answer::Written,
    })
}
