//! Values under keys: decided in memory with a batch's effects, written set at a time.
//!
//! Every key that a batch is about is held from before it is read until the commit, whether or not
//! there is a row: so what was read is so until it is written, and nobody is overtaken in between.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use semel_ledger::{Key, Time};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::Postgres;
use super::columns::text;
use super::pipeline::Pipeline;
use super::plan::Plan;
use super::row::{Reader, Unreadable, unreadable};
use super::statements::statements;
use super::writer::Line;
use crate::error::StoreError;
use crate::kv::{KvChange, KvDone, KvEntry, KvFilter, KvKey, KvPut, Write, plan, value_of};
use crate::query::Page;

statements! {
    /// What a writer says about values.
    KvStatements:
    load = "SELECT key, value, expires_at, changed_at, \"by\" FROM kv WHERE key = ANY($1)";
    write = "INSERT INTO kv (key, value, expires_at, changed_at, \"by\") \
             SELECT u.key, u.value, u.expires_at, $4, u.who \
             FROM unnest($1::text[], $2::text[], $3::bigint[], $5::text[]) \
                  AS u (key, value, expires_at, who) ORDER BY u.key COLLATE \"C\" \
             ON CONFLICT (key) DO UPDATE SET (value, expires_at, changed_at, \"by\") = \
                 (EXCLUDED.value, EXCLUDED.expires_at, EXCLUDED.changed_at, EXCLUDED.\"by\")";
    remove = "DELETE FROM kv WHERE key = ANY($1)";
    /// What somebody writes right now is passed over.
    sweep = "DELETE FROM kv WHERE key IN (SELECT key FROM kv \
             WHERE expires_at IS NOT NULL AND expires_at <= $1 \
             ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
}

/// What is known of the keys that a batch is about, and what it makes of them.
#[derive(Debug, Default)]
pub(super) struct Values {
    known: HashMap<Box<str>, KvEntry>,
    written: BTreeMap<Box<str>, Option<KvEntry>>,
}

impl Values {
    pub(super) fn read(rows: &[Row]) -> Result<Values, Unreadable> {
        let mut values = Values::default();
        for row in rows {
            let entry = read(row)?;
            values.known.insert(entry.key.as_str().into(), entry);
        }
        Ok(values)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    fn write(&mut self, key: &KvKey, entry: Option<KvEntry>) {
        match &entry {
            Some(entry) => drop(self.known.insert(key.as_str().into(), entry.clone())),
            None => drop(self.known.remove(key.as_str())),
        }
        self.written.insert(key.as_str().into(), entry);
    }

    /// What is to be written, turned on its side.
    pub(super) fn columns(&self, now: Time) -> Columns<'_> {
        let mut columns = Columns::new(now);
        for (key, entry) in &self.written {
            let entry = entry.as_ref();
            columns.push(key, entry.map(Cow::Borrowed));
        }
        columns
    }
}

impl Plan<'_> {
    pub(super) fn operate(&mut self, slot: Option<usize>, change: &KvChange) -> KvDone {
        let record = slot.and_then(|slot| self.slots[slot].after.as_ref());
        let entry = self.values.known.get(change.key.as_str());
        let planned = plan(change.clone(), record, entry, self.now);
        match planned.write {
            Write::Nothing => {}
            Write::Put(entry) => self.values.write(&change.key, Some(entry)),
            Write::Remove => self.values.write(&change.key, None),
        }
        let once = planned.once.zip(slot);
        KvDone {
            answered: once.map(|(once, slot)| self.effect(slot, once)),
            outcome: planned.outcome,
        }
    }
}

/// Values turned on their side: one array a column.
pub(super) struct Columns<'a> {
    key: Vec<&'a str>,
    value: Vec<Box<str>>,
    expires_at: Vec<Option<i64>>,
    by: Vec<Option<String>>,
    removed: Vec<&'a str>,
    now: i64,
}

