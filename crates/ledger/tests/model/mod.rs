//! What the machine is held against: plans of commands, what came of them, and what must be true.
//!
//! [`plan`] draws any interleaving of commands; [`trace`] lets the machine live through one;
//! [`history`] is the independent model, which knows only what callers said and were told;
//! [`invariants`] are the promises, each a function over a trace.

pub(crate) mod history;
pub(crate) mod invariants;
pub(crate) mod plan;
pub(crate) mod trace;

pub(crate) use plan::plans;
pub(crate) use trace::{Moment, live};
