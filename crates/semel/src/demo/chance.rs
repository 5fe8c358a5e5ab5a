//! Chance that can be had again: the same seed, the same storm.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A row of numbers that look random.
#[derive(Debug)]
pub(super) struct Chance(AtomicU64);

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance(AtomicU64::new(seed))
    }

    /// The next number by `SplitMix64`.
    pub(super) fn number(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// True that many times in a hundred.
    pub(super) fn percent(&self, share: u64) -> bool {
        self.number() % 100 < share
    }

    pub(super) fn between(&self, low: u64, high: u64) -> u64 {
        low + self.number() % (high - low + 1)
    }

    pub(super) fn millis(&self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }

    pub(super) fn one_of<'a>(&self, words: &[&'a str]) -> &'a str {
        let index = self.number() % words.len().max(1) as u64;
        usize::try_from(index)
            .ok()
            .and_then(|index| words.get(index))
            .copied()
            .unwrap_or_default()
    }
}
