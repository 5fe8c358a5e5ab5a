//! What the engine asks of the store beyond what everybody does.

use semel_ledger::EffectId;

use super::Store;
use crate::change::{Answer, Answered, Change};
use crate::error::StoreError;
use crate::node::Membership;

impl Store {
    /// Writes changes like [`Store::commit`], but only for that life of this node: whoever took
    /// something under an earlier one has lost it.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if this node is no longer that; otherwise as [`Store::commit`].
    pub async fn commit_as(
        &self,
        member: Membership,
        changes: Vec<Change>,
    ) -> Result<Vec<Answer>, StoreError> {
        if self.committing_as(&changes)? != Some(member) {
            return Err(StoreError::Fenced);
        }
        self.write(changes, Some(member)).await
    }

    /// Promises a receipt for a claim that a commit refused, as [`Store::step`] does.
    #[must_use]
    pub fn refusal(&self, effect: EffectId, by: Option<Box<str>>, answered: Answered) -> Answered {
        let hash = effect.hash();
        self.with_receipt(effect, hash, by, answered)
    }
}
