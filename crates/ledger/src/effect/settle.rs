//! What the holder of a grant may say. Whoever's grant is not the latest, or whose lease ran
//! out, is told so and changes nothing, however late they wake up.

use super::{After, Cause, Entry, Fence, Owner, State, Step, Verdict};
use crate::fingerprint::Digest;
use crate::time::{Millis, Time};

/// How an act ended, as its holder tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It happened.
    Done,
    /// It definitely did not happen.
    Failed,
    /// It may have happened.
    Unknown,
    /// It was not tried; the claim is given back.
    Released,
}

impl Outcome {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Failed => "failed",
            Outcome::Unknown => "unknown",
            Outcome::Released => "released",
        }
    }

    /// The outcome of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Outcome> {
        [
            Outcome::Done,
            Outcome::Failed,
            Outcome::Unknown,
            Outcome::Released,
        ]
        .into_iter()
        .find(|outcome| outcome.name() == name)
    }
}

fn holds(entry: &Entry, fence: Fence) -> bool {
    entry.state == State::Claimed && entry.fence == fence
}

pub(super) fn heartbeat(entry: &Entry, fence: Fence, lease: Millis, now: Time) -> Step {
    if !holds(entry, fence) {
        return Step::same(Verdict::Stale);
    }
    let lease_until = match entry.owner {
        Owner::Node { .. } => entry.lease_until,
        Owner::Client | Owner::Process(_) => now.after(lease),
    };
    if lease_until <= entry.lease_until {
        return Step::same(Verdict::Extended);
    }
    let after = After::Put(Entry {
        lease_until,
        ..*entry
    });
    Step {
        after,
        verdict: Verdict::Extended,
        transitions: Vec::new(),
    }
}

pub(super) fn settle(
    entry: &Entry,
    fence: Fence,
    outcome: Outcome,
    digest: Digest,
    now: Time,
) -> Step {
    if entry.fence == fence && entry.settled == Some(digest) {
        return Step::same(Verdict::Settled { again: true });
    }
    if !holds(entry, fence) {
        return Step::same(Verdict::Stale);
    }
    let (state, cause) = match outcome {
        Outcome::Done => (State::Done, None),
        Outcome::Failed => (State::Failed, Some(Cause::Failed)),
        Outcome::Unknown => (State::Unknown, Some(Cause::AnswerLost)),
        Outcome::Released => (State::Released, Some(Cause::Released)),
    };
    let settled = Entry {
        state,
        changed_at: now,
        settled: Some(digest),
        ..*entry
    };
    let verdict = Verdict::Settled { again: false };
    match cause {
        Some(cause) => Step::moved(entry, settled, cause, verdict),
        None => Step {
            after: After::Put(settled),
            verdict,
            transitions: Vec::new(),
        },
    }
}

pub(super) fn abandon(entry: &Entry, fence: Fence, now: Time) -> Step {
    if !holds(entry, fence) {
        return Step::same(Verdict::Stale);
    }
    let unknown = Entry {
        state: State::Unknown,
        changed_at: now,
        settled: None,
        ..*entry
    };
    Step::moved(entry, unknown, Cause::OwnerDied, Verdict::Swept)
}
