//! Which effects are likely to exist: a hint, never an answer.
//!
//! A claim for a key that exists is best answered by a read, which costs no commit; a claim for a
//! new key is best sent straight to the writer, which looks anyway. This tells which is likely,
//! from what passed by lately, in a fixed few megabytes. Being wrong costs time and nothing else.

use std::sync::atomic::{AtomicU64, Ordering};

/// A power of two. Each slot remembers one effect; a newer one takes its place.
const SLOTS: usize = 1 << 18;
const FEW: usize = 1 << 8;

#[derive(Debug)]
pub(crate) struct Seen(Box<[AtomicU64]>);

impl Default for Seen {
    fn default() -> Seen {
        Seen::with(SLOTS)
    }
}

impl Seen {
    /// For a store that is asked little and made often.
    pub(crate) fn small() -> Seen {
        Seen::with(FEW)
    }

    fn with(slots: usize) -> Seen {
        Seen((0..slots).map(|_| AtomicU64::new(0)).collect())
    }

    /// The hash is that of a random function already: its halves serve as place and mark.
    fn place(&self, hash: [u8; 16]) -> (&AtomicU64, u64) {
        let [place, mark] = [0, 8].map(|at| {
            let mut half = [0; 8];
            half.copy_from_slice(&hash[at..at + 8]);
            u64::from_le_bytes(half)
        });
        let slot = usize::try_from(place % self.0.len() as u64).unwrap_or(0);
        (&self.0[slot], mark)
    }

    pub(crate) fn add(&self, hash: [u8; 16]) {
        let (slot, mark) = self.place(hash);
        slot.store(mark, Ordering::Relaxed);
    }

    pub(crate) fn contains(&self, hash: [u8; 16]) -> bool {
        let (slot, mark) = self.place(hash);
        slot.load(Ordering::Relaxed) == mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_last_in_its_slot_is_seen() {
        let seen = Seen::default();
        let (mut first, mut second) = ([7; 16], [7; 16]);
        first[15] = 1;
        second[15] = 2;
        assert!(!seen.contains(first));
        seen.add(first);
        assert!(seen.contains(first) && !seen.contains(second));
        seen.add(second);
        assert!(seen.contains(second) && !seen.contains(first));
    }
}
