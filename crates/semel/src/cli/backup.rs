//! `semel backup`: a copy of the ledger as it is at one moment, while others go on writing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rusqlite::backup::{Backup as Copying, StepResult};
use rusqlite::{Connection, OpenFlags};
use semel_store::Location;
use serde_json::json;

use super::Context;
use crate::config::{Name, parent};
use crate::failure::Failure;
use crate::files;

/// Copy the ledger to a file, also while a server runs
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel backup --data /var/lib/semel /backup/semel-$(date +%F).db"
)]
pub(crate) struct Backup {
    /// Where the copy goes
    file: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

/// How many pages are copied between two looks at the progress.
const PAGES: i32 = 4096;

impl Backup {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let database = database(context)?;
        if self.file.exists() && !self.force {
            let message = format!("{} is there already", self.file.display());
            return Err(Failure::failed(message)
                .fix("choose another name, or replace it with --force")
                .into());
        }
        let copy = files::beside(&self.file);
        let copied = copy_to(&database, &copy).and_then(|pages| {
            std::fs::rename(&copy, &self.file)?;
            files::sync_dir(&parent(&self.file))?;
            Ok(pages)
        });
        if copied.is_err() {
            let _ = std::fs::remove_file(&copy);
        }
        copied.with_context(|| format!("cannot back up to {}", self.file.display()))?;
        mark(&database);
        let bytes = std::fs::metadata(&self.file)?.len();
        if context.json {
            Context::print_json(&json!({"file": self.file, "bytes": bytes}))?;
        }
        say!("semel: {} bytes in {}, checked", bytes, self.file.display());
        Ok(0)
    }
}

/// The file beside the database that tells when the last backup was made.
pub(super) const MARK: &str = "last-backup";

/// Notes for `semel doctor` that a backup was made; without the note it is as good a backup.
fn mark(database: &Path) {
    let mark = parent(database).join(MARK);
    if let Err(error) = files::write_private(&mark, b"made by semel backup\n") {
        say!("semel: warning: {error:#}");
    }
}

fn database(context: &Context) -> anyhow::Result<PathBuf> {
    let config = &context.config;
    if config.text(Name::Server).is_some() {
        return Err(
            Failure::usage("a backup is made on the machine that has the database")
                .fix("run it there, with --data DIR")
                .into(),
        );
    }
    match config.location()? {
        Location::Sqlite(path) if path.exists() => Ok(path),
        Location::Sqlite(path) => {
            let message = format!("there is no ledger at {}", path.display());
            Err(Failure::failed(message)
                .fix("name it with --data DIR")
                .into())
        }
        Location::Postgres(_) => Err(Failure::usage("PostgreSQL has its own tool for this")
            .fix("pg_dump --format=custom --file=semel.dump DATABASE, and pg_restore")
            .into()),
        Location::Memory => Err(Failure::usage("a store in memory cannot be backed up").into()),
    }
}

fn copy_to(database: &Path, copy: &Path) -> anyhow::Result<()> {
    files::create_private(copy)?;
    let source = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    source.busy_timeout(Duration::from_secs(30))?;
    // One snapshot for the whole copy: otherwise every commit meanwhile would start it anew.
    source.execute_batch("PRAGMA query_only = ON; BEGIN; SELECT count(*) FROM sqlite_schema;")?;
    let mut target = Connection::open(copy)?;
    step_through(&Copying::new(&source, &mut target)?)?;
    source.execute_batch("COMMIT")?;
    // A backup is one file: without this its first reader would need two more beside it.
    target.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    let sound: String = target.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    anyhow::ensure!(sound == "ok", "the copy is damaged: {sound}");
    target.close().map_err(|(_, error)| error)?;
    std::fs::File::open(copy)?.sync_all()?;
    Ok(())
}

fn step_through(copying: &Copying<'_, '_>) -> anyhow::Result<()> {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("copying {bar:30} {percent}% {eta}") {
        bar.set_style(style);
    }
    loop {
        let step = copying.step(PAGES)?;
        let progress = copying.progress();
        let (all, left) = (progress.pagecount, progress.remaining);
        bar.set_length(u64::try_from(all).unwrap_or(0));
        bar.set_position(u64::try_from(all - left).unwrap_or(0));
        match step {
            StepResult::Done => break,
            StepResult::More => {}
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    bar.finish_and_clear();
    Ok(())
}
