//! Asking the file for runs, releases and saved positions.

use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use semel_ledger::{Key, Scope, Time};

use super::conditions::run_conditions;
use super::row::{broken, numbered};
use super::{Sqlite, listeners, releases};
use crate::error::StoreError;
use crate::listen::Topic;
use crate::query::Page;
use crate::run::{
    Ended, JournalRow, Loaded, Mail, Place, Release, ReleaseId, Run, RunFilter, RunId, RunState,
};

/// The columns that [`read_run`] expects, in its order.
const COLUMNS: &str = "runs.id, scopes.name, runs.release, runs.key, runs.parent, runs.state, \
     runs.why, runs.created_at, runs.changed_at, runs.wake, runs.node, runs.place";

impl Sqlite {
    #[expect(clippy::unused_async, reason = "all backends have the same methods")]
    pub(crate) async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        self.readers.ask(false, |connection| run(connection, id))
    }

    pub(crate) async fn load_runs(&self, ids: &[RunId]) -> Result<Vec<Loaded>, StoreError> {
        if let [id] = *ids {
            let one = self
                .readers
                .ask(false, |connection| load(connection, &[id]));
            return one;
        }
        let ids = ids.to_vec();
        self.ask_at_length(move |connection| load(connection, &ids))
            .await
    }

    pub(crate) async fn runs(&self, filter: RunFilter) -> Result<Page<Run, RunId>, StoreError> {
        let (conditions, values) = run_conditions(&filter);
        let limit = filter.limit;
        let sql = format!(
            "SELECT {COLUMNS} FROM runs CROSS JOIN scopes ON scopes.id = runs.flow
              WHERE {conditions} ORDER BY runs.id DESC LIMIT {}",
            limit + 1
        );
        let ask = move |connection: &Connection| {
            connection
                .prepare(&sql)?
                .query_map(params_from_iter(values), read_run)?
                .collect()
        };
        let found = self.ask_at_length(ask).await?;
        Ok(Page::new(found, limit, |run: &Run| run.id))
    }

    pub(crate) async fn children(&self, id: RunId) -> Result<Vec<(RunState, u64)>, StoreError> {
        const CHILDREN: &str = "SELECT state, count(*) FROM runs
                                 WHERE parent IS NOT NULL AND parent = ? GROUP BY state ORDER BY state";
        let ask = move |connection: &Connection| {
            connection
                .prepare_cached(CHILDREN)?
                .query_map([id.0], |row| {
                    Ok((numbered(row, 0, RunState::ALL)?, row.get(1)?))
                })?
                .collect()
        };
        self.ask_at_length(ask).await
    }

    #[expect(clippy::unused_async, reason = "all backends have the same methods")]
    pub(crate) async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        const NEXT: &str = "SELECT min(wake) FROM runs WHERE node IS NULL AND wake IS NOT NULL";
        self.readers.ask(false, |connection| {
            let mut next = connection.prepare_cached(NEXT)?;
            let wake: Option<i64> = next.query_row([], |row| row.get(0))?;
            Ok(wake.map(Time))
        })
    }

    pub(crate) async fn ended_runs(
        &self,
        after: RunId,
        limit: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        const ENDED: &str = "SELECT id, iif(state < 6, NULL, changed_at) FROM runs
                              WHERE id > ? ORDER BY id LIMIT ?";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| {
            Ok(Ended {
                id: RunId(row.get(0)?),
                at: row.get::<_, Option<i64>>(1)?.map(Time),
            })
        };
        let ask = move |connection: &Connection| {
            connection
                .prepare_cached(ENDED)?
                .query_map((after.0, limit), read)?
                .collect()
        };
        self.ask_at_length(ask).await
    }

    pub(crate) async fn releases(&self, flow: Option<&str>) -> Result<Vec<Release>, StoreError> {
        let flow = flow.map(str::to_owned);
        self.ask_at_length(move |connection| releases::all(connection, flow.as_deref()))
            .await
    }

    pub(crate) async fn release(&self, id: ReleaseId) -> Result<Option<Release>, StoreError> {
        self.ask_at_length(move |connection| releases::one(connection, id))
            .await
    }

    pub(crate) async fn live(&self) -> Result<Vec<Release>, StoreError> {
        self.ask_at_length(releases::live).await
    }

    #[expect(clippy::unused_async, reason = "all backends have the same methods")]
    pub(crate) async fn topics(&self) -> Result<Vec<Topic>, StoreError> {
        self.readers.ask(false, listeners::topics)
    }

    #[expect(clippy::unused_async, reason = "all backends have the same methods")]
    pub(crate) async fn live_revision(&self) -> Result<i64, StoreError> {
        self.readers.ask(false, releases::live_revision)
    }

    #[expect(clippy::unused_async, reason = "all backends have the same methods")]
    pub(crate) async fn cursor(&self, name: &str) -> Result<Option<Box<str>>, StoreError> {
        self.readers
            .ask(false, |connection| releases::cursor(connection, name))
    }

    pub(crate) async fn done_keys(&self, scope: &Scope) -> Result<u64, StoreError> {
        const DONE: &str = "SELECT count(*) FROM effects
                             WHERE scope = (SELECT id FROM scopes WHERE name = ?) AND state = 1";
        let scope = scope.as_str().to_owned();
        let ask = move |connection: &Connection| {
            let mut done = connection.prepare_cached(DONE)?;
            done.query_row([scope], |row| row.get(0))
        };
        self.ask_at_length(ask).await
    }
}

