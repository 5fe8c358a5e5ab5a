//! `semel check`: everything that is wrong with flow files, and what each step does.

use std::path::PathBuf;

use clap::Args;
use hyper::Method;
use semel_flow::Level;
use semel_flow::render::{summary, to_json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::release::{Lost, print_lost};
use super::{Context, steps};
use crate::client::{Access, Call, Client};
use crate::config::{Flags, Name};
use crate::flows::{self, FlowFile};
use crate::term::{Paint, Tone, print_line, shown};

/// Check flow files: all problems with their place, and a table of the steps
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Check {
    /// Flow files, or folders of them (*.yaml, *.yml)
    #[arg(required = true, value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// Also say which done keys would not be found any more: `live` for what is live where the
    /// ledger is, or a server's address
    #[arg(long, value_name = "live|URL")]
    against: Option<String>,
}

const AFTER_HELP: &str = "\
Exit codes: 0 no errors (there may be warnings), 1 errors or keys that would be forgotten, 2 a file
cannot be read.

EXAMPLE
  semel check flows/order.yaml
  semel check flows --json
  semel check flows --against live
  semel explain K001        # what a code means and what to do";

/// A file, what would be forgotten if it were deployed, and which secrets would be missed.
struct Checked {
    file: FlowFile,
    lost: Vec<Lost>,
    missing_secrets: Vec<String>,
}

impl Check {
    pub(super) fn flags(&self) -> Flags {
        let server = self.against.as_ref().filter(|it| *it != "live");
        let flag = |url: &String| (Name::Server, "--against", url.clone());
        server.into_iter().map(flag).collect()
    }

    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let files = flows::read(&self.files)?;
        let checked = match self.against {
            None => files.into_iter().map(Checked::alone).collect(),
            Some(_) => compare(context, files).await?,
        };
        let ok = checked.iter().all(Checked::is_ok);
        if context.json {
            let documents: Vec<_> = checked.iter().map(Checked::document).collect();
            Context::print_json(&json!({"ok": ok, "files": documents}))?;
        } else {
            checked.iter().for_each(Checked::print);
            tell(&checked);
        }
        Ok(u8::from(!ok))
    }
}

/// Asks about each file what would be forgotten, and missed.
async fn compare(context: &Context, files: Vec<FlowFile>) -> anyhow::Result<Vec<Checked>> {
    #[derive(Deserialize)]
    struct Document {
        abandoned: Vec<Lost>,
        #[serde(default)]
        missing_secrets: Vec<String>,
    }
    let client = Client::new(&context.config)?;
    let session = client.connect(Access::Existing).await?;
    let mut checked = Vec::new();
    for file in files {
        let body = json!({"source": file.text});
        let call = Call::json(Method::POST, "/v1/check".to_owned(), &body);
        let document: Document = session.send(call).await?.read()?;
        checked.push(Checked {
            file,
            lost: document.abandoned,
            missing_secrets: document.missing_secrets,
        });
    }
    session.close().await?;
    Ok(checked)
}

impl Checked {
    fn alone(file: FlowFile) -> Checked {
        Checked {
            file,
            lost: Vec::new(),
            missing_secrets: Vec::new(),
        }
    }

    fn is_ok(&self) -> bool {
        !self.file.has_errors() && self.lost.is_empty()
    }

    /// For programs.
    fn document(&self) -> Value {
        let file = &self.file;
        let rows = file.flow.as_ref().map(steps::rows);
        json!({
            "file": file.path,
            "flow": file.flow.as_ref().map(|flow| &flow.name.it),
            "errors": file.count(Level::Error),
            "warnings": file.count(Level::Warning),
            "diagnostics": to_json(&file.text, &file.found, &file.path.to_string_lossy()),
            "abandoned": self.lost,
            "missing_secrets": self.missing_secrets,
            "steps": rows.unwrap_or_default(),
        })
    }

    /// For people: what was found, then what each step does.
    fn print(&self) {
        let (file, paint) = (&self.file, Paint::stdout());
        let drawn = file.drawn(paint.is_on());
        if !drawn.is_empty() {
            print_line(drawn.trim_end_matches('\n'));
            print_line("");
        }
        print_lost(&self.lost);
        let Some(flow) = &file.flow else { return };
        let rows = steps::rows(flow);
        if !rows.is_empty() {
            let title = format!("{} ({})", shown(&flow.name.it), file.name());
            print_line(&paint.on(Tone::Strong, &title));
            steps::print(&rows);
            print_line("");
        }
    }
}

/// Secrets that the server lacks, by name.
pub(super) fn tell_missing(file: &str, secrets: &[String]) {
    for name in secrets.iter().map(|name| shown(name)) {
        say!(
            "semel: warning: {file} needs the secret {name}, which the server lacks: semel secrets set {name}"
        );
    }
}

/// One line for each file.
fn tell(checked: &[Checked]) {
    for checked in checked {
        let (file, lost) = (&checked.file, &checked.lost);
        tell_missing(&file.name(), &checked.missing_secrets);
        let lost: u64 = lost.iter().filter_map(|lost| lost.keys).sum();
        let more = match lost {
            0 => String::new(),
            lost => format!(", {lost} done keys would not be found"),
        };
        say!("semel: {}: {}{more}", file.name(), summary(&file.found));
    }
    let found = checked.iter().flat_map(|checked| &checked.file.found);
    if let Some(worst) = found.min_by_key(|found| found.level) {
        say!("  semel explain {} says more", worst.code);
    }
}
