//! Who serves: one row a node, with a lease and an epoch.
//!
//! The row is the authority. A node that did not renew in time may be fenced by any other, which
//! raises the epoch; from then on every commit under the old epoch is refused, so the dead
//! node's claims can safely be called unknown. Time is the store's.

use semel_ledger::Time;

/// How long a node's lease holds without renewal.
pub const NODE_LEASE: semel_ledger::Millis = semel_ledger::Millis::seconds(15);

/// A node as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// Its number.
    pub node: u64,
    /// Which life of it.
    pub epoch: u64,
    /// What it calls itself.
    pub name: String,
    /// Until when it is taken to be alive.
    pub lease_until: Time,
    /// Another node has taken over from it.
    pub fenced: bool,
}

/// The identity under which a process commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The node.
    pub node: u64,
    /// Which life of it.
    pub epoch: u64,
}

/// What can happen to a node's row.
#[derive(Clone, Debug)]
pub enum NodeChange {
    /// Start a node; the answer tells its number and epoch.
    Join {
        /// What it calls itself.
        name: String,
    },
    /// Go on living. Refused, with the row as it is, if the epoch is no longer the current one.
    Renew(Membership),
    /// Declare dead, if this is still its epoch and its lease has run out (or `force`).
    Fence {
        /// Which life of which node.
        member: Membership,
        /// Do not wait for the lease: its death is certain.
        force: bool,
    },
    /// Leave in good order: no claims are left behind.
    Leave(Membership),
}
