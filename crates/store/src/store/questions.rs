//! What can be asked of the store. Nothing here writes or waits for a writer.

use semel_ledger::{EffectId, Time};

use super::{Backend, Store};
use crate::blob::Stored;
use crate::error::StoreError;
use crate::kv::{KvEntry, KvFilter, KvKey};
use crate::node::NodeState;
use crate::query::{Filter, MAX_PAGE, Page, ReceiptFilter, Tally};
use crate::receipt::Receipt;
use crate::record::{Record, Turn};
use crate::secret::Sealed;
use crate::token::Token;

impl Store {
    /// The record of an effect.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn load(&self, effect: &EffectId) -> Result<Option<Record>, StoreError> {
        backend!(self, load(effect))
    }

    /// The effects that match, newest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn list(&self, filter: &Filter) -> Result<Page<Record>, StoreError> {
        let filter = Filter {
            limit: filter.limit.clamp(1, MAX_PAGE),
            ..filter.clone()
        };
        backend!(self, list(filter, self.now()))
    }

    /// The life of an effect beyond its first claim and settlement, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn turns(&self, record: &Record) -> Result<Vec<Turn>, StoreError> {
        backend!(self, turns(record.seq))
    }

    /// The receipts that match, newest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn receipts(&self, filter: &ReceiptFilter) -> Result<Page<Receipt>, StoreError> {
        let filter = ReceiptFilter {
            limit: filter.limit.clamp(1, MAX_PAGE),
            ..filter.clone()
        };
        backend!(self, receipts(filter))
    }

    /// Refused claims by scope, hour and verdict, oldest first, from `since` on.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn tallies(&self, since: Time) -> Result<Vec<Tally>, StoreError> {
        backend!(self, tallies(since))
    }

    /// The content of a blob.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn blob(&self, hash: [u8; 32]) -> Result<Option<Vec<u8>>, StoreError> {
        backend!(self, blob(hash))
    }

    /// A stored text, fetched if it is kept by reference.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn text(&self, stored: &Stored) -> Result<Option<Box<str>>, StoreError> {
        match stored {
            Stored::Inline(text) => Ok(Some(text.clone())),
            Stored::Blob(blob) => {
                let bytes = self.blob(blob.hash).await?;
                Ok(bytes
                    .and_then(|bytes| String::from_utf8(bytes).ok())
                    .map(Into::into))
            }
        }
    }

    /// All tokens, revoked ones too.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        backend!(self, tokens())
    }

    /// All secrets, sealed, by name.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn secrets(&self) -> Result<Vec<Sealed>, StoreError> {
        backend!(self, secrets())
    }

    /// Grows whenever a secret changes.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn secrets_revision(&self) -> Result<i64, StoreError> {
        backend!(self, secrets_revision())
    }

    /// The value of a key, if it is there and has not expired.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn kv(&self, key: &KvKey) -> Result<Option<KvEntry>, StoreError> {
        backend!(self, kv(key, self.now()))
    }

    /// The values that match and have not expired, by the bytes of their keys.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn kv_list(&self, filter: &KvFilter) -> Result<Page<KvEntry, String>, StoreError> {
        let filter = KvFilter {
            limit: filter.limit.clamp(1, MAX_PAGE),
            ..filter.clone()
        };
        backend!(self, kv_list(filter, self.now()))
    }

    /// All nodes that have not left.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn nodes(&self) -> Result<Vec<NodeState>, StoreError> {
        backend!(self, nodes())
    }

    /// Open effects whose lease has run out, or that belong to `node`: what a duty must look at.
    pub(crate) async fn overdue(
        &self,
        node: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        backend!(self, overdue(node, self.now(), limit))
    }

    /// Effects behind position `after`, oldest first: what the sweeper walks over.
    pub(crate) async fn walk(&self, after: i64, limit: usize) -> Result<Vec<Record>, StoreError> {
        backend!(self, walk(after, limit))
    }
}
