//! Releases and saved positions: small tables, seldom written.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use semel_ledger::Time;

use super::row;
use crate::blob::Stored;
use crate::run::{CursorChange, Release, ReleaseChange, ReleaseId};

const RELEASE: &str = "SELECT id, flow, source, created_at, by, live, live_at FROM releases";

pub(super) fn change(
    connection: &Connection,
    change: &ReleaseChange,
    now: Time,
) -> rusqlite::Result<bool> {
    match change {
        ReleaseChange::Deploy {
            id,
            flow,
            source,
            by,
            live,
        } => {
            const DEPLOY: &str = "INSERT INTO releases (id, flow, source, created_at, by, live)
                VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (id) DO NOTHING";
            let deploy = params![id.0, flow, source, now.0, by];
            let new = connection.prepare_cached(DEPLOY)?.execute(deploy)? == 1;
            let goes_live = *live && is_of(connection, *id, flow)?;
            let went_live = goes_live && make_live(connection, flow, Some(*id), now)?;
            Ok(new || went_live)
        }
        ReleaseChange::GoLive { flow, id, was } => {
            const LIVE: &str = "SELECT id FROM releases WHERE flow = ? AND live";
            let live = connection
                .prepare_cached(LIVE)?
                .query_row([flow], |row| row.get(0).map(ReleaseId))
                .optional()?;
            if live != *was || !is_of(connection, *id, flow)? {
                return Ok(false);
            }
            make_live(connection, flow, Some(*id), now)
        }
        ReleaseChange::Retire { flow } => make_live(connection, flow, None, now),
    }
}

fn is_of(connection: &Connection, id: ReleaseId, flow: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM releases WHERE id = ? AND flow = ?")?
        .exists(params![id.0, flow])
}

/// Makes one text of a flow, or none, the one that takes triggers; gives whether that is new.
fn make_live(
    connection: &Connection,
    flow: &str,
    id: Option<ReleaseId>,
    now: Time,
) -> rusqlite::Result<bool> {
    const RETIRE: &str =
        "UPDATE releases SET live = 0, live_at = ? WHERE flow = ? AND live AND id IS NOT ?";
    const GO_LIVE: &str = "UPDATE releases SET live = 1, live_at = ? WHERE id = ? AND NOT live";
    let id = id.map(|id| id.0);
    let mut changed = connection
        .prepare_cached(RETIRE)?
        .execute(params![now.0, flow, id])?;
    if id.is_some() {
        changed += connection
            .prepare_cached(GO_LIVE)?
            .execute(params![now.0, id])?;
    }
    if changed > 0 {
        connection.execute("UPDATE live_revision SET number = number + 1", [])?;
    }
    Ok(changed > 0)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Release> {
    Ok(Release {
        id: ReleaseId(row.get(0)?),
        flow: row.get(1)?,
        source: Stored::Inline(row.get(2)?),
        created_at: Time(row.get(3)?),
        by: row::text(row, 4)?,
        live: row.get(5)?,
        live_at: row.get::<_, Option<i64>>(6)?.map(Time),
    })
}

/// All, or all of a flow, newest first.
pub(super) fn all(connection: &Connection, flow: Option<&str>) -> rusqlite::Result<Vec<Release>> {
    let sql = match flow {
        Some(_) => format!("{RELEASE} WHERE flow = ? ORDER BY seq DESC"),
        None => format!("{RELEASE} WHERE ? IS NULL ORDER BY seq DESC"),
    };
    let mut all = connection.prepare_cached(&sql)?;
    all.query_map([flow], read)?.collect()
}

pub(super) fn one(connection: &Connection, id: ReleaseId) -> rusqlite::Result<Option<Release>> {
    let sql = format!("{RELEASE} WHERE id = ?");
    let mut one = connection.prepare_cached(&sql)?;
    one.query_row([id.0], read).optional()
}

pub(super) fn live(connection: &Connection) -> rusqlite::Result<Vec<Release>> {
    let sql = format!("{RELEASE} WHERE live ORDER BY flow");
    let mut live = connection.prepare_cached(&sql)?;
    live.query_map([], read)?.collect()
}

pub(super) fn live_revision(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT number FROM live_revision")?
        .query_row([], |row| row.get(0))
}

/// Moves a saved position, if it is what it is said to be.
pub(super) fn move_cursor(
    connection: &Connection,
    change: &CursorChange,
) -> rusqlite::Result<bool> {
    const FIRST: &str = "INSERT INTO cursors (position, name) VALUES (?, ?) ON CONFLICT DO NOTHING";
    const NEXT: &str = "UPDATE cursors SET position = ? WHERE name = ? AND position = ?";
    let CursorChange { name, was, becomes } = change;
    let moved = match was {
        None => connection
            .prepare_cached(FIRST)?
            .execute(params![becomes, name])?,
        Some(was) => connection
            .prepare_cached(NEXT)?
            .execute(params![becomes, name, was])?,
    };
    Ok(moved == 1)
}

pub(super) fn cursor(connection: &Connection, name: &str) -> rusqlite::Result<Option<Box<str>>> {
    connection
        .prepare_cached("SELECT position FROM cursors WHERE name = ?")?
        .query_row([name], |row| row.get(0))
        .optional()
}
