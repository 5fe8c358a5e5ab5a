//! Asking the database for runs, releases and saved positions.

use semel_ledger::{Key, Scope, Time};
use tokio_postgres::Row;

use super::columns::text;
use super::reads::Conditions;
use super::row::{Reader, Unreadable, unreadable};
use super::{Postgres, releases};
use crate::error::StoreError;
use crate::query::Page;
use crate::run::{
    Ended, JournalRow, Loaded, Mail, Place, Release, ReleaseId, Run, RunFilter, RunId, RunState,
};

/// The columns that [`run`] reads.
const COLUMNS: &str = "r.id, r.flow, r.release, r.key, r.parent, r.state, r.why, r.created_at, \
                       r.changed_at, r.wake, r.node, r.place";

impl Postgres {
    pub(crate) async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM runs r WHERE r.id = $1");
        let rows = self.questions.ask(&sql, &[&id.0.as_slice()]).await?;
        let found = rows.first().map(|row| run(&mut Reader::new(row)));
        Ok(found.transpose()?)
    }

    /// In one statement, and so as of one moment.
    pub(crate) async fn load_runs(&self, ids: &[RunId]) -> Result<Vec<Loaded>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, \
                    ARRAY(SELECT at FROM journal j WHERE j.run = r.id ORDER BY at), \
                    ARRAY(SELECT written_at FROM journal j WHERE j.run = r.id ORDER BY at), \
                    ARRAY(SELECT row FROM journal j WHERE j.run = r.id ORDER BY at), \
                    ARRAY(SELECT seq FROM mail m WHERE m.run = r.id ORDER BY seq), \
                    ARRAY(SELECT at FROM mail m WHERE m.run = r.id ORDER BY seq), \
                    ARRAY(SELECT note FROM mail m WHERE m.run = r.id ORDER BY seq) \
             FROM unnest($1::bytea[]) WITH ORDINALITY AS u (id, turn) \
             JOIN runs r ON r.id = u.id ORDER BY u.turn"
        );
        let ids: Vec<&[u8]> = ids.iter().map(|id| id.0.as_slice()).collect();
        let rows = self.questions.ask(&sql, &[&ids]).await?;
        Ok(rows.iter().map(loaded).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn runs(&self, filter: RunFilter) -> Result<Page<Run, RunId>, StoreError> {
        let limit = filter.limit;
        let flow = filter.flow.as_deref().map(text);
        let key = filter.key.as_deref().map(text);
        let parent = filter.parent.as_ref().map(|id| id.0.as_slice());
        let before = filter.before.as_ref().map(|id| id.0.as_slice());
        let (since, until) = (filter.since.map(|at| at.0), filter.until.map(|at| at.0));
        let changed = filter.changed.map(|at| at.0);
        let mut which = Conditions::default();
        if parent.is_none() {
            which.plain("r.parent IS NULL");
        }
        which.add("r.parent = ?", parent.as_ref());
        which.add("r.flow = ?", flow.as_ref());
        which.add("r.key = ?", key.as_ref());
        which.add("r.created_at >= ?", since.as_ref());
        which.add("r.created_at < ?", until.as_ref());
        which.add("r.changed_at >= ?", changed.as_ref());
        which.add("r.id < ?", before.as_ref());
        if !filter.states.is_empty() {
            let states = filter
                .states
                .iter()
                .map(|state| (*state as i16).to_string());
            let states: Vec<String> = states.collect();
            which.plain(&format!("r.state IN ({})", states.join(", ")));
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM runs r{} ORDER BY r.id DESC LIMIT {}",
            which.sql,
            limit + 1
        );
        let rows = self.questions.ask(&sql, &which.values).await?;
        let read = |row| run(&mut Reader::new(row));
        let found = rows.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Page::new(found, limit, |run: &Run| run.id))
    }

    pub(crate) async fn children(&self, id: RunId) -> Result<Vec<(RunState, u64)>, StoreError> {
        let sql =
            "SELECT state, count(*) FROM runs WHERE parent = $1 GROUP BY state ORDER BY state";
        let rows = self.questions.ask(sql, &[&id.0.as_slice()]).await?;
        let read = |row: &Row| {
            let mut reader = Reader::new(row);
            Ok((state(&mut reader)?, reader.next::<i64>()?.cast_unsigned()))
        };
        Ok(rows.iter().map(read).collect::<Result<_, Unreadable>>()?)
    }

    pub(crate) async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        let sql = "SELECT min(wake) FROM runs WHERE node IS NULL AND wake IS NOT NULL";
        Ok(self.number(sql).await?.map(Time))
    }

    pub(crate) async fn ended_runs(
        &self,
        after: RunId,
        limit: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        let sql = format!(
            "SELECT id, CASE WHEN state >= 6 THEN changed_at END FROM runs \
             WHERE id > $1 ORDER BY id LIMIT {limit}"
        );
        let rows = self.questions.ask(&sql, &[&after.0.as_slice()]).await?;
        let read = |row: &Row| {
            let mut reader = Reader::new(row);
            Ok(Ended {
                id: RunId(reader.hash()?),
                at: reader.next::<Option<i64>>()?.map(Time),
            })
        };
        Ok(rows.iter().map(read).collect::<Result<_, Unreadable>>()?)
    }

    pub(crate) async fn releases(&self, flow: Option<&str>) -> Result<Vec<Release>, StoreError> {
        let mut which = Conditions::default();
        which.add("flow = ?", flow.as_ref());
        self.release_list(&format!("{} ORDER BY seq DESC", which.sql), &which)
            .await
    }

    pub(crate) async fn release(&self, id: ReleaseId) -> Result<Option<Release>, StoreError> {
        let id = id.0.as_slice();
        let mut which = Conditions::default();
        which.add("id = ?", Some(&id));
        Ok(self.release_list(&which.sql, &which).await?.pop())
    }

    pub(crate) async fn live(&self) -> Result<Vec<Release>, StoreError> {
        let which = Conditions::default();
        self.release_list(" WHERE live ORDER BY flow COLLATE \"C\"", &which)
            .await
    }

    async fn release_list(
        &self,
        clauses: &str,
        which: &Conditions<'_>,
    ) -> Result<Vec<Release>, StoreError> {
        let sql = format!("SELECT {} FROM releases{clauses}", releases::COLUMNS);
        let rows = self.questions.ask(&sql, &which.values).await?;
        Ok(rows.iter().map(releases::read).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn live_revision(&self) -> Result<i64, StoreError> {
        let revision = self.number("SELECT number FROM live_revision").await?;
        Ok(revision.unwrap_or_default())
    }

    pub(super) async fn number(&self, sql: &str) -> Result<Option<i64>, StoreError> {
        let rows = self.questions.ask(sql, &[]).await?;
        let number = rows.first().map(|row| Reader::new(row).next());
        Ok(number.transpose()?.flatten())
    }

    pub(crate) async fn cursor(&self, name: &str) -> Result<Option<Box<str>>, StoreError> {
        let sql = "SELECT position FROM cursors WHERE name = $1";
        let rows = self.questions.ask(sql, &[&text(name)]).await?;
        let position = rows.first().map(|row| Reader::new(row).next());
        Ok(position.transpose()?)
    }

    pub(crate) async fn done_keys(&self, scope: &Scope) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM effects WHERE scope = $1 AND state = 1";
        let rows = self.questions.ask(sql, &[&scope.as_str()]).await?;
        let count: Option<i64> = rows
            .first()
            .map(|row| Reader::new(row).next())
            .transpose()?;
        Ok(count.unwrap_or_default().cast_unsigned())
    }
}