impl<'a> Columns<'a> {
    fn new(now: Time) -> Columns<'a> {
        Columns {
            key: Vec::new(),
            value: Vec::new(),
            expires_at: Vec::new(),
            by: Vec::new(),
            removed: Vec::new(),
            now: now.0,
        }
    }

    /// What is left of these after all of them, in their order.
    pub(super) fn of_puts(puts: impl Iterator<Item = &'a KvPut>, now: Time) -> Columns<'a> {
        let last: BTreeMap<&str, &KvPut> = puts.map(|put| (put.key.as_str(), put)).collect();
        let mut columns = Columns::new(now);
        for (key, put) in last {
            columns.push(key, put.entry(now).map(Cow::Owned));
        }
        columns
    }

    fn push(&mut self, key: &'a str, entry: Option<Cow<'_, KvEntry>>) {
        let Some(entry) = entry else {
            self.removed.push(key);
            return;
        };
        self.key.push(key);
        self.value.push(entry.value.as_str().into());
        self.expires_at.push(entry.expires_at.map(|at| at.0));
        let by = entry.by.as_deref().map(|by| text(by).into_owned());
        self.by.push(by);
    }

    /// Adds them to what is sent, if there are any.
    pub(super) fn pipe<'c>(&'c self, pipe: &mut Pipeline<'c>, line: &'c Line) {
        if !self.key.is_empty() {
            let columns: Vec<&(dyn ToSql + Sync)> = vec![
                &self.key,
                &self.value,
                &self.expires_at,
                &self.now,
                &self.by,
            ];
            pipe.execute(&line.kv.write, columns);
        }
        if !self.removed.is_empty() {
            pipe.execute(&line.kv.remove, vec![&self.removed]);
        }
    }
}

/// What stands for a key while it is held. Two keys with the same number only wait for each other.
pub(super) fn lock(key: &KvKey) -> i64 {
    let mut hasher = blake3::Hasher::new_derive_key("semel kv lock");
    hasher.update(key.as_str().as_bytes());
    let mut short = [0; 8];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    i64::from_be_bytes(short)
}

/// Forgets some of what has expired; gives how many.
pub(super) async fn sweep(line: &Line, limit: u32, now: Time) -> Result<usize, Error> {
    let limit = i64::from(limit);
    let values: [&(dyn ToSql + Sync); 2] = [&now.0, &limit];
    let swept = line.session.execute(&line.kv.sweep, &values).await?;
    Ok(usize::try_from(swept).unwrap_or(usize::MAX))
}

fn read(row: &Row) -> Result<KvEntry, Unreadable> {
    let mut reader = Reader::new(row);
    let key: Key = reader
        .next::<&str>()?
        .parse()
        .map_err(|_| unreadable("a key"))?;
    Ok(KvEntry {
        key: KvKey::new(key).map_err(|_| unreadable("a key"))?,
        value: value_of(reader.next()?),
        expires_at: reader.next::<Option<i64>>()?.map(Time),
        changed_at: reader.time()?,
        by: reader.next()?,
    })
}

impl Postgres {
    pub(crate) async fn kv(&self, key: &KvKey, now: Time) -> Result<Option<KvEntry>, StoreError> {
        let sql = "SELECT key, value, expires_at, changed_at, \"by\" FROM kv WHERE key = $1";
        let rows = self.questions.ask(sql, &[&key.as_str()]).await?;
        let found = rows.first().map(read).transpose()?;
        Ok(found.filter(|entry| entry.is_alive(now)))
    }

    pub(crate) async fn kv_list(
        &self,
        filter: KvFilter,
        now: Time,
    ) -> Result<Page<KvEntry, String>, StoreError> {
        let sql = "SELECT key, value, expires_at, changed_at, \"by\" FROM kv \
                   WHERE key >= $1 AND key > $2 AND ($3::text IS NULL OR key < $3) \
                     AND (expires_at IS NULL OR expires_at > $4) ORDER BY key LIMIT $5";
        let (prefix, end) = (text(&filter.prefix), filter.end());
        let after = text(filter.after.as_deref().unwrap_or_default());
        let end = end.as_deref().map(text);
        let more = i64::try_from(filter.limit + 1).unwrap_or(i64::MAX);
        let asked: [&(dyn ToSql + Sync); 5] = [&prefix, &after, &end, &now.0, &more];
        let rows = self.questions.ask(sql, &asked).await?;
        let items = rows.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Page::new(items, filter.limit, |entry: &KvEntry| {
            entry.key.as_str().to_owned()
        }))
    }
}
