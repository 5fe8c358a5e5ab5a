//! Done effects that were asked for lately: what comes again is answered without asking the file.
//!
//! Holds a fixed number of small records, without their inputs. Serves only whoever is alone with
//! the file; the writer tells it of every change. The invariant: what is here is what is committed.
//! A record that was read before a change is not put here after it.

use std::sync::{Mutex, MutexGuard};

use semel_ledger::{EffectId, State};

use super::locked;
use crate::blob::Stored;
use crate::record::Record;

/// A power of two. Each slot remembers one effect; a newer one takes its place.
const SLOTS: usize = 1 << 13;
/// The longest result and note that are kept.
const SMALL: usize = 1024;

#[derive(Debug, Default)]
struct Slot {
    /// How many changes came by.
    changes: u64,
    record: Option<Box<Record>>,
}

#[derive(Debug)]
pub(super) struct Recent(Box<[Mutex<Slot>]>);

/// What a commit did to an effect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Touched {
    /// It is not as it was.
    Changed([u8; 16]),
    /// So many more refusals are on record.
    Blocked([u8; 16], u64),
}

impl Default for Recent {
    fn default() -> Recent {
        Recent((0..SLOTS).map(|_| Mutex::default()).collect())
    }
}

impl Recent {
    /// The hash is that of a random function already.
    fn slot(&self, hash: [u8; 16]) -> MutexGuard<'_, Slot> {
        let place = usize::from(u16::from_le_bytes([hash[4], hash[5]]));
        locked(&self.0[place % SLOTS])
    }

    /// The record, if it is here; else how many changes came by so far.
    pub(super) fn find(&self, effect: &EffectId) -> Result<Record, u64> {
        let slot = self.slot(effect.hash());
        let found = slot.record.as_ref();
        let found = found.filter(|record| record.effect == *effect);
        found
            .map(|record| Record::clone(record))
            .ok_or(slot.changes)
    }

    /// Keeps a record that was read when `changes` had come by.
    pub(super) fn keep(&self, record: &Record, changes: u64) {
        let small = match &record.result {
            Some(Stored::Inline(text)) => text.len() <= SMALL,
            Some(Stored::Blob(_)) => false,
            None => true,
        };
        let small = small && record.note.as_ref().is_none_or(|note| note.len() <= SMALL);
        if record.entry.state != State::Done || !small || !record.blobs.is_empty() {
            return;
        }
        let mut slot = self.slot(record.effect.hash());
        if slot.changes == changes {
            let kept = Record {
                input: None,
                ..record.clone()
            };
            slot.record = Some(Box::new(kept));
        }
    }

    /// A commit did this; before anybody is told of it.
    pub(super) fn touched(&self, touched: Touched) {
        let (Touched::Changed(hash) | Touched::Blocked(hash, _)) = touched;
        let mut slot = self.slot(hash);
        slot.changes += 1;
        let mine = slot.record.as_mut();
        let Some(record) = mine.filter(|record| record.effect.hash() == hash) else {
            return;
        };
        match touched {
            Touched::Changed(_) => slot.record = None,
            Touched::Blocked(_, count) => record.blocked += count,
        }
    }
}

#[cfg(test)]
mod tests {
    use semel_ledger::{Command, EffectId, Key, Scope, Time};

    use super::*;
    use crate::change::{Content, EffectChange};
    use crate::record::{Write, advance};

    fn done(key: &str) -> Record {
        let scope = Scope::new("mail").expect("a scope");
        let effect = EffectId::new(scope, key.parse::<Key>().expect("a key"));
        let change = EffectChange {
            effect,
            command: Command::Import {
                at: Time(1),
                remember: semel_ledger::Millis::days(1),
            },
            content: Content {
                result: Some("1".into()),
                ..Content::default()
            },
        };
        match advance(None, change, Time(2)).write {
            Write::Insert(record) => record,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_read_is_here_until_it_changes() {
        let (recent, record) = (Recent::default(), done("a"));
        let hash = record.effect.hash();
        let before = recent.find(&record.effect).expect_err("nothing yet");
        recent.keep(&record, before);
        recent.touched(Touched::Blocked(hash, 3));
        let found = recent.find(&record.effect).expect("kept");
        assert_eq!((found.blocked, found.result), (3, record.result.clone()));
        recent.touched(Touched::Changed(hash));
        recent.find(&record.effect).expect_err("it changed");
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let (recent, record) = (Recent::default(), done("a"));
        let before = recent.find(&record.effect).expect_err("nothing yet");
        recent.touched(Touched::Changed(record.effect.hash()));
        recent.keep(&record, before);
        recent.find(&record.effect).expect_err("not kept");
    }

    #[test]
    fn only_what_is_done_is_kept() {
        let (recent, mut record) = (Recent::default(), done("a"));
        record.entry.state = State::Undone;
        let before = recent.find(&record.effect).expect_err("nothing yet");
        recent.keep(&record, before);
        recent.find(&record.effect).expect_err("not kept");
    }
}
