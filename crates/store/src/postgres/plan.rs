//! What a batch will write, worked out in memory before anything is written.
//!
//! Owns the order of things inside a batch: changes are applied one after the other, so several
//! changes to one effect see each other, and what is left at the end is written set at a time.
//! Asks nothing of the database and tells it nothing; it may be made again if a race was lost.

use std::collections::{BTreeMap, HashMap};

use semel_ledger::Time;

use crate::blob::BlobRef;
use crate::change::{Answer, Answered, Change, EffectChange};
use crate::error::StoreError;
use crate::node::Membership;
use crate::receipt::Receipt;
use crate::record::{Advanced, Record, Turn, Write, advance};
use crate::seen::Seen;

use super::row::Stamped;

/// What one caller wants written.
#[derive(Debug)]
pub(super) struct Ask {
    /// Under which identity, as it was when the caller asked.
    pub(super) member: Option<Membership>,
    pub(super) changes: Vec<Change>,
    /// For each change the id of its effect, if it is about one.
    ids: Vec<Option<[u8; 16]>>,
}

impl Ask {
    pub(super) fn new(member: Option<Membership>, changes: Vec<Change>) -> Ask {
        let id = |change: &Change| match change {
            Change::Effect(change) => Some(change.effect.hash()),
            _ => None,
        };
        let ids = changes.iter().map(id).collect();
        Ask {
            member,
            changes,
            ids,
        }
    }

    /// About how many bytes of content it brings.
    pub(super) fn bytes(&self) -> usize {
        let length = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        let bytes = |change: &Change| match change {
            Change::Effect(change) => {
                let content = &change.content;
                let input = content.input.as_ref().map_or(0, |i| i.as_str().len());
                input + length(&content.result) + length(&content.note)
            }
            Change::Blob(bytes) => bytes.len(),
            _ => 0,
        };
        self.changes.iter().map(bytes).sum()
    }

    /// The effects that it moves.
    pub(super) fn moves(&self) -> impl Iterator<Item = [u8; 16]> {
        self.ids.iter().copied().flatten()
    }

    /// The effects that must be read before anything can be planned. Those that a first claim is
    /// probably about are not: that nothing is there is proved by the insert, or else all is read.
    pub(super) fn must_read(&self, seen: &Seen) -> impl Iterator<Item = [u8; 16]> {
        let known = |(change, id): (&Change, &Option<[u8; 16]>)| {
            id.filter(|id| !change.may_be_first() || seen.contains(*id))
        };
        self.changes.iter().zip(&self.ids).filter_map(known)
    }

    /// How many of its changes rest on the guess that nothing is there.
    pub(super) fn guesses(&self, seen: &Seen) -> usize {
        self.moves().count() - self.must_read(seen).count()
    }

    /// The effects whose rows it may write to in any way.
    pub(super) fn touches(&self) -> impl Iterator<Item = [u8; 16]> {
        let receipts = self.changes.iter().flat_map(|change| match change {
            Change::Receipts(receipts) => receipts.as_slice(),
            _ => &[],
        });
        self.moves()
            .chain(receipts.map(|receipt| receipt.effect.hash()))
    }
}

/// What every caller of a batch is told once it is durable.
pub(super) type Answers = Vec<Result<Vec<Answer>, StoreError>>;

/// What a batch will write.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) answers: Answers,
    pub(super) slots: Vec<Slot>,
    pub(super) blobs: BTreeMap<[u8; 32], Vec<u8>>,
    pub(super) receipts: Vec<&'a Receipt>,
    /// Changes to nodes and tokens, by caller and place: the database itself answers those.
    pub(super) others: Vec<(usize, usize, &'a Change)>,
    /// The identities that must hold until the commit.
    pub(super) members: Vec<Membership>,
    pub(super) now: Time,
    steps: usize,
}

/// One effect in a batch.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: [u8; 16],
    pub(super) before: Option<Stamped>,
    pub(super) after: Option<Record>,
    /// `after` is a row of its own and not the old one changed.
    fresh: bool,
    changed: bool,
    /// At which step of the batch the new row came: positions are given in that order.
    born: usize,
    pub(super) turns: Vec<Turn>,
}

impl Slot {
    /// The old row has to go.
    pub(super) fn removed(&self) -> Option<&Stamped> {
        self.before
            .as_ref()
            .filter(|_| self.fresh || self.after.is_none())
    }

    /// There is a new row.
    pub(super) fn inserted(&self) -> Option<&Record> {
        self.after.as_ref().filter(|_| self.fresh)
    }

    /// The old row changes from that revision.
    pub(super) fn updated(&self) -> Option<(&Record, i64)> {
        let before = self.before.as_ref()?;
        let after = self.after.as_ref()?;
        (self.changed && !self.fresh).then_some((after, before.revision))
    }

