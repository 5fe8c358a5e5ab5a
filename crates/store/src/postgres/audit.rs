//! The audit log.

use semel_ledger::Time;
use tokio_postgres::{Error, Row};

use super::Postgres;
use super::columns::text;
use super::connect::Session;
use super::row::{Reader, Unreadable};
use crate::audit::{AuditChange, AuditEntry, AuditFilter, Deed};
use crate::error::StoreError;
use crate::query::Page;

impl Postgres {
    pub(crate) async fn audit(&self, filter: AuditFilter) -> Result<Page<AuditEntry>, StoreError> {
        let sql = "SELECT seq, at, who, via, address, action, target, note, status FROM audit \
                   WHERE ($1::text IS NULL OR who = $1) AND at >= $2 AND at < $3 AND seq < $4 \
                   ORDER BY seq DESC LIMIT $5";
        let AuditFilter {
            who,
            since,
            until,
            before,
            limit,
        } = filter;
        let who = who.as_deref().map(text);
        let since = since.map_or(i64::MIN, |at| at.0);
        let until = until.map_or(i64::MAX, |at| at.0);
        let before = before.unwrap_or(i64::MAX);
        let more = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let rows = self
            .questions
            .ask(sql, &[&who, &since, &until, &before, &more])
            .await?;
        let items = rows.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Page::new(items, limit, |entry: &AuditEntry| entry.seq))
    }
}

fn read(row: &Row) -> Result<AuditEntry, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(AuditEntry {
        seq: reader.next()?,
        at: reader.time()?,
        deed: Deed {
            who: reader.next()?,
            via: reader.next()?,
            address: reader.next()?,
            action: reader.next()?,
            target: reader.next()?,
            note: reader.next()?,
            status: reader
                .next::<Option<i64>>()?
                .and_then(|status| u16::try_from(status).ok()),
        },
    })
}

/// Gives the place of what was added, or how many changed.
pub(super) async fn change(
    session: &Session,
    change: &AuditChange,
    now: Time,
) -> Result<i64, Error> {
    let changed = match change {
        AuditChange::Add(deed) => return add(session, deed, now).await,
        AuditChange::End {
            seq,
            status,
            target,
            note,
        } => {
            let end = "UPDATE audit SET status = $2, target = coalesce($3, target), \
                       note = coalesce($4, note) WHERE seq = $1 AND status IS NULL";
            let (target, note) = (target.as_deref().map(text), note.as_deref().map(text));
            session
                .execute(end, &[seq, &i64::from(*status), &target, &note])
                .await?
        }
        AuditChange::Sweep { until, limit } => {
            let sweep = "DELETE FROM audit WHERE seq IN \
                         (SELECT seq FROM audit WHERE at < $1 ORDER BY seq LIMIT $2)";
            session
                .execute(sweep, &[&until.0, &i64::from(*limit)])
                .await?
        }
    };
    Ok(i64::try_from(changed).unwrap_or(i64::MAX))
}

async fn add(session: &Session, deed: &Deed, now: Time) -> Result<i64, Error> {
    let sql = "INSERT INTO audit (at, who, via, address, action, target, note, status) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING seq";
    let Deed {
        who,
        via,
        address,
        action,
        target,
        note,
        status,
    } = deed;
    let (who, via, action, target) = (text(who), text(via), text(action), text(target));
    let (address, note) = (address.as_deref().map(text), note.as_deref().map(text));
    let status = status.map(i64::from);
    let row = session
        .query_one(
            sql,
            &[
                &now.0, &who, &via, &address, &action, &target, &note, &status,
            ],
        )
        .await?;
    row.try_get(0)
}
