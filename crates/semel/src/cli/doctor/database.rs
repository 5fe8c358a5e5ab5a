//! The database file: whose it is, whether it is sound, what its settings are.

use std::cmp::Ordering;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use semel_store::clock::wall_millis;
use semel_store::sqlite::{NEWEST_SCHEMA, OLDEST_SQLITE};

use super::Check;

/// A ledger further ahead of the clock than this was written by another clock.
const DRIFT: i64 = 60_000;

pub(super) fn check(path: &Path) -> Vec<Check> {
    let mut checks = vec![version()];
    if !path.exists() {
        let detail = format!("{} is not there yet", path.display());
        checks.push(Check::doubt(
            "database",
            detail,
            "it is made at the first use",
        ));
        return checks;
    }
    match look(path) {
        Ok(looked) => checks.extend(looked),
        Err(error) => checks.push(Check::bad(
            "database",
            format!("cannot read {}: {error}", path.display()),
            "restore the latest backup: semel restore FILE",
        )),
    }
    checks
}

fn version() -> Check {
    let found = rusqlite::version();
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Check::bad(
            "sqlite",
            format!("{found} is too old"),
            "build semel with its own SQLite",
        );
    }
    Check::good("sqlite", found)
}

/// Looks without the store, which would bring an older file up to date.
fn look(path: &Path) -> rusqlite::Result<Vec<Check>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute_batch("PRAGMA query_only = ON")?;
    let text = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, String>(0));
    let number = |query: &str| connection.query_row(query, [], |row| row.get::<_, Option<i64>>(0));
    let journal = text("PRAGMA journal_mode")?;
    let schema = number("PRAGMA user_version")?.unwrap_or(0);
    if schema == 0 {
        let detail = format!("{} is empty", path.display());
        return Ok(vec![Check::doubt(
            "database",
            detail,
            "it is made at the first use",
        )]);
    }
    let sound = text("PRAGMA quick_check(1)")?;
    let latest = number(
        "SELECT max(latest) FROM (SELECT max(claimed_at, changed_at) AS latest FROM effects ORDER BY seq DESC LIMIT 1000)",
    );
    let open = number("SELECT count(*) FROM effects WHERE state IN (3, 4)");
    Ok(vec![
        Check::good("database", format!("{} can be read", path.display())),
        if journal == "wal" {
            Check::good("journal_mode", journal)
        } else {
            Check::bad(
                "journal_mode",
                journal,
                "it must be wal; semel sets it when it opens the file",
            )
        },
        version_of(schema),
        if sound == "ok" {
            Check::good("integrity", sound)
        } else {
            Check::bad(
                "integrity",
                sound,
                "restore the latest backup: semel restore FILE",
            )
        },
        clock(latest.ok().flatten()),
        undecided(open.ok().flatten().unwrap_or(0)),
    ])
}

fn version_of(schema: i64) -> Check {
    match schema.cmp(&NEWEST_SCHEMA) {
        Ordering::Greater => {
            let detail = format!("{schema}; this semel knows up to {NEWEST_SCHEMA}");
            Check::bad("schema", detail, "use a newer semel")
        }
        Ordering::Less => {
            let detail = format!("{schema}; this semel writes {NEWEST_SCHEMA}");
            let fix = "make a backup; the next use brings it up to date";
            Check::doubt("schema", detail, fix)
        }
        Ordering::Equal => Check::good("schema", schema.to_string()),
    }
}

fn clock(latest: Option<i64>) -> Check {
    let ahead = latest.map_or(0, |latest| latest - wall_millis());
    if ahead > DRIFT {
        let detail = format!("this machine's clock is {ahead} ms behind the ledger");
        return Check::doubt(
            "clock",
            detail,
            "set the clock; until then the ledger's time is used",
        );
    }
    Check::good("clock", "not behind the ledger")
}

fn undecided(count: i64) -> Check {
    if count == 0 {
        return Check::good("to decide", "nothing");
    }
    let detail = format!("{count} effects whose outcome nobody knows");
    Check::doubt(
        "to decide",
        detail,
        "semel ledger ls --state unknown,review",
    )
}
