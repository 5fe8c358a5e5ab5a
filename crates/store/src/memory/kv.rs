//! Values under keys, in memory.

use semel_ledger::Time;

use super::{Memory, World};
use crate::error::StoreError;
use crate::kv::{KvChange, KvDone, KvEntry, KvFilter, KvKey, KvPut, Write, plan};
use crate::query::Page;

impl World {
    pub(super) fn operate(&mut self, change: KvChange, now: Time) -> KvDone {
        let key = change.key.clone();
        let hash = change.once.as_ref().map(|once| once.effect.hash());
        let seq = hash.and_then(|hash| self.by_hash.get(&hash));
        let record = seq.and_then(|seq| self.effects.get(seq));
        let planned = plan(change, record, self.kv.get(key.as_str()), now);
        match planned.write {
            Write::Nothing => {}
            Write::Put(entry) => self.insert_kv(entry),
            Write::Remove => drop(self.kv.remove(key.as_str())),
        }
        KvDone {
            answered: planned.once.map(|once| self.effect(once, now)),
            outcome: planned.outcome,
        }
    }

    pub(super) fn put(&mut self, put: &KvPut, now: Time) {
        match put.entry(now) {
            Some(entry) => self.insert_kv(entry),
            None => drop(self.kv.remove(put.key.as_str())),
        }
    }

    fn insert_kv(&mut self, entry: KvEntry) {
        self.kv.insert(entry.key.as_str().into(), entry);
    }

    pub(super) fn sweep_kv(&mut self, limit: u32, now: Time) -> usize {
        let expired = self.kv.iter().filter(|(_, entry)| !entry.is_alive(now));
        let expired: Vec<Box<str>> = expired.map(|(key, _)| key.clone()).collect();
        let bite = expired.iter().take(limit as usize);
        bite.filter(|key| self.kv.remove(*key).is_some()).count()
    }
}

impl Memory {
    pub(crate) async fn kv(&self, key: &KvKey, now: Time) -> Result<Option<KvEntry>, StoreError> {
        let world = self.world();
        let found = world.kv.get(key.as_str());
        Ok(found.filter(|entry| entry.is_alive(now)).cloned())
    }

    pub(crate) async fn kv_list(
        &self,
        filter: KvFilter,
        now: Time,
    ) -> Result<Page<KvEntry, String>, StoreError> {
        let world = self.world();
        let found = world.kv.values().filter(|entry| {
            let key = entry.key.as_str();
            entry.is_alive(now)
                && key.starts_with(&filter.prefix)
                && filter.after.as_deref().is_none_or(|after| key > after)
        });
        let items = found.take(filter.limit + 1).cloned().collect();
        Ok(Page::new(items, filter.limit, |entry: &KvEntry| {
            entry.key.as_str().to_owned()
        }))
    }
}
