//! A flight recorder in memory, for simulations: what the kernel keeps of one when a process dies, and loses when the
//! machine does.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use semel_ledger::Fence;
use semel_store::planted::{self, Bug};

use super::{Mark, Remains};

/// What one machine keeps.
#[derive(Debug, Default)]
pub struct Memory {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Which boot of the machine it is.
    boot: u32,
    /// By whom, and in which boot, it was begun.
    begun: Option<(u64, u32)>,
    marks: HashMap<[u8; 16], Mark>,
}

impl Memory {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine loses its power: nothing was synced, and it is another boot.
    pub fn lose_power(&self) {
        let mut kept = self.kept();
        kept.boot += 1;
        kept.marks.clear();
    }

    pub(super) fn begin(&self, node: u64) {
        let mut kept = self.kept();
        kept.begun = Some((node, kept.boot));
        kept.marks.clear();
    }

    pub(super) fn mark(&self, fence: Fence, mark: Mark) {
        self.kept().marks.insert(fence.0, mark);
    }

    /// What an earlier life left behind; nothing of it is believed after another boot.
    #[must_use]
    pub fn remains(&self) -> Remains {
        let kept = self.kept();
        match kept.begun {
            Some((node, boot)) if boot == kept.boot || planted::is(Bug::BelieveAfterPower) => {
                Remains {
                    node: Some(node),
                    marks: kept.marks.clone(),
                }
            }
            _ => Remains::default(),
        }
    }
}
