//! Receipts of refused claims: promised with the answer, written behind it.

use std::time::Duration;

use semel_ledger::{EffectId, Entry, Time};

use super::{Store, random_bytes};
use crate::change::{Answered, Change};
use crate::error::StoreError;
use crate::planted::{self, Bug};
use crate::receipt::{Receipt, ReceiptId};

/// How long receipts wait to share a commit.
const RECEIPT_PAUSE: Duration = Duration::from_millis(100);

impl Store {
    pub(super) fn with_receipt(
        &self,
        effect: EffectId,
        hash: [u8; 16],
        by: Option<Box<str>>,
        mut answered: Answered,
    ) -> Answered {
        if answered.verdict.is_grant() || planted::is(Bug::ForgetReceipt) {
            return answered;
        }
        let now = self.now();
        let receipt = Receipt {
            id: ReceiptId(random_id(now)),
            seq: 0,
            effect,
            verdict: answered.verdict,
            at: now,
            by,
            attempt: answered.entry.map_or(0, |entry: Entry| entry.attempt),
            count: 1,
            counted: false,
        };
        let on_record = answered.record.as_ref().map_or(0, |record| record.blocked);
        answered.receipt = Some(self.waiting.add(receipt, hash, on_record));
        answered
    }

    /// Writes the receipts that wait. When it is done, those that others were about to write are
    /// written too.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not. The receipts then wait on as counts, unless they may
    /// have been written.
    pub async fn write_receipts(&self) -> Result<usize, StoreError> {
        let _turn = self.writing.lock().await;
        let receipts = self.waiting.take();
        let count = receipts.len();
        if count == 0 {
            return Ok(0);
        }
        let written = self.commit(vec![Change::Receipts(receipts.clone())]).await;
        match written {
            Ok(_) => Ok(count),
            Err(error) => {
                if error.wrote_nothing() {
                    self.waiting.put_back(receipts);
                }
                Err(error)
            }
        }
    }

    /// Goes on writing receipts behind the answers, for as long as it is polled.
    pub async fn keep_writing_receipts(&self) {
        loop {
            tokio::time::sleep(RECEIPT_PAUSE).await;
            if let Err(error) = self.write_receipts().await {
                tracing::warn!(%error, "receipts were not written");
            }
        }
    }
}

/// A fresh 128-bit name that sorts by time.
fn random_id(now: Time) -> [u8; 16] {
    let mut id = random_bytes();
    id[..6].copy_from_slice(&now.0.to_be_bytes()[2..]);
    id
}
