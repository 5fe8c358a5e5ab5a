//! How a run and an attempt end.

use std::sync::Arc;

use semel_act::FailureClass;
use semel_ledger::Time;
use serde::{Deserialize, Serialize};

use super::{Usage, text};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All steps are done, or a `stop` was reached.
    Done,
    /// A step has finally failed.
    Failed,
    /// Somebody asked for it.
    Cancelled,
    /// It failed or was cancelled, and what it had done was taken back.
    Undone,
}

/// An attempt that definitely did nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Which step.
    pub step: Arc<str>,
    /// Which attempt.
    pub attempt: u32,
    /// What may be done about it.
    #[serde(with = "text::class")]
    pub class: FailureClass,
    /// What went wrong.
    pub message: Box<str>,
    /// When the attempt began.
    #[serde(with = "text::millis")]
    pub at: Time,
    /// When it is tried again; `None`: it is not.
    #[serde(
        default,
        with = "text::millis_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub again_at: Option<Time>,
    /// The step may have happened all the same: by an attempt whose answer was lost, and that was
    /// repeated because a repeat is harmless.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub maybe: bool,
    /// What an answer took that was paid for and cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<Usage>>,
}
