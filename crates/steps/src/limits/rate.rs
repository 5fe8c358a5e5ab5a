//! So many requests in a time, evenly spread, with a burst at the start.

use std::time::Duration;

use semel_ledger::Millis;
use tokio::time::Instant;

/// So many requests in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many; at least one.
    pub requests: u32,
    /// In how long.
    pub per: Millis,
    /// How many of them may come at once after a quiet time; at least one.
    pub burst: u32,
}

impl Rate {
    fn gap(self) -> Duration {
        Duration::from_millis(self.per.0) / self.requests.max(1)
    }
}

/// When the next request is due if all before it had kept an even pace.
#[derive(Debug, Default)]
pub(super) struct Pace {
    due: Option<Instant>,
}

impl Pace {
    /// The time at which a request may go, if that is not after `by`; else when it could have.
    pub(super) fn reserve(
        &mut self,
        rate: Rate,
        now: Instant,
        by: Instant,
    ) -> Result<Instant, Instant> {
        let gap = rate.gap();
        let due = self.due.map_or(now, |due| due.max(now));
        // A burst runs ahead of the even pace by so much.
        let ahead = gap * rate.burst.max(1).saturating_sub(1);
        let at = due.checked_sub(ahead).map_or(now, |at| at.max(now));
        if at > by {
            return Err(at);
        }
        self.due = Some(due + gap);
        Ok(at)
    }
}
