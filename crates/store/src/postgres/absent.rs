//! Effects that were just looked for and not found.
//!
//! A claim is looked up before it is written, since a duplicate needs no write. When nothing is
//! there, the writer need not look again: what it writes is conditional anyway. So this is only
//! ever a hint; a wrong one costs a second attempt and nothing else.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Beyond this nobody seems to follow up, and all are forgotten.
const MOST: usize = 16_384;

/// The hints, each used at most once.
#[derive(Debug, Default)]
pub(super) struct Absent(Mutex<HashSet<[u8; 16]>>);

impl Absent {
    /// Nothing was found under these ids.
    pub(super) fn note(&self, ids: impl Iterator<Item = [u8; 16]>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() > MOST {
            held.clear();
        }
        held.extend(ids);
    }

    /// Takes the hints for `ids` and leaves those that have to be read.
    pub(super) fn drop_known(&self, ids: &mut Vec<Vec<u8>>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ids.retain(|id| !held.remove(id.as_slice()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_used_once() {
        let absent = Absent::default();
        absent.note([[1; 16], [2; 16]].into_iter());
        let mut ids = vec![vec![1; 16], vec![3; 16]];
        absent.drop_known(&mut ids);
        assert_eq!(ids, [vec![3; 16]]);
        let mut ids = vec![vec![1; 16], vec![2; 16]];
        absent.drop_known(&mut ids);
        assert_eq!(ids, [vec![1; 16]]);
    }
}