pub(super) fn state(reader: &mut Reader<'_>) -> Result<RunState, Unreadable> {
    let number = usize::try_from(reader.next::<i16>()?).unwrap_or(usize::MAX);
    let found = RunState::ALL.get(number).copied();
    found.ok_or(unreadable("the state of a run"))
}

fn run(reader: &mut Reader<'_>) -> Result<Run, Unreadable> {
    Ok(Run {
        id: RunId(reader.hash()?),
        flow: reader.next()?,
        release: ReleaseId(reader.hash()?),
        key: {
            let key: &str = reader.next()?;
            key.parse::<Key>().map_err(|_| unreadable("a key"))?
        },
        parent: reader.bytes()?.map(RunId),
        state: state(reader)?,
        why: reader.next()?,
        created_at: reader.time()?,
        changed_at: reader.time()?,
        wake: reader.next::<Option<i64>>()?.map(Time),
        node: reader.next::<Option<i64>>()?.map(i64::cast_unsigned),
        waits: reader.next::<Option<i16>>()? == Some(Place::Waits as i16),
    })
}

fn loaded(row: &Row) -> Result<Loaded, Unreadable> {
    let mut reader = Reader::new(row);
    let run = run(&mut reader)?;
    let (places, times, rows): (Vec<i64>, Vec<i64>, Vec<Box<str>>) =
        (reader.next()?, reader.next()?, reader.next()?);
    let mut journal = Vec::with_capacity(rows.len());
    for ((at, written_at), row) in places.into_iter().zip(times).zip(rows) {
        journal.push(JournalRow {
            at: u32::try_from(at).map_err(|_| unreadable("the place of a row"))?,
            written_at: Time(written_at),
            row,
        });
    }
    let (seqs, times, notes): (Vec<i64>, Vec<i64>, Vec<Box<str>>) =
        (reader.next()?, reader.next()?, reader.next()?);
    let mail = seqs.into_iter().zip(times).zip(notes);
    let mail = mail.map(|((seq, at), note)| Mail {
        seq,
        at: Time(at),
        note,
    });
    Ok(Loaded {
        run,
        journal,
        mail: mail.collect(),
    })
}
