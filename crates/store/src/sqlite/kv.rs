//! Values under keys: one row each.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use semel_ledger::{Key, Time};

use super::Sqlite;
use super::effects::{Batch, load};
use super::row::{broken, text};
use crate::error::StoreError;
use crate::kv::{KvChange, KvDone, KvEntry, KvFilter, KvKey, KvPut, Write, plan, value_of};
use crate::query::Page;

const REMOVE: &str = "DELETE FROM kv WHERE key = ?";

impl Batch<'_> {
    pub(super) fn operate(&mut self, change: KvChange) -> rusqlite::Result<KvDone> {
        let key = change.key.clone();
        let record = match &change.once {
            Some(once) => load(self.connection, &once.effect)?,
            None => None,
        };
        let entry = find(self.connection, &key)?;
        let planned = plan(change, record.as_ref(), entry.as_ref(), self.now);
        match &planned.write {
            Write::Nothing => {}
            Write::Put(entry) => write(self.connection, entry)?,
            Write::Remove => remove(self.connection, &key)?,
        }
        let answered = planned.once.map(|once| self.step(once)).transpose()?;
        Ok(KvDone {
            answered,
            outcome: planned.outcome,
        })
    }

    pub(super) fn put(&self, put: &KvPut) -> rusqlite::Result<()> {
        match put.entry(self.now) {
            Some(entry) => write(self.connection, &entry),
            None => remove(self.connection, &put.key),
        }
    }
}

fn write(connection: &Connection, entry: &KvEntry) -> rusqlite::Result<()> {
    const WRITE: &str = "INSERT INTO kv (key, value, expires_at, changed_at, by)
        VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET (value, expires_at, changed_at, by) =
            (excluded.value, excluded.expires_at, excluded.changed_at, excluded.by)";
    connection.prepare_cached(WRITE)?.execute(params![
        entry.key.as_str(),
        entry.value.as_str(),
        entry.expires_at.map(|at| at.0),
        entry.changed_at.0,
        entry.by,
    ])?;
    Ok(())
}

fn remove(connection: &Connection, key: &KvKey) -> rusqlite::Result<()> {
    let mut remove = connection.prepare_cached(REMOVE)?;
    remove.execute([key.as_str()]).map(drop)
}

/// Forgets some of what has expired; gives how many.
pub(super) fn sweep(connection: &Connection, limit: u32, now: Time) -> rusqlite::Result<usize> {
    const SWEEP: &str = "DELETE FROM kv WHERE key IN (SELECT key FROM kv
        WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?)";
    connection
        .prepare_cached(SWEEP)?
        .execute(params![now.0, limit])
}

/// The row of a key, expired or not.
fn find(connection: &Connection, key: &KvKey) -> rusqlite::Result<Option<KvEntry>> {
    const FIND: &str = "SELECT key, value, expires_at, changed_at, by FROM kv WHERE key = ?";
    let mut find = connection.prepare_cached(FIND)?;
    find.query_row([key.as_str()], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<KvEntry> {
    let key: Key = row
        .get_ref(0)?
        .as_str()?
        .parse()
        .map_err(|error| broken(0, error))?;
    Ok(KvEntry {
        key: KvKey::new(key).map_err(|error| broken(0, error))?,
        value: value_of(row.get(1)?),
        expires_at: row.get::<_, Option<i64>>(2)?.map(Time),
        changed_at: Time(row.get(3)?),
        by: text(row, 4)?,
    })
}

impl Sqlite {
    #[expect(clippy::unused_async, reason = "all backends have the same methods")]
    pub(crate) async fn kv(&self, key: &KvKey, now: Time) -> Result<Option<KvEntry>, StoreError> {
        let found = self
            .readers
            .ask(false, |connection| find(connection, key))?;
        Ok(found.filter(|entry| entry.is_alive(now)))
    }

    pub(crate) async fn kv_list(
        &self,
        filter: KvFilter,
        now: Time,
    ) -> Result<Page<KvEntry, String>, StoreError> {
        // Where there is no end, a blob is: it is greater than any text.
        const LIST: &str = "SELECT key, value, expires_at, changed_at, by FROM kv
            WHERE key >= ?1 AND key > coalesce(?2, '') AND key < coalesce(?3, x'')
              AND (expires_at IS NULL OR expires_at > ?4) ORDER BY key LIMIT ?5";
        let (limit, end) = (filter.limit, filter.end());
        let ask = move |connection: &Connection| {
            let asked = params![filter.prefix, filter.after, end, now.0, limit + 1];
            let mut list = connection.prepare_cached(LIST)?;
            list.query_map(asked, read)?.collect()
        };
        let items = self.ask_at_length(ask).await?;
        Ok(Page::new(items, limit, |entry: &KvEntry| {
            entry.key.as_str().to_owned()
        }))
    }
}
