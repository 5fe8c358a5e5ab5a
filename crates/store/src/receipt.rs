//! Receipts: proof that a duplicate was blocked.
//!
//! They are evidence, not safety: the answer goes out first, the receipt is written behind it
//! with whatever is committed next, and nobody waits for it. In a storm the first
//! [`FULL_RECEIPTS`] of an effect are kept in full and the rest are counted.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use semel_ledger::{EffectId, Time, Verdict};

use crate::blob::{hex, unhex};

/// How many receipts of one effect are kept in full.
pub const FULL_RECEIPTS: u64 = 100;
/// How many receipts may wait to be written; beyond that they are only counted.
pub const MAX_WAITING: usize = 16_384;

/// The name of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReceiptId(pub [u8; 16]);

impl ReceiptId {
    /// `rcp_…`
    #[must_use]
    pub fn text(self) -> String {
        format!("rcp_{}", hex(&self.0))
    }

    /// The id that [`ReceiptId::text`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<ReceiptId> {
        text.strip_prefix("rcp_").and_then(unhex).map(ReceiptId)
    }
}

/// One refused claim, or (with `count` over 1) those of one effect that were only counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its name.
    pub id: ReceiptId,
    /// Position in the store; 0 until it is written.
    pub seq: i64,
    /// What was blocked.
    pub effect: EffectId,
    /// Why.
    pub verdict: Verdict,
    /// When (the latest, if counted).
    pub at: Time,
    /// Who asked.
    pub by: Option<Box<str>>,
    /// The attempt that stood in the way.
    pub attempt: u32,
    /// How many refusals this stands for.
    pub count: u64,
    /// Only counted: beyond the first hundred of its effect, or the queue was full.
    pub counted: bool,
}

/// The start of the hour that `at` is in.
pub(crate) fn hour_of(at: Time) -> Time {
    const HOUR: i64 = 3_600_000;
    Time(at.0 - at.0.rem_euclid(HOUR))
}

/// The refusal of that name.
#[must_use]
pub fn refusal_named(name: &str) -> Option<Verdict> {
    [
        Verdict::Stale,
        Verdict::Done,
        Verdict::Busy,
        Verdict::Unknown,
        Verdict::Conflict,
    ]
    .into_iter()
    .find(|verdict| verdict.name() == name)
}

/// Receipts that were promised and not yet written.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    full: Vec<Receipt>,
    /// By effect: how many wait in `full`.
    waiting: HashMap<[u8; 16], u64>,
    /// By effect and verdict: those that are only counted.
    counted: HashMap<([u8; 16], &'static str), Receipt>,
}

impl Held {
    /// Counts it only; not even that if the counts of [`MAX_WAITING`] effects wait already.
    fn count(&mut self, mut receipt: Receipt) -> ReceiptId {
        let hash = receipt.effect.hash();
        receipt.id = ReceiptId(hash);
        receipt.counted = true;
        let (id, key) = (receipt.id, (hash, receipt.verdict.name()));
        if let Some(counted) = self.counted.get_mut(&key) {
            counted.count += receipt.count;
            counted.at = counted.at.max(receipt.at);
        } else if self.counted.len() < MAX_WAITING {
            self.counted.insert(key, receipt);
        } else {
            tracing::warn!(
                limit = MAX_WAITING,
                "too many receipts wait; one was dropped"
            );
        }
        id
    }
}

impl Waiting {
    /// Takes a receipt. `on_record` is how many refusals of this effect are written already.
    /// Gives the id to answer with: its own, or that of the count it went into.
    pub(crate) fn add(&self, receipt: Receipt, hash: [u8; 16], on_record: u64) -> ReceiptId {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = &mut *held;
        let waiting = held.waiting.entry(hash).or_default();
        if on_record + *waiting < FULL_RECEIPTS && held.full.len() < MAX_WAITING {
            *waiting += 1;
            let id = receipt.id;
            held.full.push(receipt);
            return id;
        }
        held.count(receipt)
    }

    /// Takes back what could not be written, as counts: they are small and bounded.
    pub(crate) fn put_back(&self, receipts: Vec<Receipt>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for receipt in receipts {
            held.count(receipt);
        }
    }

    /// Everything that waits, to be written.
    pub(crate) fn take(&self) -> Vec<Receipt> {
        let held = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        held.full
            .into_iter()
            .chain(held.counted.into_values())
            .collect()
    }
}
