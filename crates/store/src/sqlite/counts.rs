//! Counts: added behind the answers, in whatever commit comes next.

use rusqlite::{Connection, Row, params};
use semel_ledger::Time;

use super::Sqlite;
use super::row::numbered;
use crate::count::{Count, Counted, Span, Standing, cells};
use crate::error::StoreError;
use crate::run::RunState;

pub(super) fn add(connection: &Connection, counts: &[Count]) -> rusqlite::Result<()> {
    const ADD: &str = "INSERT INTO counts (span, part, at, name, what, count)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count";
    let mut add = connection.prepare_cached(ADD)?;
    for (cell, count) in cells(counts) {
        add.execute(params![
            cell.span, cell.part, cell.at, cell.name, cell.what, count
        ])?;
    }
    Ok(())
}

/// Forgets some of what began before a time; gives how many.
pub(super) fn sweep(
    connection: &Connection,
    span: Span,
    until: Time,
    limit: u32,
) -> rusqlite::Result<usize> {
    const SWEEP: &str = "DELETE FROM counts WHERE (span, part, at, name, what) IN
        (SELECT span, part, at, name, what FROM counts WHERE span = ? AND at < ? LIMIT ?)";
    connection
        .prepare_cached(SWEEP)?
        .execute(params![span.seconds(), until.0, limit])
}

fn read(row: &Row<'_>) -> rusqlite::Result<Counted> {
    Ok(Counted {
        at: Time(row.get(0)?),
        name: row.get(1)?,
        what: row.get(2)?,
        count: row.get(3)?,
    })
}

impl Sqlite {
    pub(crate) async fn counts(
        &self,
        span: Span,
        part: String,
        since: Time,
    ) -> Result<Vec<Counted>, StoreError> {
        const COUNTS: &str = "SELECT at, name, what, count FROM counts
            WHERE span = ? AND part = ? AND at >= ? ORDER BY at, name, what";
        self.asked(COUNTS, span, part, since).await
    }

    pub(crate) async fn counts_together(
        &self,
        span: Span,
        part: String,
        since: Time,
        only: &[&'static str],
    ) -> Result<Vec<Counted>, StoreError> {
        // Sorted as few as there must be: of all that is counted a reader wants some.
        let sql = format!(
            "SELECT min(at), name, what, sum(count) FROM counts
              WHERE span = ? AND part = ? AND at >= ? AND what IN ('{}')
              GROUP BY name, what ORDER BY name, what",
            only.join("', '")
        );
        self.asked(sql, span, part, since).await
    }

    async fn asked(
        &self,
        sql: impl AsRef<str> + Send + 'static,
        span: Span,
        part: String,
        since: Time,
    ) -> Result<Vec<Counted>, StoreError> {
        let ask = move |connection: &Connection| {
            connection
                .prepare_cached(sql.as_ref())?
                .query_map(params![span.seconds(), part, since.0], read)?
                .collect()
        };
        self.ask_at_length(ask).await
    }

    pub(crate) async fn standing(&self) -> Result<Standing, StoreError> {
        // The terms of the indexes on what is not over, word for word.
        const RUNS: &str = "SELECT state, count(*) FROM runs
            WHERE state <> 6 AND state < 6 AND parent IS NULL GROUP BY state ORDER BY state";
        const REVIEWS: &str = "SELECT count(*) FROM effects
            WHERE state = 4 AND (state = 0 OR state = 3 OR state = 4)";
        let ask = |connection: &Connection| {
            let state = |row: &Row<'_>| Ok((numbered(row, 0, RunState::ALL)?, row.get(1)?));
            Ok(Standing {
                runs: connection
                    .prepare_cached(RUNS)?
                    .query_map([], state)?
                    .collect::<rusqlite::Result<_>>()?,
                reviews: connection
                    .prepare_cached(REVIEWS)?
                    .query_row([], |row| row.get(0))?,
            })
        };
        self.ask_at_length(ask).await
    }
}
