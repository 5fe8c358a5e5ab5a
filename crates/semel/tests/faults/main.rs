//! The binary on a machine that fails: syncs that do not, processes that are killed, disks that are
//! full, a second node, the same job started many times over.
//!
//! The witness is never the ledger's own word alone: clients keep what they were answered, commands
//! leave a line at a destination, and both are held against what is there after the fault.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it must be"
)]

mod client;
mod cron;
mod ended;
mod flows;
mod full;
mod killed;
mod load;
mod node;
mod nodes;
mod secrets;
mod sink;
#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "shared with the tests of the command line")]
mod support;
mod sync;
mod told;
