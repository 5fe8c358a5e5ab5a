//! What a run waits for, and what it told those that wait.

use std::sync::Arc;

use semel_ledger::Time;
use serde::{Deserialize, Serialize};

use super::{Kept, text};

/// A step that rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// Which.
    pub step: Arc<str>,
    /// Until when at the most. Fixed when its turn came, whatever clocks do afterwards.
    #[serde(with = "text::millis")]
    pub until: Time,
    /// What for.
    #[serde(rename = "for")]
    pub what: WaitsFor,
}

/// What a step waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsFor {
    /// That time.
    Time,
    /// Its callback.
    Callback,
    /// An event.
    Event,
    /// The answer of people who were asked for leave.
    Approval,
}

/// An event that a step emitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Emitted {
    /// Which step.
    pub step: Arc<str>,
    /// The event's name.
    pub event: Box<str>,
    /// What it carries.
    pub data: Kept,
    /// How many flows received it.
    pub receivers: u64,
}
