//! Asking to act: the one place where a grant is given.

use super::{Cause, Entry, Fence, OnUnknown, Owner, State, Step, Verdict};
use crate::fingerprint::Fingerprint;
use crate::time::{Millis, Time};

/// What a claim brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The name of the grant, if it is given: random, and the same when the same claim is sent again.
    pub fence: Fence,
    /// Who asks.
    pub owner: Owner,
    /// What the input is; `None` says nothing about it and conflicts with nothing.
    pub fingerprint: Option<Fingerprint>,
    /// What to do about an unknown outcome; `None` leaves it to the rule of the earlier claim.
    pub on_unknown: Option<OnUnknown>,
    /// How long the grant holds without a heartbeat.
    pub lease: Millis,
    /// How long the effect protects after it is settled.
    pub remember: Millis,
}

impl Claim {
    pub(super) fn first_entry(&self, now: Time) -> Entry {
        Entry {
            state: State::Claimed,
            attempt: 1,
            fence: self.fence,
            owner: self.owner,
            fingerprint: self.fingerprint,
            on_unknown: self.on_unknown,
            remember: self.remember,
            created_at: now,
            claimed_at: now,
            lease_until: self.lease_until(now),
            changed_at: now,
            settled: None,
            tombstone: false,
        }
    }

    pub(super) fn done_entry(&self, before: Option<&Entry>, now: Time) -> Entry {
        let granted = before.map_or_else(
            || self.first_entry(now),
            |entry| self.next_entry(entry, now),
        );
        Entry {
            state: State::Done,
            lease_until: now,
            ..granted
        }
    }

    fn next_entry(&self, before: &Entry, now: Time) -> Entry {
        // Nothing happened under a failed attempt's input, so it binds nobody.
        let bound = before.fingerprint.filter(|_| before.state != State::Failed);
        Entry {
            attempt: before.attempt.saturating_add(1),
            fingerprint: self.fingerprint.or(bound),
            on_unknown: self.on_unknown.or(before.on_unknown),
            created_at: before.created_at,
            ..self.first_entry(now)
        }
    }

    /// A node's claim ends with the node, not with a lease of its own.
    fn lease_until(&self, now: Time) -> Time {
        match self.owner {
            Owner::Node { .. } => Time::NEVER,
            Owner::Client | Owner::Process(_) => now.after(self.lease),
        }
    }

    /// Whether the latest grant came of this very claim.
    fn is_behind(&self, entry: &Entry) -> bool {
        entry.attempt > 0 && entry.fence == self.fence
    }

    fn conflicts_with(&self, entry: &Entry) -> bool {
        self.fingerprint
            .zip(entry.fingerprint)
            .is_some_and(|(mine, first)| mine != first)
    }
}

/// What stands in the way of a claim, if anything does.
enum Way {
    /// Nothing happened under this key that a repeat would double.
    Free,
    /// Unknown, and the rule allows a repeat.
    Retry,
    Blocked(Step),
}

fn way(entry: &Entry, claim: &Claim, now: Time) -> Way {
    if entry.state != State::Failed && claim.conflicts_with(entry) {
        return Way::Blocked(Step::same(Verdict::Conflict));
    }
    match entry.state {
        State::Failed | State::Released => Way::Free,
        State::Claimed => Way::Blocked(Step::same(Verdict::Busy)),
        State::Done | State::Undone => Way::Blocked(Step::same(Verdict::Done)),
        State::Review => Way::Blocked(Step::same(Verdict::Unknown)),
        State::Unknown => match claim.on_unknown.or(entry.on_unknown).unwrap_or_default() {
            OnUnknown::Retry => Way::Retry,
            OnUnknown::Skip => {
                let done = Entry {
                    state: State::Done,
                    changed_at: now,
                    settled: None,
                    ..*entry
                };
                Way::Blocked(Step::moved(entry, done, Cause::Skipped, Verdict::Done))
            }
            OnUnknown::Ask => {
                let review = Entry {
                    state: State::Review,
                    changed_at: now,
                    ..*entry
                };
                Way::Blocked(Step::moved(entry, review, Cause::Asked, Verdict::Unknown))
            }
        },
    }
}

pub(super) fn claim(entry: &Entry, claim: &Claim, now: Time) -> Step {
    if claim.is_behind(entry) {
        match entry.state {
            // The answer to this very claim was lost and it is asked again.
            State::Claimed if !claim.conflicts_with(entry) => return Step::same(Verdict::Granted),
            // Its grant was used up. Granting the same fence again would give an earlier holder
            // who wakes up late the power to settle.
            State::Failed | State::Released | State::Unknown => return Step::same(Verdict::Stale),
            State::Claimed | State::Done | State::Undone | State::Review => {}
        }
    }
    match way(entry, claim, now) {
        Way::Blocked(step) => step,
        Way::Free | Way::Retry => Step::moved(
            entry,
            claim.next_entry(entry, now),
            Cause::ClaimedAgain,
            Verdict::Granted,
        ),
    }
}

pub(super) fn once(entry: &Entry, claim: &Claim, now: Time) -> Step {
    if claim.is_behind(entry) {
        match entry.state {
            // The answer to this very question was lost and it is asked again.
            State::Done if !claim.conflicts_with(entry) => return Step::same(Verdict::First),
            State::Failed | State::Released | State::Unknown => return Step::same(Verdict::Stale),
            State::Claimed | State::Done | State::Undone | State::Review => {}
        }
    }
    match way(entry, claim, now) {
        Way::Blocked(step) => step,
        Way::Free | Way::Retry => {
            let done = claim.done_entry(Some(entry), now);
            Step::moved(entry, done, Cause::ClaimedAgain, Verdict::First)
        }
    }
}
