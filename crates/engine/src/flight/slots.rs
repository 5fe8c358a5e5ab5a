//! One slot of the flight recorder, as bytes.
//!
//! Sent: fence, 1, zeroes. Known: fence, 2, checksum, length, then the outcome; a long one lies in
//! a file of its own. A second mark that is not whole counts as the first.

use std::io;
use std::path::Path;

use semel_ledger::Outcome;
use semel_store::blob::hex;
use serde::{Deserialize, Serialize};

use super::Mark;
use crate::observe::Settlement;

/// Bytes of a slot.
pub(super) const BYTES: usize = 4096;
const MAGIC: &[u8; 16] = b"semel flight 1\0\0";
const SENT: u8 = 1;
const KNOWN: u8 = 2;
/// Fence, kind, checksum, length.
const FRONT: usize = 16 + 1 + 16 + 4;
/// Stands for a length: the outcome lies in a file of its own.
const ELSEWHERE: u32 = u32::MAX;

pub(super) fn header(boot: [u8; 16], node: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(boot);
    bytes.extend(node.to_le_bytes());
    bytes
}

/// The node whose file it is, if it is of this boot.
pub(super) fn header_node(bytes: &[u8], boot: [u8; 16]) -> Option<u64> {
    let ours = bytes.get(..16)? == MAGIC && bytes.get(16..32)? == boot;
    let node = bytes.get(32..40)?.try_into().ok()?;
    ours.then(|| u64::from_le_bytes(node))
}

pub(super) fn sent(fence: [u8; 16]) -> Vec<u8> {
    let mut bytes = fence.to_vec();
    bytes.push(SENT);
    bytes
}

#[derive(Serialize, Deserialize)]
struct Text {
    outcome: String,
    result: Option<Box<str>>,
    note: Option<Box<str>>,
}

pub(super) fn known(fence: [u8; 16], settlement: &Settlement, long: &Path) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(&Text {
        outcome: settlement.outcome.name().to_owned(),
        result: settlement.result.clone(),
        note: settlement.note.clone(),
    })?;
    let mut bytes = fence.to_vec();
    bytes.push(KNOWN);
    bytes.extend(checksum(&fence, &text));
    if text.len() + FRONT <= BYTES {
        let length = u32::try_from(text.len()).unwrap_or(ELSEWHERE);
        bytes.extend(length.to_le_bytes());
        bytes.extend(text);
    } else {
        std::fs::write(long.join(hex(&fence)), text)?;
        bytes.extend(ELSEWHERE.to_le_bytes());
    }
    Ok(bytes)
}

fn checksum(fence: &[u8], text: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(fence).update(text);
    let mut sum = [0; 16];
    sum.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    sum
}

pub(super) fn read(slot: &[u8], long: &Path) -> Option<([u8; 16], Mark)> {
    let fence: [u8; 16] = slot.get(..16)?.try_into().ok()?;
    match *slot.get(16)? {
        SENT => Some((fence, Mark::Sent)),
        KNOWN => {
            let known = outcome(slot, fence, long);
            Some((fence, known.map_or(Mark::Sent, Mark::Known)))
        }
        _ => None,
    }
}

fn outcome(slot: &[u8], fence: [u8; 16], long: &Path) -> Option<Settlement> {
    let sum = slot.get(17..33)?;
    let length = u32::from_le_bytes(slot.get(33..FRONT)?.try_into().ok()?);
    let text = if length == ELSEWHERE {
        std::fs::read(long.join(hex(&fence))).ok()?
    } else {
        let end = FRONT.checked_add(usize::try_from(length).ok()?)?;
        slot.get(FRONT..end)?.to_vec()
    };
    if checksum(&fence, &text) != *sum {
        return None;
    }
    let text: Text = serde_json::from_slice(&text).ok()?;
    Some(Settlement {
        outcome: Outcome::named(&text.outcome)?,
        result: text.result,
        note: text.note,
    })
}
