//! `semel prove`: a flow under every crash, resend and lost answer, before customers do it.
//!
//! Owns what is asked for and how far it has come. Leaves the tries and what is said about them to `semel-prove`, and
//! showing them to `show`, `html` and `junit`.

mod html;
mod junit;
mod show;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use semel_flow::render::summary;
use semel_flow::{Flow, Value};
use semel_prove::examples::{self, Event};
use semel_prove::report::{Plan, Report};
use semel_prove::{Family, Options, Schedule};
use serde_json::json;

use super::Context;
use crate::failure::Failure;
use crate::flows::{self, FlowFile};
use crate::term::{print_line, shown};

/// Run flows under every crash, resend and lost answer, and count what the world sees
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Prove {
    /// Flow files, or folders of them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// An event that starts it, as JSON; may be given several times [default: those under examples in the file, else one is made up]
    #[arg(long, value_name = "FILE")]
    event: Vec<PathBuf>,
    /// Try only this event under examples in the file; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "event")]
    example: Vec<String>,
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
    /// The most schedules that are tried with an event; of more, some are chosen
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
    /// Write the report as a page that needs nothing else
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Write the report for a CI server: a test case for each step and family
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Nothing leaves this machine: destinations are simulated, as the flow describes them. Time is simulated too.

Exit codes: 0 every effect was seen once, or never twice with a person asked; 1 otherwise, or the checker
found errors; 2 a file cannot be read.

EXAMPLE
  semel prove flows/order.yaml
  semel prove flows/order.yaml --event order.json --depth 2
  semel prove flows --html proof.html --junit proof.xml
  semel prove flows/order.yaml --replay once,power-done@4";

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Faults {
    All,
    One(Family),
}

impl ValueEnum for Faults {
    fn value_variants<'a>() -> &'a [Faults] {
        const VARIANTS: [Faults; Family::ALL.len() + 1] = {
            let mut all = [Faults::All; Family::ALL.len() + 1];
            let mut at = 0;
            while at < Family::ALL.len() {
                all[at + 1] = Faults::One(Family::ALL[at]);
                at += 1;
            }
            all
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Faults::All => PossibleValue::new("all").help("Everything that fits the flow"),
            Faults::One(family) => PossibleValue::new(family.name()).help(family.about()),
        })
    }
}

impl Faults {
    fn families(self) -> Vec<Family> {
        match self {
            Faults::All => Family::ALL.to_vec(),
            Faults::One(family) => vec![family],
        }
    }
}

/// What became of one file.
enum Became {
    Proved {
        file: PathBuf,
        report: Report,
    },
    /// The checker's word goes first: what it refuses is not tried.
    Refused(Box<FlowFile>),
}

impl Became {
    fn holds(&self) -> bool {
        matches!(self, Became::Proved { report, .. } if report.holds())
    }

    /// For programs.
    fn document(&self) -> serde_json::Value {
        match self {
            Became::Proved { file, report } => {
                let mut document = report.document();
                document["file"] = json!(file);
                document
            }
            Became::Refused(file) => {
                let path = file.path.to_string_lossy();
                let found = semel_flow::render::to_json(&file.text, &file.found, &path);
                json!({"ok": false, "file": file.path, "diagnostics": found})
            }
        }
    }
}