fn run(connection: &Connection, id: RunId) -> rusqlite::Result<Option<Run>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM runs JOIN scopes ON scopes.id = runs.flow WHERE runs.id = ?"
    );
    let mut run = connection.prepare_cached(&sql)?;
    run.query_row([id.0], read_run).optional()
}

/// All as of one moment.
fn load(connection: &Connection, ids: &[RunId]) -> rusqlite::Result<Vec<Loaded>> {
    let moment = connection.unchecked_transaction()?;
    let mut all = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(run) = run(&moment, *id)? {
            all.push(Loaded {
                run,
                journal: journal(&moment, *id)?,
                mail: mail(&moment, *id)?,
            });
        }
    }
    Ok(all)
}

fn journal(connection: &Connection, run: RunId) -> rusqlite::Result<Vec<JournalRow>> {
    const JOURNAL: &str = "SELECT at, written_at, row FROM journal WHERE run = ? ORDER BY at";
    let read = |row: &Row<'_>| {
        Ok(JournalRow {
            at: row.get(0)?,
            written_at: Time(row.get(1)?),
            row: row.get(2)?,
        })
    };
    let mut journal = connection.prepare_cached(JOURNAL)?;
    journal.query_map([run.0], read)?.collect()
}

fn mail(connection: &Connection, run: RunId) -> rusqlite::Result<Vec<Mail>> {
    const MAIL: &str = "SELECT seq, at, note FROM mail WHERE run = ? ORDER BY seq";
    let read = |row: &Row<'_>| {
        Ok(Mail {
            seq: row.get(0)?,
            at: Time(row.get(1)?),
            note: row.get(2)?,
        })
    };
    let mut mail = connection.prepare_cached(MAIL)?;
    mail.query_map([run.0], read)?.collect()
}

fn read_run(row: &Row<'_>) -> rusqlite::Result<Run> {
    let key = row.get_ref(3)?.as_str()?;
    Ok(Run {
        id: RunId(row.get(0)?),
        flow: row.get(1)?,
        release: ReleaseId(row.get(2)?),
        key: key.parse::<Key>().map_err(|error| broken(3, error))?,
        parent: row.get::<_, Option<_>>(4)?.map(RunId),
        state: numbered(row, 5, RunState::ALL)?,
        why: row.get(6)?,
        created_at: Time(row.get(7)?),
        changed_at: Time(row.get(8)?),
        wake: row.get::<_, Option<i64>>(9)?.map(Time),
        node: row.get(10)?,
        waits: row.get::<_, Option<i64>>(11)? == Some(Place::Waits as i64),
    })
}
