//! A plan as data, and why there may be none.

use std::sync::Arc;

use semel_flow::model::Class;
use semel_ledger::{EffectId, KeyError};
use semel_store::StoreError;
use semel_store::run::{Run, RunId};

use crate::flows::{Compiled, ReleaseError};
use crate::journal::{Kept, Opening};
use crate::load::LoadError;

/// What a re-run does with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The recorded result stands.
    Reuse,
    /// It is done.
    Execute,
    /// It cannot be done: its key stood for something else, or somebody is at it.
    Blocked,
    /// A person has to decide first.
    Ask,
}

impl What {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            What::Reuse => "reuse",
            What::Execute => "execute",
            What::Blocked => "blocked",
            What::Ask => "ask",
        }
    }
}

/// One step of a plan.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Which step.
    pub step: Box<str>,
    /// Its class.
    pub class: Class,
    /// What happens.
    pub what: What,
    /// Why.
    pub why: String,
    /// The effect, if it has one whose key is known already.
    pub effect: Option<EffectId>,
}

/// What would happen if a run were done again.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The run before.
    pub run: Run,
    /// By which release it would be done.
    pub release: Arc<Compiled>,
    /// Each step in the order of the file.
    pub steps: Vec<Planned>,
    /// Stands for all of it.
    pub hash: String,
    pub(super) reuse: Vec<(Arc<str>, Kept)>,
    /// The steps that the run before did itself, in order.
    pub(super) own: Vec<Arc<str>>,
    pub(super) opening: Opening,
}

/// Why there is no plan, or it was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is no such run.
    #[error("there is no such run")]
    NoRun,
    /// It is not over.
    #[error("the run is not over: it is {state}")]
    Open {
        /// Where it stands.
        state: &'static str,
    },
    /// It belongs to another run.
    #[error("the run belongs to another one, {parent}: do that one again")]
    Child {
        /// Which.
        parent: String,
    },
    /// The plan has changed since it was shown.
    #[error("the plan has changed since it was shown")]
    Changed {
        /// What it is now.
        plan: Box<Plan>,
    },
    /// The same plan was carried out before.
    #[error("this plan was carried out before")]
    Again {
        /// The run that did.
        run: Option<RunId>,
    },
    /// The run cannot be read.
    #[error("the run cannot be read")]
    Load {
        /// Why.
        #[from]
        source: LoadError,
    },
    /// The release cannot be run.
    #[error("the release cannot be run")]
    Release {
        /// Why.
        #[from]
        source: ReleaseError,
    },
    /// A name is not acceptable.
    #[error(transparent)]
    Name {
        /// Why.
        #[from]
        source: KeyError,
    },
    /// The store could not.
    #[error("the store could not")]
    Store {
        /// Why.
        #[from]
        source: StoreError,
    },
}
