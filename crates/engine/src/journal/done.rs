//! Steps that happened, and how that came to be known.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Kept, Usage};

/// A step that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Which.
    pub step: Arc<str>,
    /// What later steps see.
    pub result: Kept,
    /// How it came to be known.
    #[serde(default, skip_serializing_if = "How::is_act")]
    pub how: How,
    /// Which attempt, if it was an act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Read and set steps: what was asked. Other effects keep it in the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Kept>,
    /// How long the act took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<u64>,
    /// The effect, if the ledger keeps one that was not asked for before the act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<(Box<str>, Box<str>)>,
    /// What the answer took, if it is paid for by that and this run paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<Usage>>,
}

impl Done {
    /// A result and no more.
    #[must_use]
    pub fn plain(step: Arc<str>, result: Kept) -> Done {
        Done {
            step,
            result,
            how: How::Act,
            attempt: None,
            input: None,
            took: None,
            effect: None,
            usage: None,
        }
    }
}

/// How it came to be known that a step happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// This run did it.
    #[default]
    Act,
    /// The ledger said that it had happened: by whom.
    Reused(Box<str>),
    /// Looked up at the destination.
    LookedUp,
    /// A person said so.
    Decided,
    /// Taken as done by rule.
    TakenAsDone,
    /// The ledger said that it had happened, by this run or by one that it does again: by whom.
    TakenOver(Box<str>),
    /// What it waited for has come.
    Arrived,
    /// Nothing came in time, and the file says to go on.
    TimedOut,
    /// People were asked for leave, and this is what was answered, by whom.
    Answered(Box<str>),
    /// It depended on what was there, and nothing was changed.
    Unchanged,
}

impl How {
    fn is_act(&self) -> bool {
        *self == How::Act
    }
}
