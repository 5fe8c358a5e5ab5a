//! Owns the decision on each operation that was at risk when the power went.
//!
//! Does not own which operations are at risk, nor what follows for the files
//! (`image.rs`).
//!
//! Invariant: the decisions depend on the survival, the seed and the sequence
//! of the operations alone. The generator is our own, so that a seed that was
//! printed by a failed test means the same for ever.

use std::cmp::Ordering;
use std::ops::Range;

/// The unit in which parts of one write survive independently.
const SECTOR: usize = 512;

/// What becomes of the operations that no sync had made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// None of them reached the disk.
    Nothing,
    /// All of them reached the disk.
    Everything,
    /// Each of them reached the disk or not, whatever their order, and so did
    /// each 512-byte sector of each write.
    RandomSubset,
    /// Those before a random one reached the disk, that one in part if it is
    /// a write, and none of those after it.
    Torn,
}

impl Survival {
    /// All of them, for tests that go through each.
    pub const ALL: [Self; 4] = [
        Self::Nothing,
        Self::Everything,
        Self::RandomSubset,
        Self::Torn,
    ];
}

/// Decides on the operations at risk, which must be put to it in their order.
pub(crate) struct Judge {
    survival: Survival,
    prng: SplitMix64,
    /// How many operations were decided on.
    decided: usize,
    /// Which of them is the torn one, if it comes to that.
    torn: usize,
}

impl Judge {
    pub(crate) fn new(survival: Survival, at_risk: usize, seed: u64) -> Self {
        let mut prng = SplitMix64(seed);
        let torn = prng.up_to(at_risk);
        Self {
            survival,
            prng,
            decided: 0,
            torn,
        }
    }

    /// Whether an operation that cannot be split survives.
    pub(crate) fn survives(&mut self) -> bool {
        match self.survival {
            Survival::Nothing => false,
            Survival::Everything => true,
            Survival::RandomSubset => self.prng.coin(),
            Survival::Torn => self.versus_torn().is_lt(),
        }
    }

    /// Which parts of a write survive, counted from its first byte.
    pub(crate) fn parts(&mut self, offset: usize, len: usize) -> Vec<Range<usize>> {
        match self.survival {
            Survival::Nothing => Vec::new(),
            Survival::Everything => first(len),
            Survival::RandomSubset => {
                let sectors = sectors(offset, len);
                sectors.filter(|_| self.prng.coin()).collect()
            }
            Survival::Torn => match self.versus_torn() {
                Ordering::Less => first(len),
                Ordering::Equal => first(self.tear(offset, len)),
                Ordering::Greater => Vec::new(),
            },
        }
    }

    /// Where the next operation stands relative to the torn one.
    fn versus_torn(&mut self) -> Ordering {
        let ordering = self.decided.cmp(&self.torn);
        self.decided += 1;
        ordering
    }

    /// Cuts a write at any byte, or at the end of a sector, since both kinds
    /// of cut find mistakes of their own.
    fn tear(&mut self, offset: usize, len: usize) -> usize {
        let cut = self.prng.up_to(len);
        if self.prng.coin() {
            return cut;
        }
        let past_sector = (offset + cut) % SECTOR;
        cut.saturating_sub(past_sector)
    }
}

/// The one part that has the first bytes.
pub(crate) fn first(len: usize) -> Vec<Range<usize>> {
    std::iter::once(0..len).collect()
}

/// The ranges of a write that fall into one sector of the file each, counted
/// from the first byte of the write.
fn sectors(offset: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = SECTOR - (offset + start) % SECTOR;
        let sector = start..len.min(start + rest);
        start = sector.end;
        (!sector.is_empty()).then_some(sector)
    })
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn coin(&mut self) -> bool {
        self.next() >> 63 == 1
    }

    /// A number from 0 to the bound, which is included. The slight bias of
    /// the remainder does not matter here.
    fn up_to(&mut self, bound: usize) -> usize {
        let choices = bound as u64 + 1;
        usize::try_from(self.next() % choices).unwrap_or(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::{Judge, SECTOR, SplitMix64, Survival, sectors};

    #[test]
    fn the_generator_is_splitmix64() {
        // The reference sequence of the algorithm for the seed 1234567.
        let mut prng = SplitMix64(1_234_567);
        let first = [prng.next(), prng.next(), prng.next()];
        let reference = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, reference);
    }

    #[test]
    fn sectors_end_where_those_of_the_file_end() {
        let ranges: Vec<_> = sectors(SECTOR - 10, SECTOR + 20).collect();
        assert_eq!(ranges, [0..10, 10..522, 522..532]);
        assert_eq!(sectors(0, 0).count(), 0);
    }

    #[test]
    fn a_torn_sequence_has_a_head_a_cut_and_no_tail() {
        let mut cuts = 0;
        for seed in 0..200 {
            let mut judge = Judge::new(Survival::Torn, 8, seed);
            let kept: Vec<usize> = (0..8)
                .map(|nth| judge.parts(nth * 4096, 4096))
                .map(|parts| parts.into_iter().map(|part| part.len()).sum())
                .collect();
            let whole = kept.iter().take_while(|kept| **kept == 4096).count();
            assert!(kept.iter().skip(whole + 1).all(|kept| *kept == 0));
            cuts += usize::from(kept.get(whole).is_some_and(|kept| *kept > 0));
        }
        assert!(cuts > 100, "only {cuts} of 200 seeds tore a write apart");
    }
}
