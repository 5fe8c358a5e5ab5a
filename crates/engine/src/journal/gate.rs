//! What people were asked.

use std::sync::Arc;

use semel_ledger::{Fence, Time};
use serde::{Deserialize, Serialize};

use super::{Kept, text};

/// People were asked for leave. What they see was rendered once, and is never rendered again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requested {
    /// Which step.
    pub step: Arc<str>,
    /// Counted from 1: the next one asks others, when these did not answer.
    pub round: u32,
    /// The request's fence.
    #[serde(with = "text::fence")]
    pub fence: Fence,
    /// The effect's scope.
    pub scope: Box<str>,
    /// The effect's key.
    pub key: Box<str>,
    /// Until when they may answer.
    #[serde(with = "text::millis")]
    pub until: Time,
    /// What they see: `ask` and `show`.
    pub shown: Kept,
    /// Stands for all of that, apart from what depends on the moment.
    pub hash: Box<str>,
}
