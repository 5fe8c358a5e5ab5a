//! `semel restore`: a backup becomes the ledger again, honest about what it cannot know.
//!
//! The invariant: what was claimed when the backup was made may have been settled since, so it
//! comes back as unknown. What was claimed *and* settled since is not in the backup at all; no
//! program can see that, so the person is told.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use rusqlite::{Connection, OpenFlags};
use semel_ledger::{Command, State};
use semel_store::lock::DataLock;
use semel_store::{EffectChange, Filter, Location, Options, Store};
use serde_json::json;

use super::Context;
use crate::config::{Name, parent};
use crate::failure::{Failure, refused};
use crate::{files, when};

/// Put a backup in place
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel restore /backup/semel-2026-03-01.db --data /var/lib/semel"
)]
pub(crate) struct Restore {
    /// The backup
    file: PathBuf,
    /// Move a ledger that is there aside first
    #[arg(long)]
    force: bool,
}

impl Restore {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let database = target(context)?;
        check(&self.file)?;
        let directory = parent(&database);
        files::make_private_dir(&directory)?;
        // Exclusive, like a server: no visitor may look in while the file is replaced.
        let notice = json!({"pid": std::process::id(), "restoring": true}).to_string();
        let mut lock = DataLock::serve(&directory, &notice).map_err(refused)?;
        let copy = files::beside(&database);
        let prepared = prepare(&self.file, &copy, &database, self.force).await;
        if prepared.is_err() {
            remove(&copy);
        }
        let Restored {
            aside,
            unknown,
            latest,
        } = prepared?;
        let _ = lock.announce("");
        if context.json {
            Context::print_json(&json!({
                "database": database, "moved_aside": aside,
                "unknown": unknown, "latest_change": latest,
            }))?;
        }
        tell(&database, aside.as_deref(), unknown, latest.as_deref());
        Ok(0)
    }
}

fn target(context: &Context) -> anyhow::Result<PathBuf> {
    match (
        context.config.text(Name::Server),
        context.config.location()?,
    ) {
        (None, Location::Sqlite(path)) => Ok(path),
        (None, Location::Postgres(_)) => {
            Err(Failure::usage("PostgreSQL has its own tool for this")
                .fix("pg_restore --dbname=DATABASE semel.dump")
                .into())
        }
        _ => Err(
            Failure::usage("a backup is restored into a data directory of this machine")
                .fix("name it with --data DIR")
                .into(),
        ),
    }
}

/// Refuses what is not a sound ledger that this version can read.
fn check(file: &Path) -> anyhow::Result<()> {
    let shown = file.display();
    let open = || -> rusqlite::Result<(String, i64, i64)> {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let sound = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        let schema = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let query = "SELECT count(*) FROM sqlite_schema WHERE name = 'effects'";
        let ledger = connection.query_row(query, [], |row| row.get(0))?;
        Ok((sound, schema, ledger))
    };
    let (sound, schema, ledger) = open().with_context(|| format!("cannot read {shown}"))?;
    if sound != "ok" {
        return Err(Failure::failed(format!("{shown} is damaged: {sound}"))
            .fix("take an earlier backup")
            .into());
    }
    let newest = semel_store::sqlite::NEWEST_SCHEMA;
    if schema > newest {
        let message = format!("{shown} has schema {schema}, this semel knows up to {newest}");
        return Err(Failure::failed(message).fix("use a newer semel").into());
    }
    if ledger == 0 {
        return Err(Failure::failed(format!("{shown} is not a backup of semel")).into());
    }
    Ok(())
}

/// The files of a database: itself and what SQLite keeps beside it.
fn parts(database: &Path) -> impl Iterator<Item = PathBuf> {
    ["", "-wal", "-shm"].into_iter().map(|suffix| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    })
}

/// Whether there is a ledger to set aside.
fn is_taken(database: &Path, force: bool) -> anyhow::Result<bool> {
    if !parts(database).any(|part| part.exists()) {
        return Ok(false);
    }
    if !force {
        let message = format!("there is a ledger at {} already", database.display());
        return Err(Failure::failed(message)
            .fix("choose an empty --data DIR, or move the old one aside with --force")
            .into());
    }
    Ok(true)
}

