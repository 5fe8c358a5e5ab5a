//! Semel's mark in the destination's own database.
//!
//! Owns the table `semel_receipts`: one row for each effect that was made with `receipt: true`,
//! written in the transaction that made it, so that either both are there or neither. Whoever
//! performs the same effect again finds the row and what came of it. Each database writes it in its
//! own file.

use std::fmt::Write as _;

use semel_ledger::EffectId;

use super::fault::Fault;

/// A kind of database that steps can speak to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// SQLite.
    Sqlite,
}

/// The SQL that makes the table of receipts, for people whose steps may not make tables.
#[must_use]
pub fn receipts_sql(database: Database) -> &'static str {
    match database {
        Database::Postgres => {
            "CREATE TABLE IF NOT EXISTS semel_receipts (
    id text PRIMARY KEY,
    scope text NOT NULL,
    effect_key text NOT NULL,
    result text,
    made_at timestamptz NOT NULL DEFAULT now()
)"
        }
        // Without transactions a mark would prove nothing.
        Database::Mysql => {
            "CREATE TABLE IF NOT EXISTS semel_receipts (
    id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    scope TEXT NOT NULL,
    effect_key TEXT NOT NULL,
    result LONGTEXT,
    made_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4"
        }
        Database::Sqlite => {
            "CREATE TABLE IF NOT EXISTS semel_receipts (
    id TEXT PRIMARY KEY NOT NULL,
    scope TEXT NOT NULL,
    effect_key TEXT NOT NULL,
    result TEXT,
    made_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ'))
) WITHOUT ROWID"
        }
    }
}

/// The name of an effect in the table: its scope and key, hashed.
pub(super) fn id(effect: &EffectId) -> String {
    let mut text = String::with_capacity(32);
    for byte in effect.hash() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What is there under the name of an effect.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Nothing was: the mark is ours, and nobody else can make it until our transaction ends.
    New,
    /// It was done before; what came of it.
    Recorded(String),
    /// There is no such table yet.
    NoTable,
}

/// What is said if the table cannot be made.
pub(super) fn not_made(database: Database, reason: &str) -> String {
    let sql = receipts_sql(database).split_whitespace();
    let sql: Vec<_> = sql.collect();
    format!(
        "the table semel_receipts is missing and cannot be made: {reason}; make it with: {}",
        sql.join(" ")
    )
}

/// A mark is written with its result, or not at all; somebody else has changed this one.
pub(super) fn no_result() -> Fault {
    Fault::refused("the mark of this step in semel_receipts has no result; somebody changed it")
}

/// The mark that this transaction made is no longer there.
pub(super) fn no_mark() -> Fault {
    Fault::refused("the statement removed its own mark from semel_receipts")
}
