//! Asking the ledger in memory.

use std::collections::HashSet;

use semel_ledger::{EffectId, State, Time};

use super::Memory;
use crate::blob::BLOB_GRACE;
use crate::error::StoreError;
use crate::node::NodeState;
use crate::query::{Filter, Page, ReceiptFilter, Tally};
use crate::receipt::Receipt;
use crate::record::{Record, Turn};
use crate::secret::Sealed;
use crate::token::Token;

impl Memory {
    pub(crate) async fn load(&self, effect: &EffectId) -> Result<Option<Record>, StoreError> {
        let world = self.world();
        Ok(world
            .by_hash
            .get(&effect.hash())
            .and_then(|seq| world.effects.get(seq))
            .cloned())
    }

    pub(crate) async fn list(&self, filter: Filter, now: Time) -> Result<Page<Record>, StoreError> {
        let world = self.world();
        let below = filter.after.unwrap_or(i64::MAX);
        let found = world.effects.range(..below).rev().map(|(_, record)| record);
        let matching = found.filter(|record| matches(record, &filter, now));
        let items = matching.take(filter.limit + 1).cloned().collect();
        Ok(Page::new(items, filter.limit, |record| record.seq))
    }

    pub(crate) async fn turns(&self, seq: i64) -> Result<Vec<Turn>, StoreError> {
        Ok(self.world().turns.get(&seq).cloned().unwrap_or_default())
    }

    pub(crate) async fn receipts(
        &self,
        filter: ReceiptFilter,
    ) -> Result<Page<Receipt>, StoreError> {
        let world = self.world();
        let below = filter.after.unwrap_or(i64::MAX);
        let wanted = |receipt: &&Receipt| {
            filter
                .scope
                .as_ref()
                .is_none_or(|scope| *scope == receipt.effect.scope)
                && filter
                    .effect
                    .is_none_or(|hash| hash == receipt.effect.hash())
                && filter
                    .verdict
                    .is_none_or(|verdict| verdict == receipt.verdict)
                && filter.since.is_none_or(|since| receipt.at >= since)
        };
        let found = world
            .receipts
            .range(..below)
            .rev()
            .map(|(_, receipt)| receipt)
            .filter(wanted);
        let items = found.take(filter.limit + 1).cloned().collect();
        Ok(Page::new(items, filter.limit, |receipt| receipt.seq))
    }

    pub(crate) async fn tallies(&self, since: Time) -> Result<Vec<Tally>, StoreError> {
        let world = self.world();
        let tally = |((hour, scope, _), (verdict, count)): (&(Time, String, _), &(_, u64))| Tally {
            scope: scope.clone(),
            hour: *hour,
            verdict: *verdict,
            count: *count,
        };
        Ok(world
            .tallies
            .iter()
            .filter(|((hour, ..), _)| *hour >= since)
            .map(tally)
            .collect())
    }

    pub(crate) async fn blob(&self, hash: [u8; 32]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self
            .world()
            .blobs
            .get(&hash)
            .map(|(bytes, _)| bytes.clone()))
    }

    pub(crate) async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let mut tokens = self.world().tokens.clone();
        tokens.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(tokens)
    }

    pub(crate) async fn secrets(&self) -> Result<Vec<Sealed>, StoreError> {
        Ok(self.world().secrets.all.values().cloned().collect())
    }

    pub(crate) async fn secrets_revision(&self) -> Result<i64, StoreError> {
        Ok(self.world().secrets.revision)
    }

    pub(crate) async fn nodes(&self) -> Result<Vec<NodeState>, StoreError> {
        Ok(self.world().nodes.values().cloned().collect())
    }

    pub(crate) async fn overdue(
        &self,
        node: Option<u64>,
        now: Time,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let wanted = |record: &&Record| {
            record.entry.state == State::Claimed
                && match node {
                    Some(node) => record.entry.owner.node() == Some(node),
                    None => record.entry.lease_until <= now,
                }
        };
        Ok(self
            .world()
            .effects
            .values()
            .filter(wanted)
            .take(limit)
            .cloned()
            .collect())
    }

    pub(crate) async fn walk(&self, after: i64, limit: usize) -> Result<Vec<Record>, StoreError> {
        let world = self.world();
        Ok(world
            .effects
            .range(after + 1..)
            .take(limit)
            .map(|(_, record)| record.clone())
            .collect())
    }

    pub(crate) async fn give_back(&self) -> Result<(), StoreError> {
        let mut world = self.world();
        let now = self.context.clock.now();
        let kept: HashSet<[u8; 32]> = world
            .effects
            .values()
            .flat_map(Record::kept_blobs)
            .chain(world.runs.blobs.iter().map(|(_, hash)| *hash))
            .collect();
        world
            .blobs
            .retain(|hash, (_, at)| kept.contains(hash) || now < at.after(BLOB_GRACE));
        Ok(())
    }

    pub(crate) async fn close(&self) {
        self.world().closed = true;
    }
}

fn matches(record: &Record, filter: &Filter, now: Time) -> bool {
    let seen = record.entry.seen_at(now);
    filter
        .scope
        .as_ref()
        .is_none_or(|scope| *scope == record.effect.scope)
        && (filter.states.is_empty() || filter.states.contains(&seen.state))
        && filter
            .external_id
            .as_deref()
            .is_none_or(|id| record.external_id.as_deref() == Some(id))
        && filter
            .key_prefix
            .as_deref()
            .is_none_or(|p| record.effect.key.as_str().starts_with(p))
        && filter.since.is_none_or(|since| seen.changed_at >= since)
        && filter.until.is_none_or(|until| seen.changed_at < until)
        && filter
            .hashes
            .is_none_or(|(from, to)| (from..=to).contains(&record.effect.hash()))
}
