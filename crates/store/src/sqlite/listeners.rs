//! Runs that wait for an event.

use rusqlite::{Connection, params};
use semel_ledger::Time;

use super::mail;
use crate::listen::{Listen, Topic};
use crate::run::RunId;

/// Gives whether the run is open.
pub(super) fn listen(connection: &Connection, listen: &Listen) -> rusqlite::Result<bool> {
    const LISTEN: &str = "INSERT INTO listeners (run, step, place)
        SELECT id, ?2, ?3 FROM runs WHERE id = ?1 AND state < 6
        ON CONFLICT (run, step) DO UPDATE SET place = excluded.place";
    const TOPIC: &str = "INSERT OR IGNORE INTO topics (source, path) VALUES (?, ?)";
    let listens = params![listen.run.0, listen.step, listen.place];
    if connection.prepare_cached(LISTEN)?.execute(listens)? == 0 {
        return Ok(false);
    }
    connection
        .prepare_cached(TOPIC)?
        .execute(params![listen.source, listen.path])?;
    Ok(true)
}

pub(super) fn hush(connection: &Connection, run: RunId, step: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM listeners WHERE run = ? AND step = ?")?
        .execute(params![run.0, step])?;
    Ok(())
}

/// Tells every open run that listens there; gives which those are.
pub(super) fn tell(
    connection: &Connection,
    place: [u8; 16],
    note: &str,
    now: Time,
) -> rusqlite::Result<Vec<RunId>> {
    const THERE: &str = "SELECT DISTINCT run FROM listeners WHERE place = ? ORDER BY run";
    let mut there = connection.prepare_cached(THERE)?;
    let runs = there.query_map([place], |row| row.get(0).map(RunId))?;
    let mut told = Vec::new();
    for run in runs.collect::<Result<Vec<RunId>, _>>()? {
        if mail::send(connection, run, note, now)? {
            told.push(run);
        }
    }
    Ok(told)
}

pub(super) fn topics(connection: &Connection) -> rusqlite::Result<Vec<Topic>> {
    const ALL: &str = "SELECT source, path FROM topics ORDER BY source, path";
    let mut all = connection.prepare_cached(ALL)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Topic {
            source: row.get(0)?,
            path: row.get(1)?,
        })
    };
    all.query_map([], read)?.collect()
}
