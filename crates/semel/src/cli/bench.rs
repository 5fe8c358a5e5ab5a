//! `semel bench`: how fast this machine lets Semel be.

use std::time::Duration;

use clap::Args;
use semel_store::Location;

use super::Context;
use crate::bench::{self, Plan, Through};
use crate::failure::Failure;
use crate::term::print_line;

/// Measure claims against this disk's and this machine's own limits
#[derive(Debug, Args)]
#[command(after_help = "\
Everything is measured in one run on one machine, so that the ratios mean something. The files
of the bench go into a folder of their own in the data directory and are removed at the end.

EXAMPLE
  semel bench --data /srv/semel --json > bench.json
  semel bench --store postgres://semel@localhost/semel --entries ''")]
pub(crate) struct Bench {
    /// How many callers at once, each in turn
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "1,64,512"
    )]
    callers: Vec<usize>,
    /// How long each measurement takes
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    seconds: u64,
    /// Measure the ledger through the store, through HTTP with flows, flows alone, or all
    #[arg(long, value_enum, value_name = "WAY", default_value_t = Through::All)]
    through: Through,
    /// Sizes of the ledger at which claims are measured
    #[arg(long, value_name = "N,…", default_value = "10000,100000,1000000")]
    entries: String,
    /// How many items one run goes over; 0 for none
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    items: u64,
    /// How many runs wait for a callback at the same time; 0 for none
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    waits: u64,
}

impl Bench {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let plan = self.plan(context)?;
        let (json, text) = bench::run(plan).await?;
        if context.json {
            Context::print_json(&json)?;
        } else {
            print_line(text.trim_end());
        }
        Ok(0)
    }

    fn plan(&self, context: &Context) -> anyhow::Result<Plan> {
        let wrong = |what: &str| Failure::usage(what.to_owned());
        if self.callers.iter().any(|n| !(1..=4096).contains(n)) {
            return Err(wrong("--callers takes numbers from 1 to 4096").into());
        }
        if !(1..=600).contains(&self.seconds) {
            return Err(wrong("--seconds takes a number from 1 to 600").into());
        }
        if self.items > 1_000_000 {
            return Err(wrong("--items takes a number up to 1000000").into());
        }
        if self.waits > 1_000_000 {
            return Err(wrong("--waits takes a number up to 1000000").into());
        }
        let sizes = self
            .entries
            .split(',')
            .filter(|size| !size.is_empty())
            .map(str::parse);
        let entries: Result<Vec<u64>, _> = sizes.collect();
        let entries =
            entries.map_err(|_| wrong("--entries takes whole numbers, such as 10000,1000000"))?;
        let postgres = match context.config.location()? {
            Location::Postgres(url) => Some(url),
            Location::Sqlite(_) | Location::Memory => None,
        };
        Ok(Plan {
            directory: context.config.data()?,
            postgres,
            callers: self.callers.clone(),
            through: self.through,
            time: Duration::from_secs(self.seconds),
            entries,
            items: self.items,
            waits: self.waits,
        })
    }
}
