//! Whole runs: a real store, the real engine, and a world that counts.

mod approvals;
mod approved;
mod asking;
mod control;
mod effects;
mod heard;
mod killed;
mod kv;
mod kv_killed;
mod kv_undo;
mod models;
mod undo;
mod undo_killed;
mod undo_own;
mod waits;
mod world;
mod writes;
