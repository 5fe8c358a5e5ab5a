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
//!  done, failed, released, undone ──kept──▶ tombstone ──remembered──▶ (absent)
//! ```
//!
//! Owns the states, the commands, the verdicts and the only code that moves an effect from one
//! state to the next; one file per command. Leaves to the stores: finding the entry and writing
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
mod decide;
mod settle;
mod sweep;

use crate::fingerprint::{Digest, Fingerprint};
use crate::time::{Millis, Time};

pub use claim::Claim;
pub use decide::Decision;
pub use settle::Outcome;

/// Where an effect stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Somebody may be acting right now.
    Claimed,
    /// It happened; the result is on record.
    Done,
    /// It definitely did not happen.
    Failed,
    /// It may or may not have happened.
    Unknown,
    /// Unknown, and a person has been asked.
    Review,
    /// It happened and was undone.
    Undone,
    /// Given back unused, or a person approved a resend: free to be claimed.
    Released,
}

impl State {
    /// Every state, in the order of their numbers in the stores.
    pub const ALL: [State; 7] = [
        State::Claimed,
        State::Done,
        State::Failed,
        State::Unknown,
        State::Review,
        State::Undone,
        State::Released,
    ];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Claimed => "claimed",
            State::Done => "done",
            State::Failed => "failed",
            State::Unknown => "unknown",
            State::Review => "review",
            State::Undone => "undone",
            State::Released => "released",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether something is still to come: these are never swept.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, State::Claimed | State::Unknown | State::Review)
    }
}

/// What a grant is recognised by: drawn at random for each claim, never used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fence(pub [u8; 16]);

/// A process on some machine, recognisable for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Which boot of which machine (and which process namespace in it).
    pub machine: [u8; 16],
    /// Its number there.
    pub pid: u32,
    /// When it started, in the machine's own ticks: tells it from a later process of that number.
    pub started: u64,
}

/// Who holds a claim, and so whose death makes it unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Whoever has the token; only the lease tells that it is gone.
    Client,
    /// A process, whose death can be seen on its machine.
    Process(Process),
    /// A node of the server; its own lease governs, not the claim's.
    Node {
        /// The node's number.
        node: u64,
        /// Which life of that node.
        epoch: u64,
    },
}

impl Owner {
    /// The node that holds the claim, if one does.
    #[must_use]
    pub fn node(self) -> Option<u64> {
        match self {
            Owner::Node { node, .. } => Some(node),
            Owner::Client | Owner::Process(_) => None,
        }
    }
}

/// What to do when an earlier attempt's outcome is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnUnknown {
    /// Ask a person.
    #[default]
    Ask,
    /// Act again: the caller says that a repeat is harmless.
    Retry,
    /// Take it as done.
    Skip,
}

impl OnUnknown {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OnUnknown::Ask => "ask",
            OnUnknown::Retry => "retry",
            OnUnknown::Skip => "skip",
        }
    }

    /// The rule of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<OnUnknown> {
        [OnUnknown::Ask, OnUnknown::Retry, OnUnknown::Skip]
            .into_iter()
            .find(|rule| rule.name() == name)
    }
}

/// What the ledger knows of one effect, apart from texts that no rule depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub state: State,
    /// How many grants there have been.
    pub attempt: u32,
    /// The latest grant.
    pub fence: Fence,
    /// Who got the latest grant.
    pub owner: Owner,
    /// What the input was, if it was ever said.
    pub fingerprint: Option<Fingerprint>,
    /// The rule that came with the latest grant, if one did.
    pub on_unknown: Option<OnUnknown>,
    /// How long it protects after it is settled.
    pub remember: Millis,
    /// When it was first claimed.
    pub created_at: Time,
    /// When the latest grant was given.
    pub claimed_at: Time,
    /// Until when the latest grant holds.
    pub lease_until: Time,
    /// When the present state began.
    pub changed_at: Time,
    /// What the settlement or decision that led here said.
    pub settled: Option<Digest>,
    /// Only the outcome is kept: input, result and receipts are gone.
    pub tombstone: bool,
}

impl Entry {
    /// When it stops protecting, if it is settled.
    #[must_use]
    pub fn forgotten_at(&self) -> Option<Time> {
        (!self.state.is_open()).then(|| self.changed_at.after(self.remember))
    }

