//! Everything durable that can happen, as one vocabulary.

use semel_ledger::json::Canonical;
use semel_ledger::{Claim, Command, EffectId, Entry, Owner, Time, Verdict};

use crate::audit::AuditChange;
use crate::kv::{KvChange, KvDone};
use crate::listen::Listen;
use crate::node::{Membership, NodeChange, NodeState};
use crate::person::PersonChange;
use crate::receipt::{Receipt, ReceiptId};
use crate::record::Record;
use crate::run::{Advance, CursorChange, ReleaseChange, RunId, Start, Started};
use crate::secret::SecretChange;
use crate::token::TokenChange;

/// One thing to write, with its own precondition.
#[derive(Clone, Debug)]
pub enum Change {
    /// Move an effect one step.
    Effect(Box<EffectChange>),
    /// Keep bytes under their content hash.
    Blob(Vec<u8>),
    /// Add or revoke an API token.
    Token(TokenChange),
    /// Set, remove or re-seal a secret.
    Secret(SecretChange),
    /// Join, renew or fence a node.
    Node(NodeChange),
    /// Write receipts that were promised earlier.
    Receipts(Vec<Receipt>),
    /// Start a run together with the effect that stands for its key.
    Start(Box<Start>),
    /// One more row in a run's journal, and what becomes of the run.
    Advance(Box<Advance>),
    /// Tell a run something; if it rests, it wakes.
    Mail {
        /// Which run.
        run: RunId,
        /// What it is told.
        note: Box<str>,
    },
    /// Let the committing node hold up to so many runs that may go on.
    Take {
        /// How many at most.
        limit: u32,
    },
    /// Let go of up to so many runs that a node holds: the committing node itself, or one that was
    /// fenced or is gone. They wake at once.
    Free {
        /// Whose.
        node: u64,
        /// How many at most.
        limit: u32,
    },
    /// Forget runs with all that belongs to them: those of these that ended at or before `until`
    /// and whose parent, if they have one, is not open.
    Forget {
        /// Which.
        runs: Vec<RunId>,
        /// When they must have ended.
        until: Time,
    },
    /// Deploy, go live, retire.
    Release(ReleaseChange),
    /// Move a saved position.
    Cursor(CursorChange),
    /// A run waits for an event.
    Listen(Box<Listen>),
    /// A step of a run waits for its event no more.
    Hush {
        /// Which run.
        run: RunId,
        /// Which step.
        step: Box<str>,
    },
    /// Tell every open run that listens at a place; those that rest wake.
    Tell {
        /// Where.
        place: [u8; 16],
        /// What they are told.
        note: Box<str>,
    },
    /// One operation on the value of a key, with the effect that stands for it.
    Kv(Box<KvChange>),
    /// Forget up to so many values that have expired.
    SweepKv {
        /// How many at most.
        limit: u32,
    },
    /// People, their sessions and invitations.
    Person(Box<PersonChange>),
    /// Who did what.
    Audit(Box<AuditChange>),
}

impl From<EffectChange> for Change {
    fn from(change: EffectChange) -> Change {
        Change::Effect(Box::new(change))
    }
}

impl Change {
    /// The step of an effect that it is, or that it brings along.
    pub(crate) fn effect(&self) -> Option<&EffectChange> {
        match self {
            Change::Effect(change) => Some(change),
            Change::Start(start) => start.once.as_ref(),
            Change::Kv(change) => change.once.as_ref(),
            _ => None,
        }
    }

    /// Whether it makes an entry where there is none.
    pub(crate) fn may_be_first(&self) -> bool {
        self.effect()
            .is_some_and(|change| change.command.may_be_first())
    }

    /// The node, and which life of it, that a claim is made for.
    pub(crate) fn node_claiming(&self) -> Option<Membership> {
        match self.effect()?.command {
            Command::Claim(Claim { owner, .. }) | Command::Once(Claim { owner, .. }) => match owner
            {
                Owner::Node { node, epoch } => Some(Membership { node, epoch }),
                Owner::Client | Owner::Process(_) => None,
            },
            _ => None,
        }
    }
}

/// One step of one effect.
#[derive(Clone, Debug)]
pub struct EffectChange {
    /// Which effect.
    pub effect: EffectId,
    /// What is to happen to it.
    pub command: Command,
    /// The texts that come with it.
    pub content: Content,
}

/// Texts that come with a command; no rule of the machine depends on them.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// With a claim: the input, whose fingerprint the claim carries.
    pub input: Option<Canonical>,
    /// With a settlement, decision or import: what came of it, as JSON text.
    pub result: Option<Box<str>>,
    /// What the destination calls it.
    pub external_id: Option<Box<str>>,
    /// The reason of a settlement or the note of a decision.
    pub note: Option<Box<str>>,
    /// Who claims, or who decides.
    pub by: Option<Box<str>>,
    /// Blobs that the result refers to; they are kept for as long as the effect is.
    pub blobs: Vec<[u8; 32]>,
}

/// The answer to one change.
#[derive(Clone, Debug)]
pub enum Answer {
    /// To [`Change::Effect`].
    Effect(Box<Answered>),
    /// To [`Change::Node`]: the node's row after it; `None` if there is none.
    Node(Option<NodeState>),
    /// To [`Change::Token`]: whether anything was there to change.
    Token(bool),
    /// To [`Change::Secret`]: whether anything changed.
    Secret(bool),
    /// To [`Change::Start`].
    Started(Box<Started>),
    /// To [`Change::Advance`]: false if the node no longer holds the run or the row was there.
    Advanced(bool),
    /// To [`Change::Mail`]: false if there is no such run, or it is over.
    Mailed(bool),
    /// To [`Change::Take`]: the runs, oldest wake first.
    Taken(Vec<RunId>),
    /// To [`Change::Free`] and [`Change::Forget`]: how many runs; to [`Change::SweepKv`]: how many values.
    Counted(usize),
    /// To [`Change::Release`]: whether anything changed.
    Released(bool),
    /// To [`Change::Cursor`]: false if it was something else.
    Moved(bool),
    /// To [`Change::Listen`]: false if there is no such run, or it is over.
    Listens(bool),
    /// To [`Change::Tell`]: who was told, in order.
    Told(Vec<RunId>),
    /// To [`Change::Kv`].
    Kv(Box<KvDone>),
    /// It is written.
    Written,
    /// To [`Change::Person`]: whether anything changed.
    Person(bool),
    /// To [`Change::Audit`]: the place of a new entry, or how many changed.
    Audited(i64),
}

/// What became of one step of one effect.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The machine's verdict.
    pub verdict: Verdict,
    /// The entry after the step; `None` if there is none.
    pub entry: Option<Entry>,
    /// The whole record after the step, if the effect existed before it.
    pub record: Option<Box<Record>>,
    /// The receipt of a refused claim.
    pub receipt: Option<ReceiptId>,
}
