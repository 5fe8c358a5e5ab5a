//! `semel prove`: a flow under every crash, resend and lost answer, before customers do it.
//!
//! Owns what is asked for and how far it has come. Leaves the tries to `semel-prove`, and showing them to `show`.

mod show;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use semel_flow::Value;
use semel_flow::render::summary;
use semel_prove::{Family, Options, Schedule, Stage};

use super::Context;
use crate::failure::Failure;
use crate::flows::{self, FlowFile};
use crate::term::print_line;

/// Run a flow under every crash, resend and lost answer, and count what the world sees
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Prove {
    /// The flow file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An event that starts it, as JSON; may be given several times [default: made up from what the flow reads]
    #[arg(long, value_name = "FILE")]
    event: Vec<PathBuf>,
    /// What goes wrong
    #[arg(
        long,
        value_name = "FAMILY",
        value_delimiter = ',',
        default_value = "all"
    )]
    faults: Vec<Faults>,
    /// How many things go wrong in one try
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    depth: u8,
    /// The most schedules that are tried; of more, some are chosen
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    limit: usize,
    /// What the choice depends on
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Try this schedule alone, and tell what went on
    #[arg(long, value_name = "SCHEDULE")]
    replay: Option<Schedule>,
    /// Go on although the checker found errors
    #[arg(long)]
    despite_check: bool,
}

const AFTER_HELP: &str = "\
Nothing leaves this machine: destinations are simulated, as the flow describes them. Time is simulated too.

Exit codes: 0 every effect was seen once, or never twice with a person asked; 1 otherwise, or the checker
found errors; 2 a file cannot be read.

EXAMPLE
  semel prove flows/order.yaml
  semel prove flows/order.yaml --event order.json --depth 2
  semel prove flows/order.yaml --replay once,power-done@4";

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Faults {
    /// Everything
    All,
    /// The same event comes again: at once, in the middle, or when all is done
    Twice,
    /// The process is killed
    Crash,
    /// The machine loses its power
    Power,
    /// Answers are lost, or say 500 although it happened
    Lost,
    /// A node is taken for dead, is not, and wakes up later
    Late,
}

impl Faults {
    fn families(self) -> Vec<Family> {
        match self {
            Faults::All => Family::ALL.to_vec(),
            Faults::Twice => vec![Family::Twice],
            Faults::Crash => vec![Family::Crash],
            Faults::Power => vec![Family::Power],
            Faults::Lost => vec![Family::Lost],
            Faults::Late => vec![Family::Late],
        }
    }
}

impl Prove {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let file = flows::read(std::slice::from_ref(&self.file))?
            .into_iter()
            .next()
            .ok_or_else(|| Failure::usage("there is no flow to prove"))?;
        if file.has_errors() && !(self.despite_check && file.flow.is_some()) {
            return Ok(refuse(&file, context.json));
        }
        let events = self.events()?;
        let stage = Arc::new(Stage::new(&file.text, events)?);
        let began = Instant::now();
        let proof = match &self.replay {
            Some(schedule) => semel_prove::explore::replay(&stage, schedule)?,
            None => self.explore(&stage)?,
        };
        let told = show::Told {
            proof: &proof,
            stage: &stage,
            file: &self.file,
            made_up: self.event.is_empty(),
            replay: self.replay.as_ref(),
            took: began.elapsed(),
        };
        if context.json {
            Context::print_json(&told.document())?;
        } else {
            told.print();
        }
        Ok(u8::from(!proof.holds()))
    }

    fn events(&self) -> anyhow::Result<Vec<Value>> {
        let read = |path: &PathBuf| {
            let bytes =
                std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
            let bytes = bytes.map_err(|error| Failure::usage(format!("{error:#}")))?;
            let wrong = |error| Failure::usage(format!("{}: {error}", path.display()));
            Ok(Value::read(&bytes).map_err(wrong)?)
        };
        self.event.iter().map(read).collect()
    }

    fn explore(&self, stage: &Arc<Stage>) -> anyhow::Result<semel_prove::Proof> {
        let families: BTreeSet<Family> = self.faults.iter().flat_map(|it| it.families()).collect();
        let options = Options {
            families,
            depth: usize::from(self.depth),
            limit: self.limit,
            seed: self.seed,
            ..Options::default()
        };
        // Shown only to whoever has to wait.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let began = Instant::now();
        if let Ok(style) = ProgressStyle::with_template("trying {bar:30} {pos}/{len} {eta}") {
            bar.set_style(style);
        }
        let tell = |done: usize, all: usize| {
            if bar.is_hidden() && began.elapsed() > Duration::from_secs(1) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        };
        let proof = semel_prove::prove(stage, &options, &tell);
        bar.finish_and_clear();
        Ok(proof?)
    }
}

/// The checker's word goes first: what it says is not tried.
fn refuse(file: &FlowFile, json: bool) -> u8 {
    if json {
        let found =
            semel_flow::render::to_json(&file.text, &file.found, &file.path.to_string_lossy());
        print_line(&serde_json::json!({"ok": false, "diagnostics": found}).to_string());
    } else {
        print_line(file.drawn(crate::term::Paint::stdout().is_on()).trim_end());
        say!(
            "semel: {}: {}; nothing was tried",
            file.name(),
            summary(&file.found)
        );
        say!("  --despite-check tries it all the same, if it can be run");
    }
    1
}