    /// The entry as it is at `now`: a lease that ran out is already unknown.
    #[must_use]
    pub fn seen_at(&self, now: Time) -> Entry {
        if self.state == State::Claimed && now >= self.lease_until {
            let changed_at = self.lease_until;
            return Entry {
                state: State::Unknown,
                changed_at,
                settled: None,
                ..*self
            };
        }
        *self
    }
}

/// Something that is to happen to an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Ask to act.
    Claim(Claim),
    /// Claim and settle as done in one: "is this the first time?"
    Once(Claim),
    /// Go on holding the claim for another lease.
    Heartbeat {
        /// The grant.
        fence: Fence,
        /// How long from now.
        lease: Millis,
    },
    /// Say how the act ended.
    Settle {
        /// The grant.
        fence: Fence,
        /// How it ended.
        outcome: Outcome,
        /// All that was said, so that the same again is recognised.
        digest: Digest,
    },
    /// The owner of this grant is known to be dead.
    Abandon {
        /// The grant.
        fence: Fence,
    },
    /// Notice a lease that ran out.
    Lapse,
    /// A person says what is true of an unknown effect.
    Decide {
        /// What they say.
        decision: Decision,
        /// All that was said, so that the same again is recognised.
        digest: Digest,
    },
    /// A done effect was taken back.
    Undo {
        /// All that was said, so that the same again is recognised.
        digest: Digest,
    },
    /// Record that it happened before Semel was there.
    Import {
        /// When it happened.
        at: Time,
        /// How long it protects, from then on.
        remember: Millis,
    },
    /// Give back what is no longer needed.
    Sweep {
        /// How long inputs and results are kept.
        keep: Millis,
    },
}

/// The answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Act now: the claim is yours.
    Granted,
    /// Asked with [`Command::Once`]: this is the first time.
    First,
    /// It happened already (or is taken as having happened).
    Done,
    /// Somebody else is at it.
    Busy,
    /// Nobody knows whether it happened: decide first.
    Unknown,
    /// The same key stood for another input.
    Conflict,
    /// The outcome is on record.
    Settled {
        /// It already was.
        again: bool,
    },
    /// The lease was extended.
    Extended,
    /// That grant no longer holds; nothing was changed.
    Stale,
    /// The decision is on record.
    Decided {
        /// It already was.
        again: bool,
    },
    /// There is nothing to decide or undo in this state.
    NotOpen,
    /// Recorded as done from before.
    Imported,
    /// Something is on record already; the import changed nothing.
    Exists,
    /// There is no such effect.
    Missing,
    /// A background duty changed it.
    Swept,
    /// A background duty left it alone.
    Kept,
}

impl Verdict {
    /// Whether a claim was refused: each of these leaves a receipt.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            Verdict::Done | Verdict::Busy | Verdict::Unknown | Verdict::Conflict
        )
    }

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Granted => "granted",
            Verdict::First => "first",
            Verdict::Done => "done",
            Verdict::Busy => "busy",
            Verdict::Unknown => "unknown",
            Verdict::Conflict => "conflict",
            Verdict::Settled { .. } => "settled",
            Verdict::Extended => "extended",
            Verdict::Stale => "stale",
            Verdict::Decided { .. } => "decided",
            Verdict::NotOpen => "not_open",
            Verdict::Imported => "imported",
            Verdict::Exists => "exists",
            Verdict::Missing => "missing",
            Verdict::Swept => "swept",
            Verdict::Kept => "kept",
        }
    }
}

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
}

impl Cause {
    /// Every cause, in the order of their numbers in the stores.
    pub const ALL: [Cause; 12] = [
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
        Command::Heartbeat { fence, lease } => settle::heartbeat(entry, *fence, *lease, now),
        Command::Settle {
            fence,
            outcome,
            digest,
        } => settle::settle(entry, *fence, *outcome, *digest, now),
        Command::Abandon { fence } => settle::abandon(entry, *fence, now),
        Command::Lapse => Step::same(Verdict::Kept),
        Command::Decide { decision, digest } => decide::decide(entry, *decision, *digest, now),
        Command::Undo { digest } => decide::undo(entry, *digest, now),
        Command::Import { .. } => Step::same(Verdict::Exists),
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
