//! One step of one effect, inside the writer's transaction: load, advance, write.

use std::sync::OnceLock;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Statement, ToSql, params};
use semel_ledger::{EffectId, Entry, Owner, State, Time};

use super::recent::Touched;
use super::row::{COLUMNS, StoredColumn, process_bytes, read_as};
use super::scopes::Scopes;
use super::{blobs, receipts, runs};
use crate::change::{Answered, EffectChange};
use crate::node::Membership;
use crate::record::{Advanced, Record, Turn, Write, advance};
use crate::seen::Seen;

/// The columns that [`bind`] fills, in its order: 20 of them.
/// `blocked` is not here: receipts are counted behind the answers, by their own statement.
const INSERT: &str = "INSERT INTO effects (state, attempt, fence, process, node, epoch, owner,
    fingerprint, on_unknown, remember, claimed_at, lease_until, changed_at, settled, tombstone,
    input, result, external_id, note, blobs, id, scope, key, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING";

const UPDATE: &str = "UPDATE effects SET state = ?, attempt = ?, fence = ?, process = ?, node = ?,
    epoch = ?, owner = ?, fingerprint = ?, on_unknown = ?, remember = ?, claimed_at = ?,
    lease_until = ?, changed_at = ?, settled = ?, tombstone = ?, input = ?, result = ?,
    external_id = ?, note = ?, blobs = ?
  WHERE seq = ?";

/// What the writer says for nearly every change, looked up once for a whole batch.
pub(super) struct Statements<'c> {
    load: CachedStatement<'c>,
    insert: CachedStatement<'c>,
    update: CachedStatement<'c>,
    pub(super) insert_run: CachedStatement<'c>,
    pub(super) write_row: CachedStatement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Statements<'c>> {
        Ok(Statements {
            load: prepare_load(connection)?,
            insert: connection.prepare_cached(INSERT)?,
            update: connection.prepare_cached(UPDATE)?,
            insert_run: connection.prepare_cached(runs::INSERT)?,
            write_row: connection.prepare_cached(runs::WRITE)?,
        })
    }
}

fn prepare_load(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    static SQL: OnceLock<String> = OnceLock::new();
    let sql = SQL.get_or_init(|| format!("SELECT {COLUMNS} FROM effects WHERE id = ?"));
    connection.prepare_cached(sql)
}

fn load_by(load: &mut Statement<'_>, effect: &EffectId) -> rusqlite::Result<Option<Record>> {
    load.query_row([effect.hash()], |row| read_as(row, effect.clone()))
        .optional()
}

pub(super) fn load(connection: &Connection, effect: &EffectId) -> rusqlite::Result<Option<Record>> {
    load_by(&mut *prepare_load(connection)?, effect)
}

/// What a step of an effect works with, for a whole batch.
pub(super) struct Batch<'c> {
    pub(super) connection: &'c Connection,
    pub(super) statements: Statements<'c>,
    pub(super) scopes: &'c mut Scopes,
    pub(super) seen: &'c Seen,
    /// Who asks: each caller of the batch in turn.
    pub(super) member: Option<Membership>,
    /// Which effects are not as they were.
    pub(super) touched: Vec<Touched>,
    pub(super) now: Time,
}

impl Batch<'_> {
    /// Moves one effect one step.
    pub(super) fn step(&mut self, change: EffectChange) -> rusqlite::Result<Answered> {
        if change.command.may_be_first()
            && !self.seen.contains(change.effect.hash())
            && let Some(answered) = self.first(change.clone())?
        {
            return Ok(answered);
        }
        self.next(change)
    }

    /// Guesses that nothing is there and lets the insert prove it: one search instead of two.
    fn first(&mut self, change: EffectChange) -> rusqlite::Result<Option<Answered>> {
        let Advanced {
            verdict,
            write: Write::Insert(mut record),
            blobs,
            ..
        } = advance(None, change, self.now)
        else {
            return Ok(None);
        };
        let entry = Some(record.entry);
        let inserted = self.insert(&mut record, &blobs)?;
        Ok(inserted.then_some(Answered {
            verdict,
            entry,
            record: None,
            receipt: None,
        }))
    }

    /// Writes a new record, unless there is one. Gives whether it did.
    fn insert(&mut self, record: &mut Record, blobs: &[Vec<u8>]) -> rusqlite::Result<bool> {
        let scope = self.scopes.number(self.connection, &record.effect.scope)?;
        if !insert(&mut self.statements.insert, scope, record)? {
            return Ok(false);
        }
        record.seq = self.connection.last_insert_rowid();
        for content in blobs {
            blobs::put(self.connection, content, self.now)?;
        }
        if record.kept_blobs().next().is_some() {
            blobs::refer(self.connection, record)?;
        }
        Ok(true)
    }

    fn next(&mut self, change: EffectChange) -> rusqlite::Result<Answered> {
        let connection = self.connection;
        let before = load_by(&mut self.statements.load, &change.effect)?;
        let Advanced {
            verdict,
            write,
            turns,
            blobs: contents,
        } = advance(before.as_ref(), change, self.now);
        let existed = before.is_some();
        if let (Some(before), false) = (&before, matches!(write, Write::Nothing)) {
            let hash = before.effect.hash();
            self.touched.push(Touched::Changed(hash));
        }
        let after = match write {
            Write::Nothing => before,
            Write::Update(record) => {
                self.update(before.as_ref(), &record, &contents)?;
                Some(record)
            }
            Write::Insert(mut record) => {
                delete(connection, before.as_ref())?;
                if !self.insert(&mut record, &contents)? {
                    return Err(rusqlite::Error::StatementChangedRows(0));
                }
                Some(record)
            }
            Write::Delete => {
                delete(connection, before.as_ref())?;
                None
            }
        };
        if let Some(record) = &after {
            for turn in &turns {
                insert_turn(connection, record.seq, turn)?;
            }
        }
        let entry = after.as_ref().map(|record| record.entry);
        Ok(Answered {
            verdict,
            entry,
            record: after.filter(|_| existed).map(Box::new),
            receipt: None,
        })
    }

    fn update(
        &mut self,
        before: Option<&Record>,
        record: &Record,
        contents: &[Vec<u8>],
    ) -> rusqlite::Result<()> {
        for content in contents {
            blobs::put(self.connection, content, self.now)?;
        }
        update(&mut self.statements.update, record)?;
        if before.is_some_and(|before| !before.kept_blobs().eq(record.kept_blobs())) {
            blobs::refer(self.connection, record)?;
        }
        if record.entry.tombstone {
            receipts::delete_of(self.connection, record.seq)?;
        }
        Ok(())
    }
}

