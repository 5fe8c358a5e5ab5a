//! placeholder
use crate::change::{Answer, Change};
use crate::error::{OpenError, StoreError};
use crate::memory::Memory;
use crate::node::NodeState;
use crate::open::Options;
use crate::query::{Filter, Page, ReceiptFilter, Tally};
use crate::receipt::Receipt;
use crate::record::{Record, Turn};
use crate::store::Context;
use crate::token::Token;
use semel_ledger::Time;
use std::sync::Arc;
/// placeholder
#[derive(Debug)]
pub struct Postgres(Memory);
impl Postgres {
    pub(crate) async fn open(
        _: &str,
        _: &Options,
        context: Arc<Context>,
    ) -> Result<Postgres, OpenError> {
        Ok(Postgres(Memory::new(context)))
    }
    pub(crate) fn queue_depth(&self) -> usize {
        0
    }
    pub(crate) async fn commit(
        &self,
        changes: Vec<Change>,
        member: Option<crate::node::Membership>,
    ) -> Result<Vec<Answer>, StoreError> {
        self.0.commit(changes, member).await
    }
    pub(crate) async fn load(&self, hash: [u8; 16]) -> Result<Option<Record>, StoreError> {
        self.0.load(hash).await
    }
    pub(crate) async fn list(&self, filter: Filter, now: Time) -> Result<Page<Record>, StoreError> {
        self.0.list(filter, now).await
    }
    pub(crate) async fn turns(&self, seq: i64) -> Result<Vec<Turn>, StoreError> {
        self.0.turns(seq).await
    }
    pub(crate) async fn receipts(
        &self,
        filter: ReceiptFilter,
    ) -> Result<Page<Receipt>, StoreError> {
        self.0.receipts(filter).await
    }
    pub(crate) async fn tallies(&self, since: Time) -> Result<Vec<Tally>, StoreError> {
        self.0.tallies(since).await
    }
    pub(crate) async fn blob(&self, hash: [u8; 32]) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.blob(hash).await
    }
    pub(crate) async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.0.tokens().await
    }
    pub(crate) async fn nodes(&self) -> Result<Vec<NodeState>, StoreError> {
        self.0.nodes().await
    }
    pub(crate) async fn overdue(
        &self,
        node: Option<u64>,
        now: Time,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.0.overdue(node, now, limit).await
    }
    pub(crate) async fn walk(&self, after: i64, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.0.walk(after, limit).await
    }
    pub(crate) async fn give_back(&self) -> Result<(), StoreError> {
        self.0.give_back().await
    }
    pub(crate) async fn close(&self) {
        self.0.close().await;
    }
}