/// Gives the old ledger a second name, so that it is in its place until the new one takes it over:
/// at no moment is there none, for the next call would quietly start an empty one.
fn set_aside(database: &Path) -> anyhow::Result<PathBuf> {
    // Best if all of it is in one file. One that is too damaged for that keeps its log beside it.
    if let Err(error) = take_in_log(database) {
        say!("semel: warning: the old ledger's log stays beside it: {error}");
    }
    let stamp = when::rfc3339(semel_store::clock::wall_millis()).replace(':', "");
    let name = PathBuf::from(format!("{}.before-{stamp}", database.display()));
    for (part, aside) in parts(database).zip(parts(&name)) {
        if part.exists() {
            std::fs::hard_link(&part, &aside)
                .with_context(|| format!("cannot keep {}", part.display()))?;
        }
    }
    files::sync_dir(&parent(database))?;
    // SQLite would play an old log into the new file.
    for part in parts(database).skip(1).filter(|part| part.exists()) {
        std::fs::remove_file(&part).with_context(|| format!("cannot remove {}", part.display()))?;
    }
    files::sync_dir(&parent(database))?;
    Ok(name)
}

/// Writes the log into the database; SQLite removes it when the last connection closes.
fn take_in_log(database: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// What came of it.
struct Restored {
    aside: Option<PathBuf>,
    unknown: usize,
    latest: Option<String>,
}

/// Makes the ledger ready beside its place, then moves it there: a crash leaves the old one or a
/// new one in which nothing looks claimed that may have ended.
async fn prepare(
    file: &Path,
    copy: &Path,
    database: &Path,
    force: bool,
) -> anyhow::Result<Restored> {
    let taken = is_taken(database, force)?;
    let mut target = files::create_private(copy)?;
    std::io::copy(&mut std::fs::File::open(file)?, &mut target)?;
    drop(target);
    let (unknown, latest) = call_open_claims_unknown(copy).await?;
    std::fs::File::open(copy)?.sync_all()?;
    let aside = taken.then(|| set_aside(database)).transpose()?;
    std::fs::rename(copy, database)
        .and_then(|()| files::sync_dir(&parent(database)))
        .with_context(|| format!("cannot write {}", database.display()))?;
    Ok(Restored {
        aside,
        unknown,
        latest,
    })
}

fn remove(database: &Path) {
    for part in parts(database) {
        let _ = std::fs::remove_file(part);
    }
}

/// Gives how many there were, and when the ledger last changed.
async fn call_open_claims_unknown(database: &Path) -> anyhow::Result<(usize, Option<String>)> {
    let location = Location::Sqlite(database.to_owned());
    let store = Store::open(&location, Options::default()).await?;
    let newest = Filter {
        limit: 1000,
        ..Filter::default()
    };
    let newest = store.list(&newest).await?.items;
    let latest = newest.iter().map(|record| record.entry.changed_at.0).max();
    let mut unknown = 0;
    let mut filter = Filter {
        states: vec![State::Claimed],
        limit: 1000,
        ..Filter::default()
    };
    loop {
        let page = store.list(&filter).await?;
        let claimed = page.items.into_iter().map(|record| {
            let fence = record.entry.fence;
            EffectChange::bare(record.effect, Command::Abandon { fence }).into()
        });
        unknown += store.commit(claimed.collect()).await?.len();
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    store.close().await?;
    drop(store);
    // All of it is in the one file now, which alone is moved.
    let log = parts(database).nth(1);
    anyhow::ensure!(
        !log.is_some_and(|log| log.exists()),
        "the copy's log was not taken in"
    );
    Ok((unknown, latest.map(when::rfc3339)))
}

fn tell(database: &Path, aside: Option<&Path>, unknown: usize, latest: Option<&str>) {
    if let Some(aside) = aside {
        say!(
            "semel: the ledger that was there is now {}",
            aside.display()
        );
    }
    say!("semel: restored {}", database.display());
    if unknown > 0 {
        say!(
            "semel: {unknown} effects were claimed when the backup was made; they are unknown now: semel ledger ls --state unknown"
        );
    }
    let latest = latest.map_or_else(
        || "the backup was made".to_owned(),
        |at| format!("about {at}"),
    );
    say!(
        "semel: warning: what was done after {latest} is not in this backup, and would be done again.\n  Before going live, import it from the destination: semel ledger import FILE"
    );
}
