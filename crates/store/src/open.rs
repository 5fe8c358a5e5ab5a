//! Where a store is and how it is opened.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use semel_ledger::Millis;

use crate::clock::Clock;
use crate::error::OpenError;
use crate::gate::Gate;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Nowhere: gone with the process.
    Memory,
    /// One file on a local disk.
    Sqlite(PathBuf),
    /// A database shared by several nodes.
    Postgres(String),
}

impl FromStr for Location {
    type Err = OpenError;

    fn from_str(address: &str) -> Result<Location, OpenError> {
        if address == "memory:" {
            return Ok(Location::Memory);
        }
        if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            return Ok(Location::Postgres(address.to_owned()));
        }
        match address.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(Location::Sqlite(Path::new(path).to_owned())),
            _ => Err(OpenError::Address {
                address: address.to_owned(),
            }),
        }
    }
}

/// How a store is opened. The default suits a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the time comes from; the machine's clock (or the database's) if not given.
    pub clock: Option<Arc<dyn Clock>>,
    /// How many calls may wait for the writer; one more is refused.
    pub queue: usize,
    /// How many calls share one commit at the most.
    pub batch: usize,
    /// How long inputs, results and receipts are kept in full.
    pub keep: Millis,
    /// Connections for reading (SQLite) or writing (PostgreSQL).
    pub connections: usize,
    /// SQLite only: the name of the VFS to use, for tests that take the disk apart.
    pub vfs: Option<String>,
    /// SQLite only: how many pages the log holds before they are copied to the database. A large
    /// log is cheaper: pages that change often are copied once.
    pub checkpoint_pages: u32,
    /// SQLite only: turns off the sync at each commit, for the test that shows that it is needed.
    pub unsafe_no_sync: bool,
    /// What stands around every commit, in simulations.
    pub gate: Option<Arc<dyn Gate>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            clock: None,
            queue: 8192,
            batch: 512,
            keep: Millis::days(30),
            connections: 4,
            vfs: None,
            checkpoint_pages: 20_000,
            unsafe_no_sync: false,
            gate: None,
        }
    }
}
