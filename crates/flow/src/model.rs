//! The flow file as types: what was written, checked and ready to be run.
//!
//! Owns the vocabulary of the file and the defaults that follow from it (effect classes, scopes).
//! Made by lowering YAML; nothing else makes one.

mod approve;
mod class;
mod examples;
mod step;
mod trigger;
mod wait;

use semel_ledger::Millis;

use crate::diagnostic::Spanned;
use crate::expr::{Expr, Template};

pub use approve::{Approve, GROUP, OnReject, Round};
pub use class::is_of_answer;
pub use examples::{Example, Examples};
pub use step::{
    Act, Action, Branch, Case, Class, Ensure, ForEach, GiveUp, Kind, Lookup, Made, OnUnknown,
    Probe, Retry, Step, Tree,
};
pub use trigger::{
    Fetch, Latest, Missed, Preset, Schedule, Secrets, Sync, Timing, Trigger, Verify, Webhook,
};
pub use wait::{ForEvent, Heard, INCOMING, Link, OnTimeout, Patience, Wait};

/// Steps in order.
pub type Block = Vec<Step>;

/// A whole flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its name: letters, digits, `-` and `_`; also the scope of its runs.
    pub name: Spanned<String>,
    /// For people.
    pub description: Option<String>,
    /// What starts it; by hand always.
    pub triggers: Vec<Trigger>,
    /// The identity of a run; left out, the trigger's own.
    pub key: Option<Template>,
    /// How long done keys protect; left out, the server's default.
    pub remember: Option<Spanned<Millis>>,
    /// What happens when a run starts while another is under way.
    pub overlap: Option<Overlap>,
    /// The policy of steps that have none of their own.
    pub retry: Option<Retry>,
    /// Whether a run that retries or is parked lets the next in its queue pass.
    pub order: Order,
    /// Names for expressions, each may use those before it.
    pub lets: Vec<(Spanned<String>, Expr)>,
    /// What is done.
    pub steps: Block,
    /// What is done when a step has finally failed.
    pub on_failure: Block,
    /// For whoever tries it.
    pub examples: Examples,
}

/// What happens when a run starts while another is under way.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// Which runs count as the same; left out, all of the flow.
    pub per: Option<Template>,
    /// What happens then.
    pub policy: OverlapPolicy,
}

/// What to do with a run that would overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverlapPolicy {
    /// Run both.
    #[default]
    Allow,
    /// Wait for the first.
    Queue,
    /// Do not start the second.
    Skip,
    /// Cancel the first.
    Replace,
}

/// Whether a run that retries or is parked keeps its place in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// It does: later ones wait (`order: strict`).
    #[default]
    Strict,
    /// It lets others pass (`order: loose`).
    Loose,
}

impl OverlapPolicy {
    /// All policies, in the order of the documentation.
    pub const ALL: [OverlapPolicy; 4] = [
        OverlapPolicy::Allow,
        OverlapPolicy::Queue,
        OverlapPolicy::Skip,
        OverlapPolicy::Replace,
    ];

    /// The word for it in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OverlapPolicy::Allow => "allow",
            OverlapPolicy::Queue => "queue",
            OverlapPolicy::Skip => "skip",
            OverlapPolicy::Replace => "replace",
        }
    }
}
