//! The audit log.

use rusqlite::{Connection, Row, params};
use semel_ledger::Time;

use super::{Sqlite, row};
use crate::audit::{AuditChange, AuditEntry, AuditFilter, Deed};
use crate::error::StoreError;
use crate::query::Page;

impl Sqlite {
    pub(crate) async fn audit(&self, filter: AuditFilter) -> Result<Page<AuditEntry>, StoreError> {
        let limit = filter.limit;
        let ask = move |connection: &Connection| list(connection, &filter);
        let found = self.ask_at_length(ask).await?;
        Ok(Page::new(found, limit, |entry: &AuditEntry| entry.seq))
    }
}

/// Gives the place of what was added, or how many changed.
pub(super) fn change(
    connection: &Connection,
    change: &AuditChange,
    now: Time,
) -> rusqlite::Result<i64> {
    const ADD: &str = "INSERT INTO audit (at, who, via, address, action, target, note, status)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    const END: &str = "UPDATE audit SET status = ?2, target = ifnull(?3, target),
        note = ifnull(?4, note) WHERE seq = ?1 AND status IS NULL";
    const SWEEP: &str = "DELETE FROM audit WHERE seq IN
        (SELECT seq FROM audit WHERE at < ? ORDER BY seq LIMIT ?)";
    let changed = match change {
        AuditChange::Add(deed) => {
            let Deed {
                who,
                via,
                address,
                action,
                target,
                note,
                status,
            } = deed;
            let values = params![now.0, who, via, address, action, target, note, status];
            connection.prepare_cached(ADD)?.execute(values)?;
            return Ok(connection.last_insert_rowid());
        }
        AuditChange::End {
            seq,
            status,
            target,
            note,
        } => connection
            .prepare_cached(END)?
            .execute(params![seq, status, target, note])?,
        AuditChange::Sweep { until, limit } => connection
            .prepare_cached(SWEEP)?
            .execute(params![until.0, limit])?,
    };
    Ok(i64::try_from(changed).unwrap_or(i64::MAX))
}

/// Newest first; one more than the limit, if there is one.
fn list(connection: &Connection, filter: &AuditFilter) -> rusqlite::Result<Vec<AuditEntry>> {
    const ALL: &str = "SELECT seq, at, who, via, address, action, target, note, status FROM audit
        WHERE (?1 IS NULL OR who = ?1) AND at >= ?2 AND at < ?3 AND seq < ?4
        ORDER BY seq DESC LIMIT ?5";
    let AuditFilter {
        who,
        since,
        until,
        before,
        limit,
    } = filter;
    let bounds = (
        since.map_or(i64::MIN, |at| at.0),
        until.map_or(i64::MAX, |at| at.0),
        before.unwrap_or(i64::MAX),
    );
    let mut all = connection.prepare_cached(ALL)?;
    let given = params![who, bounds.0, bounds.1, bounds.2, limit + 1];
    all.query_map(given, read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    Ok(AuditEntry {
        seq: row.get(0)?,
        at: Time(row.get(1)?),
        deed: Deed {
            who: row.get(2)?,
            via: row.get(3)?,
            address: row::text(row, 4)?,
            action: row.get(5)?,
            target: row.get(6)?,
            note: row::text(row, 7)?,
            status: row.get(8)?,
        },
    })
}
