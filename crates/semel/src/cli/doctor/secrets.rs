//! The key that secrets are sealed with: whether it is there, is read by its owner alone, and opens
//! what is sealed.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use semel_ledger::Time;
use semel_store::Store;
use semel_store::secret::Sealed;

use super::Check;
use crate::failure::chain;
use crate::keys;

const NAME: &str = "secrets key";

/// For a database file.
pub(super) fn of_file(data: &Path, database: &Path) -> Check {
    // A file that cannot be read is told of elsewhere; one that is older has no secrets.
    judge(data, &sealed(database).unwrap_or_default())
}

/// For a store that is open.
pub(super) async fn of_store(data: &Path, store: &Store) -> Check {
    judge(data, &store.secrets().await.unwrap_or_default())
}

fn sealed(database: &Path) -> rusqlite::Result<Vec<Sealed>> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.execute_batch("PRAGMA query_only = ON")?;
    let mut all = connection.prepare("SELECT name, key, sealed, changed_at FROM secrets")?;
    let read = all.query_map([], |row| {
        Ok(Sealed {
            name: row.get(0)?,
            key: row.get(1)?,
            bytes: row.get(2)?,
            changed_at: Time(row.get(3)?),
            by: None,
        })
    })?;
    read.collect()
}

fn judge(data: &Path, sealed: &[Sealed]) -> Check {
    let source = match keys::of_owner(data) {
        Ok(source) => source,
        Err(error) => return Check::bad(NAME, chain(&error), "see docs/secrets.md"),
    };
    let place = match source.path() {
        Some(path) => path.display().to_string(),
        None => "SEMEL_SECRETS_KEY".to_owned(),
    };
    let secrets = sealed.len();
    match source.check(sealed) {
        Err(error) => {
            let fix = error.fix().unwrap_or("see docs/secrets.md");
            Check::bad(NAME, chain(&error.into()), fix)
        }
        Ok(0) => Check::good(NAME, "none yet: the first semel secrets set makes it"),
        Ok(1) => Check::good(NAME, format!("{place} opens all {secrets} secrets")),
        Ok(several) => Check::doubt(
            NAME,
            format!("{place} holds {several} keys: a rotation was begun and not ended"),
            "semel secrets rotate",
        ),
    }
}
