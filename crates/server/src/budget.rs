//! How many bytes of bodies are held at once, so that many large requests cannot use up the memory.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::code::Code;
use crate::problem::Problem;

/// What one permit stands for.
const UNIT: usize = 1024;

/// Room for bodies.
#[derive(Debug)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    all: u32,
}

/// Room that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    _permit: OwnedSemaphorePermit,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Budget {
        let all = units(bytes);
        let units = Arc::new(Semaphore::new(all as usize));
        Budget { units, all }
    }

    /// Waits for room. A body larger than all there is takes it all.
    pub(crate) async fn take(&self, bytes: usize, patience: Duration) -> Result<Room, Problem> {
        let wanted = units(bytes).min(self.all);
        let taking = Arc::clone(&self.units).acquire_many_owned(wanted);
        if let Ok(Ok(permit)) = tokio::time::timeout(patience, taking).await {
            return Ok(Room { _permit: permit });
        }
        let detail = "too many large bodies are being worked on; nothing was written";
        Err(Problem::new(Code::Overloaded, detail).retry_after(1))
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX >> 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn room_that_is_taken_is_waited_for_and_comes_back() {
        let budget = Budget::new(10 * UNIT);
        let patience = Duration::from_millis(20);
        let all = budget.take(1000 * UNIT, patience).await.unwrap();
        let refused = budget.take(1, patience).await.unwrap_err();
        assert_eq!(refused.code, Code::Overloaded);
        drop(all);
        assert!(budget.take(1, patience).await.is_ok());
    }
}
