//! Counts: added behind the answers, in one statement.

use semel_ledger::Time;
use tokio_postgres::{Error, Row};

use super::Postgres;
use super::columns::text;
use super::row::{Reader, Unreadable};
use super::run_reads::state;
use super::writer::Line;
use crate::count::{Cell, Count, Counted, Span, Standing, cells};
use crate::error::StoreError;

pub(super) async fn add(line: &Line, counts: &[Count]) -> Result<(), Error> {
    // In the order of the key, so that nodes which add at once wait for each other in one order.
    const ADD: &str = "INSERT INTO counts (span, part, at, name, what, count) \
        SELECT * FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[]) \
        ON CONFLICT (span, part, at, name, what) DO UPDATE SET count = counts.count + excluded.count";
    let cells: Vec<(Cell, u64)> = cells(counts).into_iter().collect();
    let span: Vec<i32> = cells.iter().map(|(it, _)| it.span.cast_signed()).collect();
    let part: Vec<_> = cells.iter().map(|(it, _)| text(&it.part)).collect();
    let at: Vec<i64> = cells.iter().map(|(it, _)| it.at).collect();
    let name: Vec<_> = cells.iter().map(|(it, _)| text(&it.name)).collect();
    let what: Vec<_> = cells.iter().map(|(it, _)| text(&it.what)).collect();
    let count: Vec<i64> = cells.iter().map(|(_, count)| count.cast_signed()).collect();
    let columns: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&span, &part, &at, &name, &what, &count];
    line.session.execute(ADD, &columns).await.map(drop)
}

/// Forgets some of what began before a time; gives how many.
pub(super) async fn sweep(
    line: &Line,
    span: Span,
    until: Time,
    limit: u32,
) -> Result<usize, Error> {
    // What somebody adds to right now is passed over.
    const SWEEP: &str = "DELETE FROM counts WHERE (span, part, at, name, what) IN \
        (SELECT span, part, at, name, what FROM counts WHERE span = $1 AND at < $2 \
         LIMIT $3 FOR UPDATE SKIP LOCKED)";
    let (span, limit) = (span.seconds().cast_signed(), i64::from(limit));
    let session = &line.session;
    let swept = session.execute(SWEEP, &[&span, &until.0, &limit]).await?;
    Ok(usize::try_from(swept).unwrap_or(usize::MAX))
}

fn read(row: &Row) -> Result<Counted, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(Counted {
        at: reader.time()?,
        name: reader.next::<String>()?.into(),
        what: reader.next::<String>()?.into(),
        count: reader.next::<i64>()?.cast_unsigned(),
    })
}

impl Postgres {
    pub(crate) async fn counts(
        &self,
        span: Span,
        part: String,
        since: Time,
    ) -> Result<Vec<Counted>, StoreError> {
        let sql = "SELECT at, name, what, count FROM counts \
                   WHERE span = $1 AND part = $2 AND at >= $3 ORDER BY at, name, what";
        self.asked(sql, span, part, since).await
    }

    pub(crate) async fn counts_together(
        &self,
        span: Span,
        part: String,
        since: Time,
        only: &[&'static str],
    ) -> Result<Vec<Counted>, StoreError> {
        let sql = format!(
            "SELECT min(at), name, what, sum(count)::bigint FROM counts \
             WHERE span = $1 AND part = $2 AND at >= $3 AND what IN ('{}') \
             GROUP BY name, what ORDER BY name, what",
            only.join("', '")
        );
        self.asked(&sql, span, part, since).await
    }

    async fn asked(
        &self,
        sql: &str,
        span: Span,
        part: String,
        since: Time,
    ) -> Result<Vec<Counted>, StoreError> {
        let (span, part) = (span.seconds().cast_signed(), text(&part));
        let rows = self.questions.ask(sql, &[&span, &part, &since.0]).await?;
        Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn standing(&self) -> Result<Standing, StoreError> {
        // The terms of the indexes on what is not over, word for word.
        let runs = "SELECT state, count(*) FROM runs \
                    WHERE state <> 6 AND state < 6 AND parent IS NULL GROUP BY state ORDER BY state";
        let reviews = "SELECT count(*) FROM effects WHERE state = 4";
        let rows = self.questions.ask(runs, &[]).await?;
        let read = |row: &Row| {
            let mut reader = Reader::new(row);
            Ok((state(&mut reader)?, reader.next::<i64>()?.cast_unsigned()))
        };
        Ok(Standing {
            runs: rows.iter().map(read).collect::<Result<_, Unreadable>>()?,
            reviews: self.number(reviews).await?.map_or(0, i64::cast_unsigned),
        })
    }
}
