//! Receipts and tallies: written behind the answers, in whatever commit comes next.

use rusqlite::{Connection, OptionalExtension as _, params};
use semel_ledger::Scope;

use super::effects::Batch;
use super::recent::Touched;
use super::scopes::Scopes;
use crate::receipt::{Receipt, hour_of};

pub(super) fn write(batch: &mut Batch<'_>, receipts: &[Receipt]) -> rusqlite::Result<()> {
    // Two statements: one that also returns something would make a table of its own each time.
    const FIND: &str = "SELECT seq FROM effects WHERE id = ?";
    const COUNT: &str = "UPDATE effects SET blocked = blocked + ? WHERE seq = ?";
    const INSERT: &str =
        "INSERT INTO receipts (id, effect, verdict, at, by, attempt) VALUES (?, ?, ?, ?, ?, ?)";
    let connection = batch.connection;
    let (mut find, mut count) = (
        connection.prepare_cached(FIND)?,
        connection.prepare_cached(COUNT)?,
    );
    for receipt in receipts {
        tally(connection, batch.scopes, &receipt.effect.scope, receipt)?;
        let hash = receipt.effect.hash();
        let found = find.query_row([hash], |row| row.get(0));
        let Some(seq): Option<i64> = found.optional()? else {
            continue;
        };
        count.execute(params![receipt.count, seq])?;
        batch.touched.push(Touched::Blocked(hash, receipt.count));
        if !receipt.counted {
            connection.prepare_cached(INSERT)?.execute(params![
                receipt.id.0,
                seq,
                receipt.verdict.name(),
                receipt.at.0,
                receipt.by,
                receipt.attempt,
            ])?;
        }
    }
    Ok(())
}

fn tally(
    connection: &Connection,
    scopes: &mut Scopes,
    scope: &Scope,
    receipt: &Receipt,
) -> rusqlite::Result<()> {
    const TALLY: &str = "INSERT INTO tallies (hour, scope, verdict, count) VALUES (?, ?, ?, ?)
                         ON CONFLICT (hour, scope, verdict) DO UPDATE SET count = count + excluded.count";
    let scope = scopes.number(connection, scope)?;
    let hour = hour_of(receipt.at).0;
    let tally = params![hour, scope, receipt.verdict.name(), receipt.count];
    connection.prepare_cached(TALLY)?.execute(tally)?;
    Ok(())
}

pub(super) fn delete_of(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM receipts WHERE effect = ?")?
        .execute([seq])?;
    Ok(())
}
