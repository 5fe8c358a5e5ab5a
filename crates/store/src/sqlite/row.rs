//! One effect as columns: the same list for reading and writing.

use std::str::FromStr as _;

use rusqlite::types::{FromSqlError, ToSqlOutput, Type, ValueRef};
use rusqlite::{Row, ToSql};
use semel_ledger::{
    Digest, EffectId, Entry, Fence, Fingerprint, Key, Millis, OnUnknown, Owner, Process, Scope,
    State, Time,
};

use crate::blob::{BlobRef, Stored};
use crate::record::Record;

/// The columns that [`read_as`] expects, in its order.
pub(super) const COLUMNS: &str = "effects.seq, effects.state, effects.attempt, effects.fence, \
     effects.process, effects.node, effects.epoch, effects.owner, effects.fingerprint, \
     effects.on_unknown, effects.remember, effects.created_at, effects.claimed_at, \
     effects.lease_until, effects.changed_at, effects.settled, effects.tombstone, effects.input, \
     effects.result, effects.external_id, effects.note, effects.blobs, effects.blocked";
/// Those that [`read`] expects behind them.
pub(super) const NAMES: &str = "scopes.name, effects.key";

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Record> {
    read_as(row, effect(row, 23)?)
}

/// Reads a row whose name is known.
pub(super) fn read_as(row: &Row<'_>, effect: EffectId) -> rusqlite::Result<Record> {
    Ok(Record {
        seq: row.get(0)?,
        effect,
        entry: read_entry(row)?,
        by: text(row, 7)?,
        input: stored(row, 17)?,
        result: stored(row, 18)?,
        external_id: text(row, 19)?,
        note: text(row, 20)?,
        blobs: hashes(row.get_ref(21)?.as_blob_or_null()?.unwrap_or_default()),
        blocked: row.get(22)?,
    })
}

/// The name of an effect, from the scope's column and the key's behind it.
pub(super) fn effect(row: &Row<'_>, column: usize) -> rusqlite::Result<EffectId> {
    let scope = Scope::new(row.get_ref(column)?.as_str()?).map_err(|e| broken(column, e))?;
    let key =
        Key::from_str(row.get_ref(column + 1)?.as_str()?).map_err(|e| broken(column + 1, e))?;
    Ok(EffectId::new(scope, key))
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let on_unknown: Option<i64> = row.get(9)?;
    Ok(Entry {
        state: numbered(row, 1, State::ALL)?,
        attempt: row.get(2)?,
        fence: Fence(row.get(3)?),
        owner: owner(row)?,
        fingerprint: row.get::<_, Option<[u8; 32]>>(8)?.map(Fingerprint),
        on_unknown: on_unknown
            .map(|_| numbered(row, 9, ON_UNKNOWN))
            .transpose()?,
        remember: Millis(row.get(10)?),
        created_at: Time(row.get(11)?),
        claimed_at: Time(row.get(12)?),
        lease_until: Time(row.get(13)?),
        changed_at: Time(row.get(14)?),
        settled: row.get::<_, Option<[u8; 16]>>(15)?.map(Digest),
        tombstone: row.get(16)?,
    })
}

const ON_UNKNOWN: [OnUnknown; 3] = [OnUnknown::Ask, OnUnknown::Retry, OnUnknown::Skip];

pub(super) fn broken(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

pub(super) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Box<str>>> {
    Ok(row.get_ref(column)?.as_str_or_null()?.map(Into::into))
}

pub(super) fn numbered<T: Copy, const N: usize>(
    row: &Row<'_>,
    column: usize,
    all: [T; N],
) -> rusqlite::Result<T> {
    let number: i64 = row.get(column)?;
    let found = usize::try_from(number)
        .ok()
        .and_then(|index| all.get(index).copied());
    found.ok_or_else(|| broken(column, FromSqlError::OutOfRange(number)))
}

fn owner(row: &Row<'_>) -> rusqlite::Result<Owner> {
    if let Some(bytes) = row.get::<_, Option<[u8; 28]>>(4)? {
        return Ok(Owner::Process(process(&bytes)));
    }
    Ok(match row.get::<_, Option<u64>>(5)? {
        Some(node) => Owner::Node {
            node,
            epoch: row.get(6)?,
        },
        None => Owner::Client,
    })
}

fn process(bytes: &[u8; 28]) -> Process {
    let (mut machine, mut pid, mut started) = ([0; 16], [0; 4], [0; 8]);
    machine.copy_from_slice(&bytes[..16]);
    pid.copy_from_slice(&bytes[16..20]);
    started.copy_from_slice(&bytes[20..]);
    Process {
        machine,
        pid: u32::from_be_bytes(pid),
        started: u64::from_be_bytes(started),
    }
}

pub(super) fn process_bytes(owner: Owner) -> Option<[u8; 28]> {
    let Owner::Process(process) = owner else {
        return None;
    };
    let mut bytes = [0; 28];
    bytes[..16].copy_from_slice(&process.machine);
    bytes[16..20].copy_from_slice(&process.pid.to_be_bytes());
    bytes[20..].copy_from_slice(&process.started.to_be_bytes());
    Some(bytes)
}

fn stored(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Stored>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Blob(bytes) => {
            let (hash, length) = bytes
                .split_at_checked(32)
                .ok_or(FromSqlError::InvalidType)?;
            let hash = hash.try_into().map_err(|e| broken(column, e))?;
            let bytes = u64::from_be_bytes(length.try_into().map_err(|e| broken(column, e))?);
            Ok(Some(Stored::Blob(BlobRef { hash, bytes })))
        }
        value => Ok(Some(Stored::Inline(value.as_str()?.into()))),
    }
}

/// A stored text as its column: text itself, or the name of its blob.
pub(super) struct StoredColumn<'a>(pub(super) &'a Option<Stored>);

impl ToSql for StoredColumn<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            None => Ok(ToSqlOutput::Borrowed(ValueRef::Null)),
            Some(Stored::Inline(text)) => {
                Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())))
            }
            Some(Stored::Blob(blob)) => {
                let name = [&blob.hash[..], &blob.bytes.to_be_bytes()].concat();
                Ok(ToSqlOutput::Owned(name.into()))
            }
        }
    }
}

fn hashes(bytes: &[u8]) -> Vec<[u8; 32]> {
    bytes
        .chunks_exact(32)
        .filter_map(|hash| hash.try_into().ok())
        .collect()
}
