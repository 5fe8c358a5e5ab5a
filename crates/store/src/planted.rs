//! Known bugs that tests plant, to see them found.
//!
//! Without the feature `planted`, which only tests turn on, [`is`] is false when it is compiled and what depends on it is
//! not there. With it, there is still none until a test plants one, in its own process.

/// A known bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bug {
    /// The step acts without having claimed its effect.
    SkipClaim = 1,
    /// The effect is on record as done before anything was sent.
    SettleBeforeAct,
    /// What nobody knows is simply repeated.
    RetryUnknown,
    /// A run that rests is not woken.
    LoseTimer,
    /// Whoever sends an event is told that it is taken before it is durable.
    AcceptBeforeCommit,
    /// A run is started without the effect of its key.
    StartWithoutKey,
    /// A claim that was on the wire when the process died is taken for one that was not.
    SentAsUnsent,
    /// The flight recorder is believed after a power cut.
    BelieveAfterPower,
    /// A re-run has a key of its own, and nothing of what was done before.
    RerunIsAnother,
    /// A destination that dedupes is told another key at every attempt.
    KeyPerAttempt,
    /// An approval counts for whatever is asked under the same key.
    AnyApproval,
    /// What was done is taken back without a claim of that.
    UndoUnclaimed,
    /// The destination is asked before it can show what it did.
    AskEarly,
    /// What was looked up and not found is taken as done.
    NotThereIsThere,
    /// An event is applied although something newer was.
    StaleIsNew,
    /// A duplicate leaves no receipt.
    ForgetReceipt,
    /// A refusal of the ledger is taken for a grant.
    ActDespiteRefusal,
    /// An answer that says that something went wrong is taken for a definite no.
    WrongIsNo,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 18] = [
        Bug::SkipClaim,
        Bug::SettleBeforeAct,
        Bug::RetryUnknown,
        Bug::LoseTimer,
        Bug::AcceptBeforeCommit,
        Bug::StartWithoutKey,
        Bug::SentAsUnsent,
        Bug::BelieveAfterPower,
        Bug::RerunIsAnother,
        Bug::KeyPerAttempt,
        Bug::AnyApproval,
        Bug::UndoUnclaimed,
        Bug::AskEarly,
        Bug::NotThereIsThere,
        Bug::StaleIsNew,
        Bug::ForgetReceipt,
        Bug::ActDespiteRefusal,
        Bug::WrongIsNo,
    ];
}

#[cfg(feature = "planted")]
static PLANTED: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// Plants a bug in this process, or takes it out.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    let number = bug.map_or(0, |bug| bug as u8);
    PLANTED.store(number, std::sync::atomic::Ordering::SeqCst);
}

/// Whether that bug is planted.
#[cfg(feature = "planted")]
#[must_use]
pub fn is(bug: Bug) -> bool {
    PLANTED.load(std::sync::atomic::Ordering::Relaxed) == bug as u8
}

/// Whether that bug is planted: never in a build that people use.
#[cfg(not(feature = "planted"))]
#[must_use]
#[inline]
pub const fn is(_bug: Bug) -> bool {
    false
}
