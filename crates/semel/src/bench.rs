//! How fast this machine lets Semel be, as ratios measured in one run.
//!
//! Owns the order of measurements and what is aimed for. Everything runs in this process on the
//! same disk, one after the other, so that the numbers can be compared with each other and with
//! nothing else.

mod aims;
mod apart;
mod by_hand;
mod disk;
mod flowing;
mod flows;
mod growth;
mod http;
mod items;
mod ledger;
mod load;
mod prove;
mod report;
mod server;
mod sql;
#[cfg(test)]
mod tests;
mod waits;
mod writes;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use semel_store::{Location, Options, Store};

use ledger::Work;
use load::{Bounds, Measured};
use report::{Line, Report};
use server::Server;

/// What is measured: the ledger one way, or flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Through {
    Store,
    Http,
    /// Only flows: neither the ledger nor what it is compared with.
    Flows,
    All,
}

/// What to measure, and where.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// A directory on the disk to measure; a folder inside it is made and removed.
    pub(crate) directory: PathBuf,
    /// PostgreSQL, if it is to be measured instead of a file.
    pub(crate) postgres: Option<String>,
    /// Which way the ledger is asked.
    pub(crate) through: Through,
    /// How many callers at once, each in turn.
    pub(crate) callers: Vec<usize>,
    /// How long each measurement takes.
    pub(crate) time: Duration,
    /// Sizes of the ledger at which claims are measured.
    pub(crate) entries: Vec<u64>,
    /// How many items one run goes over.
    pub(crate) items: u64,
    /// How many runs wait for a callback at the same time.
    pub(crate) waits: u64,
}

/// Removes the bench's own folder, however the run ends.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Bench {
    plan: Plan,
    folder: Folder,
    bounds: Bounds,
    progress: ProgressBar,
    apart: apart::Apart,
    /// How many ledgers were made so far.
    opened: usize,
}

/// The first number of keys that were never used.
const FRESH: u64 = 1 << 40;
/// The bytes of one claim's row in the store, beside its 16-byte id.
const ROW_BYTES: usize = 280;
/// The first number of the keys that duplicates ask for.
const DONE: u64 = 1;
/// All of them, however long that takes.
const DONE_KEYS: Bounds = Bounds {
    time: Duration::MAX,
    operations: ledger::DONE_KEYS,
};

/// Runs the whole bench. Gives the report as JSON and as text.
pub(crate) async fn run(plan: Plan) -> anyhow::Result<(serde_json::Value, String)> {
    let folder = Folder(
        plan.directory
            .join(format!("semel-bench-{}", std::process::id())),
    );
    std::fs::create_dir_all(&folder.0).with_context(|| format!("making {}", folder.0.display()))?;
    let kinds = 3 + 2 * Work::ALL.len() + 2 * flows::Flowing::ALL.len();
    let steps = 7 + plan.callers.len() * kinds + plan.entries.len();
    let mut bench = Bench::new(plan, folder, steps as u64)?;
    let report = bench.measure().await;
    if let Some(url) = &bench.plan.postgres {
        let ledgers = (1..=bench.opened).map(|number| schema(&format!("store_{number}")));
        let made: Vec<String> = ledgers.chain([schema("growth")]).collect();
        by_hand::clean_up(url, &made).await?;
    }
    let report = report?;
    bench.progress.finish_and_clear();
    Ok((serde_json::to_value(&report)?, report.text()))
}

