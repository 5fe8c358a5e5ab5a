//! How a destination is doing, in words that whoever shows it understands.

use semel_ledger::Millis;

/// Upper bounds, in milliseconds, of how long calls take; the last has none.
pub const LATENCIES: [u64; 14] = [
    5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 10_000, 30_000,
];

/// How one destination is doing on this node since it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Host and port.
    pub name: String,
    /// Calls that ended.
    pub calls: u64,
    /// Of those: definitely did nothing.
    pub failed: u64,
    /// Of those: may or may not have happened.
    pub unknown: u64,
    /// How many calls took up to each of [`LATENCIES`] and longer than the one before; at the end,
    /// those that took longer than all.
    pub took: [u64; LATENCIES.len() + 1],
    /// How long all calls took together.
    pub took_in_all: Millis,
    /// Calls under way.
    pub open: usize,
    /// Calls that wait for their turn.
    pub waiting: usize,
    /// How many calls in which time, if that is limited.
    pub rate: Option<String>,
    /// How many calls at once, if that is limited.
    pub concurrency: Option<usize>,
    /// Whether it is left alone.
    pub breaker: Breaker,
}

/// Whether a destination is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// It is not.
    Closed,
    /// It is, for so long still.
    Open(Millis),
    /// One call may try it, or does.
    HalfOpen,
}

impl Breaker {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Breaker::Closed => "closed",
            Breaker::Open(_) => "open",
            Breaker::HalfOpen => "half-open",
        }
    }
}

impl Destination {
    /// About how long so many in a hundred calls took at most, in milliseconds; `None` before the first.
    /// What took longer than the last bound counts as that.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let calls: u64 = self.took.iter().sum();
        let wanted = (calls * percent).div_ceil(100);
        let mut seen = 0;
        for (index, count) in self
            .took
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            seen += count;
            if seen >= wanted {
                let last = LATENCIES.len() - 1;
                let upper = LATENCIES[index.min(last)];
                let lower = index
                    .checked_sub(1)
                    .map_or(0, |before| LATENCIES[before.min(last)]);
                // Even within its bounds, as far as anybody knows.
                let into = count - (seen - wanted);
                return Some(lower + (upper - lower) * into / count);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(took: [u64; LATENCIES.len() + 1]) -> Destination {
        Destination {
            name: "a.example:443".to_owned(),
            calls: took.iter().sum(),
            failed: 0,
            unknown: 0,
            took,
            took_in_all: Millis(0),
            open: 0,
            waiting: 0,
            rate: None,
            concurrency: None,
            breaker: Breaker::Closed,
        }
    }

    #[test]
    fn percentiles_lie_within_the_bounds_that_were_counted() {
        let mut took = [0; LATENCIES.len() + 1];
        assert_eq!(with(took).percentile(50), None);
        took[2] = 90;
        took[9] = 10;
        let destination = with(took);
        assert_eq!(destination.percentile(50), Some(10 + 15 * 50 / 90));
        assert_eq!(destination.percentile(90), Some(25));
        assert_eq!(destination.percentile(95), Some(750 + 250 * 5 / 10));
        took[LATENCIES.len()] = 1000;
        assert_eq!(with(took).percentile(95), Some(30_000));
    }
}
