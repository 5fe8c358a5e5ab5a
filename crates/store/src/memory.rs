//! The ledger in memory: for tests, simulations and `memory:`. Nothing survives the process.
//!
//! It is the plainest reading of the store's contract: one lock, one map. The other backends
//! must answer exactly as it does.

#![expect(
    clippy::unused_async,
    reason = "all backends have the same methods, and the others wait"
)]

mod kv;
mod lanes;
mod listeners;
mod people;
mod reads;
mod releases;
mod run_reads;
mod runs;
mod secrets;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_ledger::Time;

use crate::blob::BlobRef;
use crate::change::{Answer, Answered, Change, EffectChange};
use crate::error::StoreError;
use crate::kv::KvEntry;
use crate::node::{Membership, NODE_LEASE, NodeChange, NodeState};
use crate::receipt::{Receipt, hour_of};
use crate::record::{Advanced, Record, Turn, Write, advance};
use crate::store::Context;
use crate::token::{Token, TokenChange};

use people::{Audit, People};
use releases::Releases;
use runs::Runs;
use secrets::Secrets;

/// The backend.
#[derive(Debug)]
pub struct Memory {
    context: Arc<Context>,
    world: Arc<Mutex<World>>,
}

#[derive(Debug, Default)]
struct World {
    last_seq: i64,
    by_hash: HashMap<[u8; 16], i64>,
    effects: BTreeMap<i64, Record>,
    turns: HashMap<i64, Vec<Turn>>,
    blobs: HashMap<[u8; 32], (Vec<u8>, Time)>,
    receipts: BTreeMap<i64, Receipt>,
    last_receipt: i64,
    tallies: BTreeMap<(Time, String, &'static str), (semel_ledger::Verdict, u64)>,
    tokens: Vec<Token>,
    secrets: Secrets,
    nodes: BTreeMap<u64, NodeState>,
    last_node: u64,
    runs: Runs,
    releases: Releases,
    cursors: HashMap<Box<str>, Box<str>>,
    /// By the text of its key.
    kv: BTreeMap<Box<str>, KvEntry>,
    people: People,
    audit: Audit,
    closed: bool,
}

impl Memory {
    pub(crate) fn new(context: Arc<Context>) -> Memory {
        Memory {
            context,
            world: Arc::default(),
        }
    }

    /// Another node's way to the same.
    pub(crate) fn beside(&self, context: Arc<Context>) -> Memory {
        Memory {
            context,
            world: Arc::clone(&self.world),
        }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn commit(
        &self,
        changes: Vec<Change>,
        member: Option<Membership>,
    ) -> Result<Vec<Answer>, StoreError> {
        let mut world = self.world();
        if world.closed {
            return Err(StoreError::Closed);
        }
        let now = self.context.clock.now();
        if let Some(member) = member {
            let current = world.nodes.get(&member.node);
            if !current.is_some_and(|node| node.epoch == member.epoch && !node.fenced) {
                return Err(StoreError::Fenced);
            }
        }
        Ok(changes
            .into_iter()
            .map(|change| world.change(change, member, now))
            .collect())
    }
}

impl World {
    fn change(&mut self, change: Change, member: Option<Membership>, now: Time) -> Answer {
        match change {
            Change::Effect(change) => Answer::Effect(Box::new(self.effect(*change, now))),
            Change::Blob(bytes) => {
                self.blobs.insert(BlobRef::of(&bytes).hash, (bytes, now));
                Answer::Written
            }
            Change::Token(change) => Answer::Token(self.token(change, now)),
            Change::Secret(change) => Answer::Secret(self.secrets.change(change, now)),
            Change::Node(change) => Answer::Node(self.node(change, now)),
            Change::Receipts(receipts) => {
                for receipt in receipts {
                    self.receipt(receipt);
                }
                Answer::Written
            }
            Change::Start(start) => Answer::Started(Box::new(self.start(*start, member, now))),
            Change::Advance(advance) => Answer::Advanced(self.advance_run(*advance, member, now)),
            Change::Mail { run, note } => Answer::Mailed(self.runs.mail(run, note, now)),
            Change::Take { limit } => Answer::Taken(self.runs.take(limit, member, now)),
            Change::Free { node, limit } => Answer::Counted(self.free(node, limit, member, now)),
            Change::Forget { runs, until } => Answer::Counted(self.runs.forget(&runs, until)),
            Change::Release(change) => Answer::Released(self.releases.change(change, now)),
            Change::Cursor(change) => {
                Answer::Moved(releases::move_cursor(&mut self.cursors, change))
            }
            Change::Listen(listen) => Answer::Listens(self.runs.listen(*listen)),
            Change::Hush { run, step } => {
                self.runs.hush(run, step);
                Answer::Written
            }
            Change::Tell { place, note } => Answer::Told(self.runs.tell(place, &note, now)),
            Change::Kv(change) => Answer::Kv(Box::new(self.operate(*change, now))),
            Change::SweepKv { limit } => Answer::Counted(self.sweep_kv(limit, now)),
            Change::Person(change) => Answer::Person(self.people.change(*change, now)),
            Change::Audit(change) => Answer::Audited(self.audit.change(*change, now)),
        }
    }