impl Bench {
    fn new(plan: Plan, folder: Folder, steps: u64) -> anyhow::Result<Bench> {
        let progress = ProgressBar::new(steps);
        progress.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?);
        let bounds = Bounds {
            time: plan.time,
            operations: u64::MAX,
        };
        Ok(Bench {
            plan,
            folder,
            bounds,
            progress,
            apart: apart::Apart::new()?,
            opened: 0,
        })
    }

    fn directory(&self) -> &Path {
        &self.folder.0
    }

    fn say(&self, what: &str) {
        self.progress.set_message(what.to_owned());
        self.progress.inc(1);
    }

    async fn open_empty(&mut self) -> anyhow::Result<Arc<Store>> {
        self.opened += 1;
        self.open(&format!("store_{}", self.opened)).await
    }

    async fn measure(&mut self) -> anyhow::Result<Report> {
        self.say("disk");
        let syncs = disk::syncs(self.directory(), self.bounds)?;
        let ceiling = self.ceiling().await?;
        let (plain_http, reference_http) = match self.plan.through {
            Through::Flows => (Vec::new(), Vec::new()),
            Through::Store | Through::Http | Through::All => {
                (self.plain().await?, self.reference().await?)
            }
        };
        let through_store = self.through_store(&ceiling).await?;
        // The bare handler writes to a file, so it is no measure for a database elsewhere.
        let comparable = match self.plan.postgres {
            Some(_) => &[][..],
            None => &reference_http,
        };
        let through_http = self.through_http(comparable).await?;
        let flows = self.flows().await?;
        let sql = self.sql().await?;
        let for_each = self.items().await?;
        let wait = self.waits().await?;
        let writes = self.writes().await?;
        let proved = self.proved().await?;
        let growth = self.growth().await?;
        let mut report = Report {
            version: env!("CARGO_PKG_VERSION"),
            store: if self.plan.postgres.is_some() {
                "postgres"
            } else {
                "sqlite"
            },
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            syncs_per_second: syncs.per_second,
            ceiling,
            plain_http,
            reference_http,
            through_store,
            through_http,
            flows,
            sql,
            for_each,
            wait,
            writes,
            growth,
            proved,
            aims: Vec::new(),
        };
        report.aims = aims::aims(&report);
        Ok(report)
    }

    async fn open(&self, name: &str) -> anyhow::Result<Arc<Store>> {
        let location = match &self.plan.postgres {
            Some(url) => {
                by_hand::clean_up(url, &[schema(name)]).await?;
                Location::Postgres(in_schema(url, &schema(name)))
            }
            None => Location::Sqlite(self.directory().join(format!("{name}.db"))),
        };
        Ok(Arc::new(Store::open(&location, Options::default()).await?))
    }

    async fn ceiling(&self) -> anyhow::Result<Vec<Measured>> {
        if self.plan.through == Through::Flows {
            return Ok(Vec::new());
        }
        if let Some(url) = &self.plan.postgres {
            self.say("one transaction per claim");
            return Ok(vec![by_hand::measure(url, self.bounds).await?]);
        }
        let mut measured = Vec::new();
        for callers in &self.plan.callers {
            self.say("raw inserts");
            measured.push(disk::inserts(
                self.directory(),
                *callers,
                ROW_BYTES,
                self.bounds,
            )?);
        }
        Ok(measured)
    }

    async fn plain(&self) -> anyhow::Result<Vec<Measured>> {
        let target = http::Target {
            address: http::serve_plain().await?,
            token: "none".into(),
        };
        let mut measured = Vec::new();
        for callers in &self.plan.callers {
            self.say("plain HTTP");
            measured
                .push(http::measure(&target, Work::Claim, *callers, self.bounds, (0, 0)).await?);
        }
        Ok(measured)
    }

    async fn reference(&self) -> anyhow::Result<Vec<Measured>> {
        let mut measured = Vec::new();
        for callers in &self.plan.callers {
            self.say("bare handler");
            let name = format!("reference-{callers}");
            let table = disk::RawTable::create(self.directory(), &name, ROW_BYTES)?;
            let group = table.behind_group_commit(Options::default().batch);
            let target = http::Target {
                address: http::serve_reference(group).await?,
                token: "none".into(),
            };
            measured
                .push(http::measure(&target, Work::Claim, *callers, self.bounds, (0, 0)).await?);
        }
        Ok(measured)
    }

    /// Each measurement starts with an empty ledger, as its reference starts with an empty table.
    async fn through_store(&mut self, ceiling: &[Measured]) -> anyhow::Result<Vec<Line>> {
        let mut lines = Vec::new();
        for (work, callers) in self.work(Through::Store) {
            self.say(&format!("{} through the store", work.name()));
            let store = self.open_empty().await?;
            if work == Work::Duplicates {
                let prepare = Work::ClaimAndSettle;
                ledger::measure(&store, prepare, 64, DONE_KEYS, (DONE, 0)).await?;
            }
            let numbers = (FRESH, DONE);
            let measured = ledger::measure(&store, work, callers, self.bounds, numbers).await?;
            store.close().await?;
            lines.push(line(work, measured, ceiling));
        }
        Ok(lines)
    }

    async fn through_http(&mut self, reference: &[Measured]) -> anyhow::Result<Vec<Line>> {
        let mut lines = Vec::new();
        for (work, callers) in self.work(Through::Http) {
            self.say(&format!("{} through HTTP", work.name()));
            let server = Server::start(self.open_empty().await?).await?;
            if work == Work::Duplicates {
                let prepare = Work::ClaimAndSettle;
                http::measure(&server.target, prepare, 64, DONE_KEYS, (DONE, 0)).await?;
            }
            let numbers = (FRESH, DONE);
            let measured =
                http::measure(&server.target, work, callers, self.bounds, numbers).await?;
            server.stop().await?;
            lines.push(line(work, measured, reference));
        }
        Ok(lines)
    }

    fn work(&self, way: Through) -> Vec<(Work, usize)> {
        if ![way, Through::All].contains(&self.plan.through) {
            return Vec::new();
        }
        let callers = &self.plan.callers;
        let each = |work| callers.iter().map(move |callers| (work, *callers));
        Work::ALL.into_iter().flat_map(each).collect()
    }

    async fn sql(&self) -> anyhow::Result<Vec<sql::SqlLine>> {
        if matches!(self.plan.through, Through::Store | Through::Http) {
            return Ok(Vec::new());
        }
        self.say("sql");
        let place = sql::Place::new(self.plan.postgres.as_deref(), self.directory()).await?;
        let lines = place.measure(self.bounds).await?;
        place.clean_up().await?;
        Ok(lines)
    }

    async fn growth(&mut self) -> anyhow::Result<Vec<growth::Grown>> {
        let store = self.open("growth").await?;
        let callers = self
            .plan
            .callers
            .iter()
            .copied()
            .find(|n| *n >= 64)
            .unwrap_or(64);
        let mut grown = Vec::new();
        let mut have = 0;
        for entries in self.plan.entries.clone() {
            self.say(&format!("claims at {entries} entries"));
            growth::fill(&store, have, entries).await?;
            have = entries;
            let first = FRESH * entries;
            grown.push(growth::at_size(&store, entries, callers, self.bounds, first).await?);
        }
        store.close().await?;
        Ok(grown)
    }
}

/// Every measured line against what it is compared to; PostgreSQL has one reference for all.
fn line(work: Work, measured: Measured, reference: &[Measured]) -> Line {
    let same = report::at(measured.callers, reference)
        .or(reference.first().filter(|_| reference.len() == 1));
    let ratio = same.map(|same| measured.per_second * work.writes() / same.per_second);
    Line {
        work: work.name(),
        measured,
        ratio: ratio.filter(|_| work != Work::Duplicates),
    }
}

fn schema(name: &str) -> String {
    format!("semel_bench_{name}")
}

fn in_schema(url: &str, schema: &str) -> String {
    let mark = if url.contains('?') { '&' } else { '?' };
    format!("{url}{mark}semel_schema={schema}")
}
