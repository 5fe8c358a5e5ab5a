//! The ledger's time does not jump with the wall clock.
//!
//! Within one boot of a machine everybody who opens the file counts on from the same point, by a clock
//! that only runs forward; after a reboot the wall is asked again, but time on record is never
//! gone back on. A wall that disagrees is reported, not followed.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::clock::Clock;

/// A difference worth a word.
const NOTICEABLE_MILLIS: i64 = 60_000;
/// A ledger last used so long ago is worth a word: a clock that is a year ahead looks the same.
const LONG_ABSENCE_MILLIS: i64 = 7 * 86_400_000;

/// Sets the clock by the file, and the file by the clock if this boot is new to it.
pub(super) fn keep(connection: &Connection, clock: &dyn Clock) -> rusqlite::Result<()> {
    let Some((boot, booted_for)) = clock.boot() else {
        return not_before(connection, clock);
    };
    let known: Option<(i64, i64)> = connection
        .query_row(
            "SELECT booted_for, time FROM clock WHERE boot = ?",
            [boot],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    if let Some((then, time)) = known {
        let ahead = time + (booted_for - then) - clock.now().0;
        if ahead.abs() > NOTICEABLE_MILLIS {
            tracing::warn!(
                ahead_ms = ahead,
                "the wall clock was set; the ledger goes on by elapsed time until the next reboot"
            );
        }
        clock.adjust(ahead);
        return Ok(());
    }
    not_before(connection, clock)?;
    // Whoever is first in this boot decides; earlier boots are over.
    connection.execute("DELETE FROM clock WHERE boot <> ?", [boot])?;
    let first = connection.execute(
        "INSERT OR IGNORE INTO clock (boot, booted_for, time) VALUES (?, ?, ?)",
        params![boot, booted_for, clock.now().0],
    )?;
    if first == 0 {
        return keep(connection, clock);
    }
    Ok(())
}

/// A wall clock that was set back would make leases longer than they were promised.
fn not_before(connection: &Connection, clock: &dyn Clock) -> rusqlite::Result<()> {
    // Not `claimed_at`: an import may claim any time for what it tells of, even one to come.
    const RECENT: &str = "SELECT max(changed_at) FROM (
        SELECT * FROM (SELECT changed_at FROM effects WHERE tombstone = 0 ORDER BY seq DESC LIMIT 1000)
        UNION ALL SELECT * FROM (SELECT changed_at FROM runs ORDER BY id DESC LIMIT 1000))";
    let latest: Option<i64> = connection.query_row(RECENT, [], |row| row.get(0))?;
    let Some(behind) = latest.map(|latest| latest - clock.now().0) else {
        return Ok(());
    };
    if behind > 0 {
        tracing::warn!(
            behind_ms = behind,
            "the clock is behind the ledger; going on from the ledger's time"
        );
        clock.adjust(behind);
    }
    if behind < -LONG_ABSENCE_MILLIS {
        tracing::warn!(
            ahead_ms = -behind,
            "nothing was recorded for a long time, or the clock is ahead: it decides what is forgotten"
        );
    }
    Ok(())
}
