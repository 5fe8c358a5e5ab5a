//! Whole runs: a real store, the real engine, and a world that counts.

mod approvals;
mod approved;
mod asking;
mod control;
mod effects;
mod heard;
mod killed;
mod waits;
mod world;