    /// The position of the old row, if its receipts go.
    pub(super) fn forgets_receipts(&self) -> Option<i64> {
        let tombstone = self.updated().filter(|(record, _)| record.entry.tombstone);
        let gone = self.removed().map(|before| before.record.seq);
        gone.or(tombstone.map(|(record, _)| record.seq))
    }

    fn apply(&mut self, change: &EffectChange, step: usize, now: Time) -> (Answered, Vec<Vec<u8>>) {
        let Advanced {
            verdict,
            write,
            turns,
            blobs,
        } = advance(self.after.as_ref(), change.clone(), now);
        let existed = self.after.is_some();
        match write {
            Write::Nothing => {}
            Write::Update(record) => {
                self.changed = true;
                self.after = Some(record);
            }
            Write::Insert(record) => {
                self.fresh = true;
                self.born = step;
                self.turns.clear();
                self.after = Some(record);
            }
            Write::Delete => {
                // Whatever comes next under this key is a row of its own.
                self.fresh = true;
                self.turns.clear();
                self.after = None;
            }
        }
        if self.after.is_some() {
            self.turns.extend(turns);
        }
        let answered = Answered {
            verdict,
            entry: self.after.as_ref().map(|record| record.entry),
            record: self.after.clone().filter(|_| existed).map(Box::new),
            receipt: None,
        };
        (answered, blobs)
    }
}

impl<'a> Plan<'a> {
    /// Works out what `asks` do to `rows`. Callers whose identity is not `alive` are refused.
    pub(super) fn new(
        asks: &'a [Ask],
        rows: HashMap<[u8; 16], Stamped>,
        alive: &[Membership],
        now: Time,
    ) -> Plan<'a> {
        let mut plan = Plan {
            answers: Vec::with_capacity(asks.len()),
            slots: Vec::new(),
            blobs: BTreeMap::new(),
            receipts: Vec::new(),
            others: Vec::new(),
            members: Vec::new(),
            now,
            steps: 0,
        };
        let mut places = HashMap::new();
        let mut rows = rows;
        for (caller, ask) in asks.iter().enumerate() {
            if let Some(member) = ask.member {
                if !alive.contains(&member) {
                    plan.answers.push(Err(StoreError::Fenced));
                    continue;
                }
                if !plan.members.contains(&member) {
                    plan.members.push(member);
                }
            }
            let mut answers = Vec::with_capacity(ask.changes.len());
            for (place, (change, id)) in ask.changes.iter().zip(&ask.ids).enumerate() {
                if let (Change::Effect(change), Some(id)) = (change, id) {
                    let slot = *places.entry(*id).or_insert_with(|| {
                        plan.slots.push(Slot::new(*id, rows.remove(id)));
                        plan.slots.len() - 1
                    });
                    answers.push(plan.effect(slot, change));
                } else {
                    plan.other(caller, place, change);
                    answers.push(Answer::Written);
                }
            }
            plan.answers.push(Ok(answers));
        }
        plan.slots.sort_by_key(|slot| slot.born);
        plan
    }

    fn effect(&mut self, slot: usize, change: &EffectChange) -> Answer {
        self.steps += 1;
        let (answered, blobs) = self.slots[slot].apply(change, self.steps, self.now);
        for bytes in blobs {
            self.blobs.insert(BlobRef::of(&bytes).hash, bytes);
        }
        Answer::Effect(Box::new(answered))
    }

    fn other(&mut self, caller: usize, place: usize, change: &'a Change) {
        match change {
            Change::Blob(bytes) => {
                self.blobs.insert(BlobRef::of(bytes).hash, bytes.clone());
            }
            Change::Receipts(receipts) => self.receipts.extend(receipts),
            Change::Node(_) | Change::Token(_) | Change::Free { .. } => {
                self.others.push((caller, place, change))
            }
            _ => {}
        }
    }

    /// Nothing needs to be written: the answers are true already.
    pub(super) fn is_idle(&self) -> bool {
        let still = |slot: &Slot| {
            slot.removed().is_none() && slot.inserted().is_none() && slot.updated().is_none()
        };
        self.blobs.is_empty()
            && self.receipts.is_empty()
            && self.others.is_empty()
            && self.slots.iter().all(still)
    }

    /// Puts in the positions that new effects were given.
    pub(super) fn number(&mut self, seqs: &HashMap<[u8; 16], i64>) {
        for answer in self.answers.iter_mut().flatten().flatten() {
            let Answer::Effect(answered) = answer else {
                continue;
            };
            if let Some(record) = answered.record.as_deref_mut().filter(|r| r.seq == 0) {
                record.seq = seqs.get(&record.effect.hash()).copied().unwrap_or_default();
            }
        }
    }
}

impl Slot {
    fn new(id: [u8; 16], before: Option<Stamped>) -> Slot {
        Slot {
            id,
            after: before.as_ref().map(|stamped| stamped.record.clone()),
            before,
            fresh: false,
            changed: false,
            born: 0,
            turns: Vec::new(),
        }
    }
}
