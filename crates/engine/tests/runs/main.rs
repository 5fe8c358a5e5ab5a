//! Whole runs: a real store, the real engine, and a world that counts.

mod control;
mod effects;
mod killed;
mod models;
mod world;
