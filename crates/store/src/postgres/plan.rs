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
use crate::run::{Start, StartOutcome, Started};

use super::ask::{Ask, By, Other};
use super::ground::Ground;
use super::kv::Values;
use super::row::Stamped;
use super::starts::Starts;

/// What every caller of a batch is told once it is durable.
pub(super) type Answers = Vec<Result<Vec<Answer>, StoreError>>;

/// What a batch will write.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) answers: Answers,
    pub(super) slots: Vec<Slot>,
    pub(super) blobs: BTreeMap<[u8; 32], Vec<u8>>,
    pub(super) receipts: Vec<&'a Receipt>,
    pub(super) starts: Starts<'a>,
    pub(super) values: Values,
    /// Changes that the database itself answers.
    pub(super) others: Vec<Other<'a>>,
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
    /// It was a tombstone for a moment: what belonged to it is gone.
    buried: bool,
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
        // It may have become more than a tombstone again since, in the same batch.
        let tombstone = self.updated().filter(|_| self.buried);
        let gone = self.removed().map(|before| before.record.seq);
        gone.or(tombstone.map(|(record, _)| record.seq))
    }

    fn apply(&mut self, change: EffectChange, step: usize, now: Time) -> (Answered, Vec<Vec<u8>>) {
        let Advanced {
            verdict,
            write,
            turns,
            blobs,
        } = advance(self.after.as_ref(), change, now);
        let existed = self.after.is_some();
        match write {
            Write::Nothing => {}
            Write::Update(record) => {
                self.changed = true;
                self.buried |= record.entry.tombstone;
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
    /// Works out what `asks` do to what was read. Callers whose identity is not alive are refused.
    pub(super) fn new(asks: &'a [Ask], ground: Ground, now: Time) -> Plan<'a> {
        let mut plan = Plan {
            answers: Vec::with_capacity(asks.len()),
            slots: Vec::new(),
            blobs: BTreeMap::new(),
            receipts: Vec::new(),
            starts: Starts::new(ground.known),
            values: ground.values,
            others: Vec::new(),
            members: Vec::new(),
            now,
            steps: 0,
        };
        let mut places = HashMap::new();
        let mut rows = ground.effects;
        for (caller, ask) in asks.iter().enumerate() {
            if let Some(member) = ask.member {
                if !ground.alive.contains(&member) {
                    plan.answers.push(Err(StoreError::Fenced));
                    continue;
                }
                if !plan.members.contains(&member) {
                    plan.members.push(member);
                }
            }
            let mut answers = Vec::with_capacity(ask.changes.len());
            for (place, (change, id)) in ask.changes.iter().zip(ask.ids()).enumerate() {
                let slot = id.map(|id| {
                    *places.entry(id).or_insert_with(|| {
                        plan.slots.push(Slot::new(id, rows.remove(&id)));
                        plan.slots.len() - 1
                    })
                });
                let by = By {
                    caller,
                    place,
                    member: ask.member,
                };
                answers.push(plan.change(by, change, slot));
            }
            plan.answers.push(Ok(answers));
        }
        plan.slots.sort_by_key(|slot| slot.born);
        plan
    }

    fn change(&mut self, by: By, change: &'a Change, slot: Option<usize>) -> Answer {
        match (change, slot) {
            (Change::Effect(change), Some(slot)) => {
                return Answer::Effect(Box::new(self.effect(slot, EffectChange::clone(change))));
            }
            (Change::Start(start), slot) => {
                return Answer::Started(Box::new(self.start(by, slot, start)));
            }
            (Change::Kv(change), slot) => {
                return Answer::Kv(Box::new(self.operate(slot, change)));
            }
            (Change::Blob(bytes), _) => self.keep(bytes.clone()),
            (Change::Receipts(receipts), _) => self.receipts.extend(receipts),
            (Change::Advance(advance), _) => {
                for bytes in &advance.contents {
                    self.keep(bytes.clone());
                }
                self.others.push(Other { by, change });
            }
            (change, _) => self.others.push(Other { by, change }),
        }
        Answer::Written
    }

    pub(super) fn effect(&mut self, slot: usize, change: EffectChange) -> Answered {
        self.steps += 1;
        let (answered, blobs) = self.slots[slot].apply(change, self.steps, self.now);
        for bytes in blobs {
            self.keep(bytes);
        }
        answered
    }

    fn start(&mut self, by: By, slot: Option<usize>, start: &'a Start) -> Started {
        let obstacles = self.starts.obstacles(start);
        let answered = start.once.as_ref().zip(slot).map(|(once, slot)| {
            let mut once = once.clone();
            if obstacles.prevent() {
                once.content.result.clone_from(&start.otherwise);
            }
            self.effect(slot, once)
        });
        let refused = |answered: &Answered| !answered.verdict.is_grant();
        let outcome = if answered.as_ref().is_some_and(refused) {
            StartOutcome::Refused
        } else {
            self.starts.plan(by, start, obstacles, self.now)
        };
        if let StartOutcome::Started { .. } = outcome {
            for bytes in &start.run.contents {
                self.keep(bytes.clone());
            }
        }
        Started { answered, outcome }
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        self.blobs.insert(BlobRef::of(&bytes).hash, bytes);
    }

    /// Puts in an answer that only the database could give.
    pub(super) fn answer(&mut self, by: By, answer: Answer) {
        if let Some(Ok(answers)) = self.answers.get_mut(by.caller) {
            answers[by.place] = answer;
        }
    }

    /// Puts in that runs were there already, after all.
    pub(super) fn refuse(&mut self, refused: Vec<By>) {
        for by in refused {
            if let Some(Ok(answers)) = self.answers.get_mut(by.caller)
                && let Answer::Started(started) = &mut answers[by.place]
            {
                started.outcome = StartOutcome::Refused;
            }
        }
    }

    /// Nothing needs to be written: the answers are true already.
    pub(super) fn is_idle(&self) -> bool {
        let still = |slot: &Slot| {
            slot.removed().is_none() && slot.inserted().is_none() && slot.updated().is_none()
        };
        self.blobs.is_empty()
            && self.receipts.is_empty()
            && self.starts.is_empty()
            && self.values.is_empty()
            && self.others.is_empty()
            && self.slots.iter().all(still)
    }

    /// Puts in the positions that new effects were given.
    pub(super) fn number(&mut self, seqs: &HashMap<[u8; 16], i64>) {
        for answer in self.answers.iter_mut().flatten().flatten() {
            let answered = match answer {
                Answer::Effect(answered) => Some(&mut **answered),
                Answer::Started(started) => started.answered.as_mut(),
                Answer::Kv(done) => done.answered.as_mut(),
                _ => None,
            };
            let record = answered.and_then(|answered| answered.record.as_deref_mut());
            if let Some(record) = record.filter(|record| record.seq == 0) {
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
            buried: false,
            born: 0,
            turns: Vec::new(),
        }
    }
}
