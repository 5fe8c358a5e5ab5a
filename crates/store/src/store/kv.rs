//! Values under keys as the store's callers write them.

use super::Store;
use crate::change::{Answer, Change};
use crate::error::StoreError;
use crate::kv::{KvChange, KvDone};

impl Store {
    /// Applies one operation to the value of a key.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn operate(&self, change: KvChange) -> Result<KvDone, StoreError> {
        let mut answers = self.commit(vec![Change::Kv(Box::new(change))]).await?;
        match answers.pop() {
            Some(Answer::Kv(done)) => Ok(*done),
            _ => Err(StoreError::Closed),
        }
    }
}
