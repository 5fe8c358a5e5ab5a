//! What can be asked of the ledger. Answers are paged by position, never by offset.

use semel_ledger::{Scope, State, Time, Verdict};

/// The longest page.
pub const MAX_PAGE: usize = 1000;

/// Which effects.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only of this scope.
    pub scope: Option<Scope>,
    /// Only in these states, as they are at the time of asking; empty for all.
    pub states: Vec<State>,
    /// Only with this id at the destination.
    pub external_id: Option<String>,
    /// Only whose key (in text form) starts so.
    pub key_prefix: Option<String>,
    /// Only whose present state began at or after this.
    pub since: Option<Time>,
    /// Only whose present state began before this.
    pub until: Option<Time>,
    /// Only whose name hashes to something from the first to the last of these.
    pub hashes: Option<([u8; 16], [u8; 16])>,
    /// Continue behind this position.
    pub after: Option<i64>,
    /// At most so many.
    pub limit: usize,
}

/// Which receipts.
#[derive(Clone, Debug, Default)]
pub struct ReceiptFilter {
    /// Only of this scope.
    pub scope: Option<Scope>,
    /// Only of this effect (by the hash of its name).
    pub effect: Option<[u8; 16]>,
    /// Only with this verdict.
    pub verdict: Option<Verdict>,
    /// Only at or after this.
    pub since: Option<Time>,
    /// Continue behind this position.
    pub after: Option<i64>,
    /// At most so many.
    pub limit: usize,
}

/// One page, newest first. Positions are numbers, or whatever else the items are in order of.
#[derive(Clone, Debug)]
pub struct Page<T, P = i64> {
    /// What was found.
    pub items: Vec<T>,
    /// Where to go on, if there is more.
    pub next: Option<P>,
}

impl<T, P> Page<T, P> {
    /// Makes a page of up to `limit + 1` items that were found; `position` tells where one stands.
    #[must_use]
    pub fn new(mut items: Vec<T>, limit: usize, position: impl Fn(&T) -> P) -> Page<T, P> {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(position);
        Page { items, next }
    }
}

/// How many claims were refused in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The scope.
    pub scope: String,
    /// The start of the hour.
    pub hour: Time,
    /// Why they were refused.
    pub verdict: Verdict,
    /// How many.
    pub count: u64,
}