    fn effect(&mut self, change: EffectChange, now: Time) -> Answered {
        let hash = change.effect.hash();
        let before = self
            .by_hash
            .get(&hash)
            .and_then(|seq| self.effects.get(seq))
            .cloned();
        let Advanced {
            verdict,
            write,
            turns,
            blobs,
        } = advance(before.as_ref(), change, now);
        for bytes in blobs {
            self.blobs.insert(BlobRef::of(&bytes).hash, (bytes, now));
        }
        let existed = before.is_some();
        let after = match write {
            Write::Nothing => before,
            Write::Update(record) => {
                if record.entry.tombstone {
                    self.delete_receipts(&record);
                }
                self.effects.insert(record.seq, record.clone());
                Some(record)
            }
            Write::Insert(mut record) => {
                self.delete(before.as_ref());
                self.last_seq += 1;
                record.seq = self.last_seq;
                self.by_hash.insert(hash, record.seq);
                self.effects.insert(record.seq, record.clone());
                Some(record)
            }
            Write::Delete => {
                self.delete(before.as_ref());
                None
            }
        };
        if let Some(record) = &after {
            self.turns.entry(record.seq).or_default().extend(turns);
        }
        let entry = after.as_ref().map(|record| record.entry);
        Answered {
            verdict,
            entry,
            record: after.filter(|_| existed).map(Box::new),
            receipt: None,
        }
    }

    fn delete(&mut self, record: Option<&Record>) {
        let Some(record) = record else { return };
        self.by_hash.remove(&record.effect.hash());
        self.effects.remove(&record.seq);
        self.turns.remove(&record.seq);
        self.delete_receipts(record);
    }

    fn delete_receipts(&mut self, record: &Record) {
        self.receipts
            .retain(|_, receipt| receipt.effect != record.effect);
    }

    fn receipt(&mut self, mut receipt: Receipt) {
        let key = (
            hour_of(receipt.at),
            receipt.effect.scope.as_str().to_owned(),
            receipt.verdict.name(),
        );
        self.tallies.entry(key).or_insert((receipt.verdict, 0)).1 += receipt.count;
        let seq = self.by_hash.get(&receipt.effect.hash());
        let Some(record) = seq.and_then(|seq| self.effects.get_mut(seq)) else {
            return;
        };
        record.blocked += receipt.count;
        if !receipt.counted {
            self.last_receipt += 1;
            receipt.seq = self.last_receipt;
            self.receipts.insert(receipt.seq, receipt);
        }
    }

    fn token(&mut self, change: TokenChange, now: Time) -> bool {
        match change {
            TokenChange::Add(token) => {
                let free = self.tokens.iter().all(|other| other.id != token.id);
                if free {
                    self.tokens.push(token);
                }
                free
            }
            TokenChange::Revoke { id } => {
                let found = self
                    .tokens
                    .iter_mut()
                    .find(|t| t.id == id && t.revoked_at.is_none());
                found.map(|token| token.revoked_at = Some(now)).is_some()
            }
        }
    }

    fn node(&mut self, change: NodeChange, now: Time) -> Option<NodeState> {
        match change {
            NodeChange::Join { name } => {
                // Never a number twice, or a dead node could be mistaken for a new one.
                self.last_node += 1;
                let node = self.last_node;
                let lease_until = now.after(NODE_LEASE);
                let state = NodeState {
                    node,
                    epoch: 1,
                    name,
                    lease_until,
                    fenced: false,
                };
                self.nodes.insert(node, state);
                self.nodes.get(&node).cloned()
            }
            NodeChange::Renew(member) => {
                let node = self.nodes.get_mut(&member.node)?;
                if node.epoch == member.epoch && !node.fenced {
                    node.lease_until = now.after(NODE_LEASE);
                }
                Some(node.clone())
            }
            NodeChange::Fence { member, force } => {
                let node = self.nodes.get_mut(&member.node)?;
                if node.epoch == member.epoch && (force || now >= node.lease_until) {
                    node.epoch += 1;
                    node.fenced = true;
                }
                Some(node.clone())
            }
            NodeChange::Leave(member) => {
                let current = self.nodes.get(&member.node)?;
                if current.epoch == member.epoch || current.fenced {
                    return self.nodes.remove(&member.node);
                }
                Some(current.clone())
            }
        }
    }
}
