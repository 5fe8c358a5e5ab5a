//! The machine that every effect lives in: `(entry, command, now) → (entry', verdict)`.
//!
//! ```text
//!              claim                      settle done
//!  (absent) ───────────▶ claimed ───────────────────────▶ done ──undo──▶ undone
//!                         │ │ │ settle failed
//!                         │ │ └──────────────▶ failed ────claim (attempt+1)──▶ claimed
//!                         │ │ settle released
//!                         │ └────────────────▶ released ──claim (attempt+1)──▶ claimed
//!                         │ answer lost · owner died · lease ran out
//!                         └──▶ unknown ──claim, rule retry──▶ claimed (attempt+1)
//!                                 │ ├────claim, rule skip───▶ done
//!                                 │ └────claim, rule ask────▶ review
//!                                 └─ or review ──person──▶ done │ failed │ released (resend)
//!  (absent), failed, released ──request──▶ review (attempt+1)
//!  failed, released ──import──▶ done
//!  done, failed, released, undone ──kept──▶ tombstone ──remembered──▶ (absent)
//! ```
//!
//! Owns the states ([`State`]), the commands and verdicts, and the only code that moves an effect
//! from one state to the next; one file per kind of command. Leaves to the stores: finding the entry and writing
//! the answer in the same transaction.
//!
//! The invariants, held by `tests/machine.rs` against an independent model:
//! at most one grant without an outcome, a rule or a person in between; a stale fence changes
//! nothing; done never becomes claimed; unknown becomes claimed only by a rule or a person;
//! a refused claim is always a [`Verdict::is_refusal`]; nothing open is ever swept.
//!
//! A lease that ran out and a memory that ended are seen by whichever command comes next, so the
//! answer does not depend on when a background duty last passed by.

mod claim;
mod command;
mod decide;
mod entry;
mod life;
mod request;
mod settle;
mod sweep;

use crate::time::Time;

pub use claim::Claim;
pub use command::{Command, Verdict};
pub use decide::Decision;
pub use entry::{Entry, Fence, OnUnknown, Owner, Process, State};
pub use life::{Cause, Transition};
pub use request::Request;
pub use settle::Outcome;

/// What a command leaves in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Nothing changes; no write is needed.
    Same,
    /// The entry as it is from now on.
    Put(Entry),
    /// A new entry; whatever stood under this key before was forgotten.
    Fresh(Entry),
    /// Nothing: the effect is forgotten.
    Gone,
}

/// The machine's whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to store.
    pub after: After,
    /// What to tell the caller.
    pub verdict: Verdict,
    /// What to add to the effect's life, oldest first.
    pub transitions: Vec<Transition>,
}

impl Step {
    fn same(verdict: Verdict) -> Step {
        Step {
            after: After::Same,
            verdict,
            transitions: Vec::new(),
        }
    }

    fn fresh(entry: Entry, verdict: Verdict) -> Step {
        Step {
            after: After::Fresh(entry),
            verdict,
            transitions: Vec::new(),
        }
    }

    fn moved(from: &Entry, to: Entry, cause: Cause, verdict: Verdict) -> Step {
        let transition = Transition {
            attempt: to.attempt,
            claimed_at: to.claimed_at,
            at: to.changed_at,
            from: from.state,
            to: to.state,
            cause,
        };
        Step {
            after: After::Put(to),
            verdict,
            transitions: vec![transition],
        }
    }
}

/// Moves an effect one step. `entry` is what the store holds, `None` if it holds nothing.
#[must_use]
pub fn apply(entry: Option<&Entry>, command: &Command, now: Time) -> Step {
    let Some(stored) = entry.filter(|entry| !is_forgotten(entry, now)) else {
        return apply_absent(entry.is_some(), command, now);
    };
    let seen = stored.seen_at(now);
    let step = apply_present(&seen, command, now);
    if seen.state == stored.state {
        step
    } else {
        with_lapse(stored, seen, step)
    }
}

fn is_forgotten(entry: &Entry, now: Time) -> bool {
    entry.forgotten_at().is_some_and(|at| now >= at)
}

fn apply_absent(leftover: bool, command: &Command, now: Time) -> Step {
    match command {
        Command::Claim(claim) => Step::fresh(claim.first_entry(now), Verdict::Granted),
        Command::Once(claim) => Step::fresh(claim.done_entry(None, now), Verdict::First),
        Command::Request(request) => Step::fresh(request.first_entry(now), Verdict::Asked),
        Command::Import { at, remember } => {
            Step::fresh(sweep::imported(*at, *remember, now), Verdict::Imported)
        }
        Command::Sweep { .. } if leftover => Step {
            after: After::Gone,
            verdict: Verdict::Swept,
            transitions: Vec::new(),
        },
        Command::Sweep { .. } | Command::Lapse => Step::same(Verdict::Kept),
        Command::Heartbeat { .. }
        | Command::Settle { .. }
        | Command::Abandon { .. }
        | Command::Decide { .. }
        | Command::Undo { .. } => Step::same(Verdict::Missing),
    }
}

fn apply_present(entry: &Entry, command: &Command, now: Time) -> Step {
    match command {
        Command::Claim(claim) => claim::claim(entry, claim, now),
        Command::Once(claim) => claim::once(entry, claim, now),
        Command::Request(request) => request::request(entry, request, now),
        Command::Heartbeat { fence, lease } => settle::heartbeat(entry, *fence, *lease, now),
        Command::Settle {
            fence,
            outcome,
            digest,
        } => settle::settle(entry, *fence, *outcome, *digest, now),
        Command::Abandon { fence } => settle::abandon(entry, *fence, now),
        Command::Lapse => Step::same(Verdict::Kept),
        Command::Decide { attempt, .. } if attempt.is_some_and(|n| n != entry.attempt) => {
            Step::same(Verdict::NotOpen)
        }
        Command::Decide {
            decision, digest, ..
        } => decide::decide(entry, *decision, *digest, now),
        Command::Undo { digest } => decide::undo(entry, *digest, now),
        Command::Import { remember, .. } => sweep::import(entry, *remember, now),
        Command::Sweep { keep } => sweep::sweep(entry, *keep, now),
    }
}

/// Records a lease that ran out ahead of whatever the command then did.
fn with_lapse(stored: &Entry, seen: Entry, mut step: Step) -> Step {
    let lapse = Step::moved(stored, seen, Cause::LeaseRanOut, Verdict::Swept);
    step.transitions.splice(0..0, lapse.transitions);
    if step.after == After::Same {
        step.after = lapse.after;
    }
    if step.verdict == Verdict::Kept {
        step.verdict = Verdict::Swept;
    }
    step
}
