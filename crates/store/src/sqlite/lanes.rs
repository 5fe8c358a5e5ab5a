//! Lanes and versions: who may start, who is let in next, and whom the end of a run concerns.

use rusqlite::{Connection, OptionalExtension as _, params};
use semel_ledger::Time;

use super::mail;
use crate::run::{Lane, Latest, Place, REPLACED, RunId};

/// Where a held run stands.
#[derive(Debug, Default)]
pub(super) struct Standing {
    lane: Option<[u8; 16]>,
    place: Option<i64>,
    parent: Option<RunId>,
}

impl Standing {
    pub(super) fn is_in(&self) -> bool {
        self.place == Some(Place::In as i64)
    }
}

/// A run, if this node holds it.
pub(super) fn held(
    connection: &Connection,
    run: RunId,
    node: u64,
) -> rusqlite::Result<Option<Standing>> {
    const HELD: &str = "SELECT lane, place, parent FROM runs WHERE id = ? AND node = ?";
    let mut held = connection.prepare_cached(HELD)?;
    held.query_row(params![run.0, node], |row| {
        Ok(Standing {
            lane: row.get(0)?,
            place: row.get(1)?,
            parent: row.get::<_, Option<_>>(2)?.map(RunId),
        })
    })
    .optional()
}

pub(super) fn is_full(connection: &Connection, lane: &Lane) -> rusqlite::Result<bool> {
    const COUNT: &str =
        "SELECT count(*) FROM (SELECT 1 FROM runs WHERE lane IS NOT NULL AND state < 6
                          AND lane = ? AND place = 1 LIMIT ?)";
    let mut count = connection.prepare_cached(COUNT)?;
    let inside: u32 = count.query_row(params![lane.id, lane.width], |row| row.get(0))?;
    Ok(inside >= lane.width)
}

/// Asks everybody who is in the lane, or waits for it, to end; all but `newest`.
pub(super) fn replace(
    connection: &Connection,
    lane: [u8; 16],
    newest: RunId,
    now: Time,
) -> rusqlite::Result<()> {
    const OTHERS: &str = "SELECT id FROM runs WHERE lane IS NOT NULL AND state < 6
                           AND lane = ? AND place IN (0, 1) AND id <> ? ORDER BY id";
    let mut others = connection.prepare_cached(OTHERS)?;
    let others = others.query_map(params![lane, newest.0], |row| row.get(0).map(RunId))?;
    let others: Vec<RunId> = others.collect::<Result<_, _>>()?;
    for run in others {
        mail::send(connection, run, REPLACED, now)?;
    }
    Ok(())
}

pub(super) fn yield_place(connection: &Connection, run: RunId) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE runs SET place = 2 WHERE id = ?")?
        .execute([run.0])?;
    Ok(())
}

/// Lets in whoever has waited longest.
pub(super) fn let_in(
    connection: &Connection,
    standing: &Standing,
    now: Time,
) -> rusqlite::Result<()> {
    const LET_IN: &str = "UPDATE runs SET place = 1, wake = ? WHERE id = (SELECT id FROM runs
        WHERE lane IS NOT NULL AND state < 6 AND lane = ? AND place = 0 ORDER BY id LIMIT 1)";
    if let Some(lane) = standing.lane {
        connection
            .prepare_cached(LET_IN)?
            .execute(params![now.0, lane])?;
    }
    Ok(())
}

/// What the end of a run, which its row tells already, means for its lane and its parent.
pub(super) fn leave(
    connection: &Connection,
    standing: &Standing,
    tell: Option<&str>,
    now: Time,
) -> rusqlite::Result<()> {
    const OPEN: &str = "SELECT 1 FROM runs WHERE lane IS NOT NULL AND state < 6 AND lane = ?";
    if standing.is_in() {
        let_in(connection, standing, now)?;
    }
    let (Some(parent), Some(note)) = (standing.parent, tell) else {
        return Ok(());
    };
    let last = match standing.lane {
        Some(lane) => !connection.prepare_cached(OPEN)?.exists([lane])?,
        None => true,
    };
    if last {
        mail::send(connection, parent, note, now)?;
    }
    Ok(())
}

pub(super) fn is_stale(connection: &Connection, latest: &Latest) -> rusqlite::Result<bool> {
    let mut newer =
        connection.prepare_cached("SELECT 1 FROM latest WHERE of = ? AND version > ?")?;
    newer.exists(params![latest.of, latest.version])
}

pub(super) fn apply_latest(connection: &Connection, latest: &Latest) -> rusqlite::Result<()> {
    const APPLY: &str = "INSERT INTO latest (of, version) VALUES (?, ?)
                         ON CONFLICT (of) DO UPDATE SET version = excluded.version";
    connection
        .prepare_cached(APPLY)?
        .execute(params![latest.of, latest.version])?;
    Ok(())
}