impl Prove {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let files = flows::read(&self.files)?;
        if files.is_empty() {
            return Err(Failure::usage("there is no flow to prove").into());
        }
        let for_one = self.replay.is_some() || !self.event.is_empty() || !self.example.is_empty();
        if files.len() > 1 && for_one {
            let message = "--event, --example and --replay are for one flow";
            let message = format!("{message}; {} files were given", files.len());
            return Err(Failure::usage(message).fix("name one file").into());
        }
        let mut all = Vec::new();
        for file in files {
            let became = self.prove(file)?;
            if !context.json {
                self.tell(&became);
            }
            all.push(became);
        }
        let holds = all.iter().all(Became::holds);
        if context.json {
            Context::print_json(&document(&all, holds))?;
        }
        self.write(&all)?;
        Ok(u8::from(!holds))
    }

    fn prove(&self, file: FlowFile) -> anyhow::Result<Became> {
        let flow = match &file.flow {
            Some(flow) if self.despite_check || !file.has_errors() => flow,
            _ => return Ok(Became::Refused(Box::new(file))),
        };
        let events = self.events(flow, &file)?;
        let plan = match &self.replay {
            Some(schedule) => Plan::One(schedule.clone()),
            None => Plan::All(self.options()),
        };
        let bar = Bar::new();
        let report = Report::of(&file.text, events, &plan, &|done, all| bar.at(done, all));
        bar.end();
        let report = report.with_context(|| file.name())?;
        Ok(Became::Proved {
            file: file.path,
            report,
        })
    }

    /// What starts the flow: what was asked for, else what the file leads to.
    fn events(&self, flow: &Flow, file: &FlowFile) -> anyhow::Result<Vec<Event>> {
        if !self.event.is_empty() {
            let read =
                |path: &PathBuf| Ok(examples::given(flow, &path.to_string_lossy(), read(path)?));
            return self.event.iter().map(read).collect();
        }
        let all = examples::of_flow(flow);
        if self.example.is_empty() {
            return Ok(all);
        }
        let named = |name: &String| {
            let examples = all.iter().filter(|it| it.from == examples::From::Example);
            let names: Vec<_> = examples.clone().map(|it| it.name.clone()).collect();
            let found = examples.clone().find(|it| it.name == *name).cloned();
            found.ok_or_else(|| {
                let message = format!("{} has no example {name:?}", file.name());
                let names = match names.as_slice() {
                    [] => "it has no examples".to_owned(),
                    names => format!("it has {}", names.join(", ")),
                };
                Failure::usage(message).fix(names).into()
            })
        };
        self.example.iter().map(named).collect()
    }

    fn options(&self) -> Options {
        let families: BTreeSet<Family> = self.faults.iter().flat_map(|it| it.families()).collect();
        Options {
            families,
            depth: usize::from(self.depth),
            limit: self.limit,
            seed: self.seed,
            ..Options::default()
        }
    }

    fn tell(&self, became: &Became) {
        match became {
            Became::Proved { file, report } => show::Told {
                report,
                file,
                replay: self.replay.as_ref(),
                seed: self.seed,
            }
            .print(),
            Became::Refused(file) => refuse(file),
        }
    }

    /// Writes the files that were asked for; they are there also when something was found.
    fn write(&self, all: &[Became]) -> anyhow::Result<()> {
        let write = |path: &Path, text: String| {
            let shown = shown(&path.to_string_lossy()).into_owned();
            std::fs::write(path, text).with_context(|| format!("cannot write {shown}"))?;
            say!("semel: wrote {shown}");
            anyhow::Ok(())
        };
        if let Some(path) = &self.html {
            write(path, html::page(all))?;
        }
        if let Some(path) = &self.junit {
            write(path, junit::suites(all))?;
        }
        Ok(())
    }
}

/// One flow is a document of its own.
fn document(all: &[Became], holds: bool) -> serde_json::Value {
    match all {
        [one] => one.document(),
        all => {
            let flows: Vec<_> = all.iter().map(Became::document).collect();
            json!({"ok": holds, "flows": flows})
        }
    }
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let bytes = bytes.map_err(|error| Failure::usage(format!("{error:#}")))?;
    let wrong = |error| Failure::usage(format!("{}: {error}", path.display()));
    Ok(Value::read(&bytes).map_err(wrong)?)
}

fn refuse(file: &FlowFile) {
    print_line(file.drawn(crate::term::Paint::stdout().is_on()).trim_end());
    say!(
        "semel: {}: {}; nothing was tried",
        file.name(),
        summary(&file.found)
    );
    say!("  --despite-check tries it all the same, if it can be run");
}

/// How far it has come, for who has to wait for it at a terminal.
struct Bar {
    bar: ProgressBar,
    began: Instant,
}

/// Whoever waits less needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

impl Bar {
    fn new() -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = "{bar:30.green/dim} {pos} of {len} schedules, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.progress_chars("━━─"));
        }
        let began = Instant::now();
        Bar { bar, began }
    }

    fn at(&self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        // Where there is no terminal it stays hidden.
        if self.bar.is_hidden() && self.began.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
