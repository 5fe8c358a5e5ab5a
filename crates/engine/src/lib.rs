//! Runs: decided purely, worked on durably, recovered honestly.

pub mod decide;
pub mod journal;
pub mod names;
pub mod places;
pub mod read;
pub mod resolve;
pub mod retry;
pub mod state;
