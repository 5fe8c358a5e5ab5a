//! What only PostgreSQL can show: several nodes on one database, and a database that goes away.
//!
//! The contract that all backends share is in the conformance suite. These tests need a real server: `SEMEL_TEST_POSTGRES` is
//! the URL of one, `SEMEL_TEST_PG_BIN` the directory of the programs that make one; `./test` sets
//! both.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

#[path = "postgres/cluster.rs"]
mod cluster;
#[path = "postgres/cuts.rs"]
mod cuts;
#[path = "postgres/like_memory.rs"]
mod like_memory;
#[path = "postgres/load.rs"]
mod load;
#[path = "postgres/nodes.rs"]
mod nodes;
#[path = "postgres/opening.rs"]
mod opening;
#[path = "postgres/outage.rs"]
mod outage;
#[path = "postgres/proxy.rs"]
mod proxy;
#[path = "postgres/quiet.rs"]
mod quiet;
#[path = "postgres/run_cuts.rs"]
mod run_cuts;
mod shared;
