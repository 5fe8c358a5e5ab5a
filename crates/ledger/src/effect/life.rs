//! The life of an effect: why it went from one state to the next.

use super::{Decision, State};
use crate::time::Time;

/// Why an effect changed its state, other than by a first claim and a settlement as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Claimed again after a failure, a release or by the rule `retry`.
    ClaimedAgain,
    /// Settled as failed.
    Failed,
    /// Settled as released.
    Released,
    /// Settled as unknown: the answer was lost.
    AnswerLost,
    /// The lease ran out.
    LeaseRanOut,
    /// The owner died.
    OwnerDied,
    /// The rule `skip` took it as done.
    Skipped,
    /// The rule `ask` asked a person.
    Asked,
    /// A person decided.
    Decided(Decision),
    /// It was taken back.
    Undone,
    /// It was told to have happened before, although an attempt here failed or was given back.
    Imported,
    /// A person was asked for leave again, after a no or a request taken back.
    Requested,
}

impl Cause {
    /// Every cause, in the order of their numbers in the stores.
    pub const ALL: [Cause; 14] = [
        Cause::ClaimedAgain,
        Cause::Failed,
        Cause::Released,
        Cause::AnswerLost,
        Cause::LeaseRanOut,
        Cause::OwnerDied,
        Cause::Skipped,
        Cause::Asked,
        Cause::Decided(Decision::Happened),
        Cause::Decided(Decision::Resend),
        Cause::Decided(Decision::Failed),
        Cause::Undone,
        Cause::Imported,
        Cause::Requested,
    ];

    /// The words for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cause::ClaimedAgain => "claimed_again",
            Cause::Failed => "failed",
            Cause::Released => "released",
            Cause::AnswerLost => "answer_lost",
            Cause::LeaseRanOut => "lease_ran_out",
            Cause::OwnerDied => "owner_died",
            Cause::Skipped => "skipped",
            Cause::Asked => "asked",
            Cause::Decided(Decision::Happened) => "decided_happened",
            Cause::Decided(Decision::Resend) => "decided_resend",
            Cause::Decided(Decision::Failed) => "decided_failed",
            Cause::Undone => "undone",
            Cause::Imported => "imported",
            Cause::Requested => "requested",
        }
    }
}

/// One step in the life of an effect that its entry alone does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Which attempt it concerns.
    pub attempt: u32,
    /// When that attempt was granted.
    pub claimed_at: Time,
    /// When this happened.
    pub at: Time,
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// Why.
    pub cause: Cause,
}
