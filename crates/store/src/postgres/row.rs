//! Reading rows back, an effect above all. [`super::columns`] says which columns there are.
//!
//! Nothing here panics on a row that somebody else wrote.

use semel_ledger::{
    Digest, EffectId, Entry, Fence, Fingerprint, Key, Millis, OnUnknown, Owner, Process, Scope,
    State, Time,
};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::blob::{BlobRef, Stored};
use crate::error::StoreError;
use crate::record::Record;

/// An effect as it was read, with the revision that tells whether it still is so.
#[derive(Clone, Debug)]
pub(super) struct Stamped {
    pub(super) record: Record,
    pub(super) revision: i64,
}

/// A row does not hold what was written to it.
#[derive(Debug, thiserror::Error)]
#[error("a row of the ledger cannot be read: {what}")]
pub(super) struct Unreadable {
    what: &'static str,
}

impl From<Unreadable> for StoreError {
    fn from(unreadable: Unreadable) -> StoreError {
        StoreError::Unavailable {
            source: unreadable.into(),
        }
    }
}

/// The values of a row, one after the other.
pub(super) struct Reader<'a> {
    row: &'a Row,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(row: &'a Row) -> Reader<'a> {
        Reader { row, at: 0 }
    }

    /// The next column.
    pub(super) fn next<T: FromSql<'a>>(&mut self) -> Result<T, Unreadable> {
        let value = self.row.try_get(self.at);
        self.at += 1;
        value.map_err(|_| unreadable("a column has another type"))
    }

    /// The next column: exactly `N` bytes, if there are any.
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Unreadable> {
        let bytes: Option<&[u8]> = self.next()?;
        let exact = |bytes: &[u8]| bytes.try_into().map_err(|_| unreadable("a hash's length"));
        bytes.map(exact).transpose()
    }

    /// The next column: exactly `N` bytes.
    pub(super) fn hash<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        self.bytes()?.ok_or(unreadable("a hash is missing"))
    }

    pub(super) fn time(&mut self) -> Result<Time, Unreadable> {
        self.next().map(Time)
    }

    pub(super) fn attempt(&mut self) -> Result<u32, Unreadable> {
        u32::try_from(self.next::<i64>()?).map_err(|_| unreadable("an attempt"))
    }

    pub(super) fn state(&mut self) -> Result<State, Unreadable> {
        let number = usize::try_from(self.next::<i16>()?).unwrap_or(usize::MAX);
        State::ALL.get(number).copied().ok_or(unreadable("a state"))
    }

    /// The next two columns: scope and key.
    pub(super) fn effect(&mut self) -> Result<EffectId, Unreadable> {
        let scope = Scope::new(self.next()?).map_err(|_| unreadable("a scope"))?;
        let key: &str = self.next()?;
        let key: Key = key.parse().map_err(|_| unreadable("a key"))?;
        Ok(EffectId::new(scope, key))
    }

    fn owner(&mut self) -> Result<Owner, Unreadable> {
        let (node, epoch): (Option<i64>, Option<i64>) = (self.next()?, self.next()?);
        let machine = self.bytes::<16>()?;
        let (pid, started): (Option<i64>, Option<i64>) = (self.next()?, self.next()?);
        if let Some((node, epoch)) = node.zip(epoch) {
            let (node, epoch) = (node.cast_unsigned(), epoch.cast_unsigned());
            return Ok(Owner::Node { node, epoch });
        }
        let Some(((machine, pid), started)) = machine.zip(pid).zip(started) else {
            return Ok(Owner::Client);
        };
        Ok(Owner::Process(Process {
            machine,
            pid: u32::try_from(pid).map_err(|_| unreadable("a process"))?,
            started: started.cast_unsigned(),
        }))
    }

    fn stored(&mut self) -> Result<Option<Stored>, Unreadable> {
        let inline: Option<Box<str>> = self.next()?;
        let (hash, bytes) = (self.bytes()?, self.next::<Option<i64>>()?);
        let blob = hash.zip(bytes).map(|(hash, bytes)| BlobRef {
            hash,
            bytes: bytes.cast_unsigned(),
        });
        Ok(inline.map(Stored::Inline).or(blob.map(Stored::Blob)))
    }

    fn entry(&mut self) -> Result<Entry, Unreadable> {
        Ok(Entry {
            state: self.state()?,
            attempt: self.attempt()?,
            fence: Fence(self.hash()?),
            owner: self.owner()?,
            fingerprint: self.bytes()?.map(Fingerprint),
            on_unknown: self.next::<Option<&str>>()?.and_then(OnUnknown::named),
            remember: Millis(self.next::<i64>()?.cast_unsigned()),
            created_at: self.time()?,
            claimed_at: self.time()?,
            lease_until: self.time()?,
            changed_at: self.time()?,
            settled: self.bytes()?.map(Digest),
            tombstone: self.next()?,
        })
    }
}

pub(super) fn unreadable(what: &'static str) -> Unreadable {
    Unreadable { what }
}

impl Stamped {
    /// Reads the columns of [`super::columns::read_columns`]; gives the id too.
    pub(super) fn read(row: &Row) -> Result<([u8; 16], Stamped), Unreadable> {
        let mut reader = Reader::new(row);
        let id = reader.hash()?;
        let mut record = Record {
            effect: reader.effect()?,
            entry: reader.entry()?,
            by: reader.next()?,
            input: reader.stored()?,
            result: reader.stored()?,
            external_id: reader.next()?,
            note: reader.next()?,
            blobs: hashes(reader.next()?),
            seq: reader.next()?,
            blocked: 0,
        };
        record.blocked = reader.next::<i64>()?.cast_unsigned();
        let revision = reader.next()?;
        Ok((id, Stamped { record, revision }))
    }
}

fn hashes(concatenated: Option<&[u8]>) -> Vec<[u8; 32]> {
    let (whole, _) = concatenated.unwrap_or_default().as_chunks::<32>();
    whole.to_vec()
}