fn node_of(entry: &Entry) -> (Option<u64>, Option<u64>) {
    match entry.owner {
        Owner::Node { node, epoch } => (Some(node), Some(epoch)),
        Owner::Client | Owner::Process(_) => (None, None),
    }
}

/// Gives whether there was none.
fn insert(statement: &mut Statement<'_>, scope: i64, record: &Record) -> rusqlite::Result<bool> {
    let bound = bind(statement, record)?;
    statement.raw_bind_parameter(bound + 1, record.effect.hash())?;
    statement.raw_bind_parameter(bound + 2, scope)?;
    statement.raw_bind_parameter(bound + 3, record.effect.key.as_str())?;
    statement.raw_bind_parameter(bound + 4, record.entry.created_at.0)?;
    statement.raw_execute().map(|rows| rows == 1)
}

fn update(statement: &mut Statement<'_>, record: &Record) -> rusqlite::Result<()> {
    let bound = bind(statement, record)?;
    statement.raw_bind_parameter(bound + 1, record.seq)?;
    statement.raw_execute().map(drop)
}

/// Binds what an insert and an update have in common; gives how many columns that were.
/// By position, as names would be looked up anew for each row.
fn bind(statement: &mut Statement<'_>, record: &Record) -> rusqlite::Result<usize> {
    let entry = &record.entry;
    let (node, epoch) = node_of(entry);
    let columns: [&dyn ToSql; 20] = [
        &(entry.state as i64),
        &entry.attempt,
        &entry.fence.0,
        &process_bytes(entry.owner),
        &node,
        &epoch,
        &record.by,
        &entry.fingerprint.map(|fingerprint| fingerprint.0),
        &entry.on_unknown.map(|rule| rule as i64),
        &entry.remember.0,
        &entry.claimed_at.0,
        &entry.lease_until.0,
        &entry.changed_at.0,
        &entry.settled.map(|digest| digest.0),
        &entry.tombstone,
        &StoredColumn(&record.input),
        &StoredColumn(&record.result),
        &record.external_id,
        &record.note,
        &blob_column(record),
    ];
    for (index, column) in columns.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, column)?;
    }
    Ok(columns.len())
}

fn blob_column(record: &Record) -> Option<Vec<u8>> {
    (!record.blobs.is_empty()).then(|| record.blobs.concat())
}

fn delete(connection: &Connection, record: Option<&Record>) -> rusqlite::Result<()> {
    let Some(record) = record else { return Ok(()) };
    receipts::delete_of(connection, record.seq)?;
    blobs::release(connection, record.seq)?;
    connection
        .prepare_cached("DELETE FROM transitions WHERE effect = ?")?
        .execute([record.seq])?;
    connection
        .prepare_cached("DELETE FROM effects WHERE seq = ?")?
        .execute([record.seq])?;
    Ok(())
}

fn insert_turn(connection: &Connection, seq: i64, turn: &Turn) -> rusqlite::Result<()> {
    const INSERT_TURN: &str = "INSERT INTO transitions
        (effect, attempt, claimed_at, at, was, became, cause, by, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let transition = &turn.transition;
    connection.prepare_cached(INSERT_TURN)?.execute(params![
        seq,
        transition.attempt,
        transition.claimed_at.0,
        transition.at.0,
        transition.from as i64,
        transition.to as i64,
        transition.cause.name(),
        turn.by,
        turn.note,
    ])?;
    Ok(())
}

/// The states in the order of their numbers; the schema's view and indexes spell the same numbers.
const _: () =
    assert!(State::Claimed as i64 == 0 && State::Unknown as i64 == 3 && State::Review as i64 == 4);
