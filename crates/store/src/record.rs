//! One effect as it is stored: the machine's entry and the texts beside it.
//!
//! Owns [`advance`], the one function that turns a stored record and a change into what is to be
//! stored next. Every backend calls it inside the transaction that writes the answer, so the
//! backends cannot disagree about meaning; they differ only in how they load and write.

use semel_ledger::{
    After, Cause, Command, Decision, EffectId, Entry, State, Time, Transition, Verdict, apply,
};

use crate::blob::Stored;
use crate::change::{Content, EffectChange};

/// One effect as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its position: grows with each new effect. 0 until it is written.
    pub seq: i64,
    /// Its name.
    pub effect: EffectId,
    /// What the machine knows of it.
    pub entry: Entry,
    /// Who holds or held the latest grant.
    pub by: Option<Box<str>>,
    /// The input, in canonical JSON.
    pub input: Option<Stored>,
    /// What came of it, in JSON.
    pub result: Option<Stored>,
    /// What the destination calls it.
    pub external_id: Option<Box<str>>,
    /// The reason or note of the latest settlement or decision.
    pub note: Option<Box<str>>,
    /// Further blobs that the result refers to.
    pub blobs: Vec<[u8; 32]>,
    /// How many refused claims are on record.
    pub blocked: u64,
}

/// A transition with who and why, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What happened.
    pub transition: Transition,
    /// Who did it, if somebody did.
    pub by: Option<Box<str>>,
    /// What they said.
    pub note: Option<Box<str>>,
}

/// What a change does to a record.
#[derive(Debug)]
pub struct Advanced {
    /// The machine's verdict.
    pub verdict: Verdict,
    /// What to write.
    pub write: Write,
    /// What to add to the effect's life.
    pub turns: Vec<Turn>,
    /// New large values, to be kept as blobs.
    pub blobs: Vec<Vec<u8>>,
}

/// What to write for one effect.
#[derive(Debug)]
pub enum Write {
    /// Nothing.
    Nothing,
    /// This record in place of the old one, at the same position.
    Update(Record),
    /// A new record; if an old one was there, it goes first with all that belongs to it.
    Insert(Record),
    /// The old record goes, with all that belongs to it.
    Delete,
}

/// Applies one change to what is stored, `None` if nothing is.
#[must_use]
pub fn advance(before: Option<&Record>, change: EffectChange, now: Time) -> Advanced {
    let step = apply(before.map(|record| &record.entry), &change.command, now);
    let turns = turns(&step.transitions, &change.content);
    let mut blobs = Vec::new();
    let write = match (step.after, before) {
        (After::Same, _) => Write::Nothing,
        (After::Gone, _) => Write::Delete,
        (After::Put(entry), Some(before)) => {
            Write::Update(updated(before, entry, change, &mut blobs))
        }
        (After::Fresh(entry) | After::Put(entry), _) => {
            Write::Insert(fresh(entry, change, &mut blobs))
        }
    };
    Advanced {
        verdict: step.verdict,
        write,
        turns,
        blobs,
    }
}

/// Who and why belong to what the command itself did, never to a lease found to have run out.
fn turns(transitions: &[Transition], content: &Content) -> Vec<Turn> {
    let turn = |transition: &Transition| {
        let own = transition.cause != Cause::LeaseRanOut;
        let content = Some(content).filter(|_| own);
        Turn {
            transition: *transition,
            by: content.and_then(|c| c.by.clone()),
            note: content.and_then(|c| c.note.clone()),
        }
    };
    transitions.iter().map(turn).collect()
}

fn fresh(entry: Entry, change: EffectChange, blobs: &mut Vec<Vec<u8>>) -> Record {
    let content = change.content;
    Record {
        seq: 0,
        effect: change.effect,
        entry,
        by: content.by,
        input: content.input.map(|input| keep(input.into_text(), blobs)),
        result: content.result.map(|result| keep(result, blobs)),
        external_id: content.external_id,
        note: content.note,
        blobs: content.blobs,
        blocked: 0,
    }
}

fn keep(text: Box<str>, blobs: &mut Vec<Vec<u8>>) -> Stored {
    let (stored, blob) = Stored::new(text);
    blobs.extend(blob);
    stored
}

fn updated(
    before: &Record,
    entry: Entry,
    change: EffectChange,
    blobs: &mut Vec<Vec<u8>>,
) -> Record {
    let mut record = Record {
        entry,
        ..before.clone()
    };
    let content = change.content;
    let moved = entry.state != before.entry.state;
    match change.command {
        Command::Claim(_) | Command::Once(_) | Command::Request(_)
            if entry.attempt != before.entry.attempt =>
        {
            record.by = content.by;
            record.note = None;
            record.result = content.result.map(|result| keep(result, blobs));
            if let Some(input) = content.input {
                record.input = Some(keep(input.into_text(), blobs));
            } else if entry.fingerprint.is_none() {
                record.input = None;
            }
        }
        // A late settlement changes nothing but may be what finds the lease run out.
        Command::Settle { .. }
        | Command::Decide {
            decision: Decision::Happened,
            ..
        } if moved && entry.settled.is_some() => {
            record.result = content.result.map(|result| keep(result, blobs));
            record.note = content.note;
            record.blobs = content.blobs;
            record.external_id = content.external_id.or(record.external_id);
        }
        Command::Import { .. } if moved => {
            record.input = None;
            record.result = content.result.map(|result| keep(result, blobs));
            record.note = content.note;
            record.external_id = content.external_id.or(record.external_id);
        }
        Command::Decide { .. } | Command::Undo { .. } if moved && entry.settled.is_some() => {
            record.note = content.note;
        }
        Command::Sweep { .. } if entry.tombstone => {
            record.by = None;
            record.input = None;
            record.result = None;
            record.note = None;
            record.blobs = Vec::new();
        }
        _ => {}
    }
    record
}

impl Record {
    /// The state as it is at `now`: a lease that ran out is already unknown.
    #[must_use]
    pub fn state_at(&self, now: Time) -> State {
        self.entry.seen_at(now).state
    }

    /// The blobs that this record keeps.
    pub fn kept_blobs(&self) -> impl Iterator<Item = [u8; 32]> {
        let by_reference = |stored: &Option<Stored>| match stored {
            Some(Stored::Blob(blob)) => Some(blob.hash),
            _ => None,
        };
        let own = [by_reference(&self.input), by_reference(&self.result)];
        own.into_iter().flatten().chain(self.blobs.iter().copied())
    }
}
