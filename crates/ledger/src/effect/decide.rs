//! What a person may say of an effect whose outcome nobody knows, and taking back what was done.

use super::{Cause, Entry, State, Step, Verdict};
use crate::fingerprint::Digest;
use crate::time::Time;

/// What a person says of an unknown effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It happened: never do it again.
    Happened,
    /// Do it again: whoever claims it next may act.
    Resend,
    /// It did not happen.
    Failed,
}

impl Decision {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Decision::Happened => "happened",
            Decision::Resend => "resend",
            Decision::Failed => "failed",
        }
    }

    /// The decision of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Decision> {
        [Decision::Happened, Decision::Resend, Decision::Failed]
            .into_iter()
            .find(|decision| decision.name() == name)
    }
}

pub(super) fn decide(entry: &Entry, decision: Decision, digest: Digest, now: Time) -> Step {
    let state = match decision {
        Decision::Happened => State::Done,
        Decision::Resend => State::Released,
        Decision::Failed => State::Failed,
    };
    if entry.state == state && entry.settled == Some(digest) {
        return Step::same(Verdict::Decided { again: true });
    }
    if !matches!(entry.state, State::Unknown | State::Review) {
        return Step::same(Verdict::NotOpen);
    }
    let decided = Entry {
        state,
        changed_at: now,
        settled: Some(digest),
        ..*entry
    };
    Step::moved(
        entry,
        decided,
        Cause::Decided(decision),
        Verdict::Decided { again: false },
    )
}

pub(super) fn undo(entry: &Entry, digest: Digest, now: Time) -> Step {
    match entry.state {
        State::Undone if entry.settled == Some(digest) => {
            Step::same(Verdict::Settled { again: true })
        }
        State::Done => {
            let undone = Entry {
                state: State::Undone,
                changed_at: now,
                settled: Some(digest),
                ..*entry
            };
            Step::moved(
                entry,
                undone,
                Cause::Undone,
                Verdict::Settled { again: false },
            )
        }
        _ => Step::same(Verdict::NotOpen),
    }
}
