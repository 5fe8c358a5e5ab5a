//! Asking a person for leave: an effect that is in review from the moment it is asked for.

use super::{Cause, Entry, Fence, Owner, State, Step, Verdict};
use crate::fingerprint::Fingerprint;
use crate::time::{Millis, Time};

/// What a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The name of this asking: random, and the same when the same request is sent again.
    pub fence: Fence,
    /// What the person is shown. An answer counts for exactly this.
    pub fingerprint: Fingerprint,
    /// How long the answer protects.
    pub remember: Millis,
}

impl Request {
    pub(super) fn first_entry(&self, now: Time) -> Entry {
        Entry {
            state: State::Review,
            attempt: 1,
            fence: self.fence,
            // Nobody acts meanwhile, so nobody's death makes it unknown.
            owner: Owner::Client,
            fingerprint: Some(self.fingerprint),
            on_unknown: None,
            remember: self.remember,
            created_at: now,
            claimed_at: now,
            lease_until: now,
            changed_at: now,
            settled: None,
            tombstone: false,
        }
    }

    fn next_entry(&self, before: &Entry, now: Time) -> Entry {
        Entry {
            attempt: before.attempt.saturating_add(1),
            on_unknown: before.on_unknown,
            created_at: before.created_at,
            ..self.first_entry(now)
        }
    }
}

pub(super) fn request(entry: &Entry, request: &Request, now: Time) -> Step {
    let mine = entry.attempt > 0 && entry.fence == request.fence;
    match entry.state {
        // It was asked, and answered with no: only a new request may ask again.
        State::Failed | State::Released if mine => Step::same(Verdict::Stale),
        State::Failed | State::Released => {
            let review = request.next_entry(entry, now);
            Step::moved(entry, review, Cause::Requested, Verdict::Asked)
        }
        // What says nothing of its input was not said of this one.
        _ if entry.fingerprint != Some(request.fingerprint) => Step::same(Verdict::Conflict),
        State::Done | State::Undone => Step::same(Verdict::Done),
        State::Claimed => Step::same(Verdict::Busy),
        // The answer to this very request was lost and it is asked again.
        State::Review if mine => Step::same(Verdict::Asked),
        State::Review | State::Unknown => Step::same(Verdict::Unknown),
    }
}
