//! `semel check`: everything that is wrong with flow files, and what each step does.

use std::path::PathBuf;

use clap::Args;
use semel_flow::check::Row;
use semel_flow::render::{summary, to_json};
use semel_flow::Level;
use serde_json::{Value, json};

use super::Context;
use crate::flows::{self, FlowFile};
use crate::term::{Paint, Tone, print_line, print_table, shown};

/// Check flow files: all problems with their place, and a table of the steps
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Check {
    /// Flow files, or folders of them (*.yaml, *.yml)
    #[arg(required = true, value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
}

const AFTER_HELP: &str = "\
Exit codes: 0 no errors (there may be warnings), 1 errors, 2 a file cannot be read.

EXAMPLE
  semel check flows/order.yaml
  semel check flows --json
  semel explain K001        # what a code means and what to do";

impl Check {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let files = flows::read(&self.files)?;
        let ok = !files.iter().any(FlowFile::has_errors);
        if context.json {
            let documents: Vec<_> = files.iter().map(document).collect();
            Context::print_json(&json!({"ok": ok, "files": documents}))?;
        } else {
            files.iter().for_each(print);
            tell(&files);
        }
        Ok(u8::from(!ok))
    }
}

/// One file, for programs.
fn document(file: &FlowFile) -> Value {
    let rows = file.flow.as_ref().map(semel_flow::table);
    json!({
        "file": file.path,
        "flow": file.flow.as_ref().map(|flow| &flow.name.it),
        "errors": file.count(Level::Error),
        "warnings": file.count(Level::Warning),
        "diagnostics": to_json(&file.text, &file.found, &file.path.to_string_lossy()),
        "steps": rows.unwrap_or_default().iter().map(step).collect::<Vec<_>>(),
    })
}

fn step(row: &Row) -> Value {
    json!({
        "step": row.step,
        "depth": row.depth,
        "on_failure": row.on_failure,
        "kind": row.kind,
        "class": row.class.name(),
        "scope": row.scope,
        "key": row.key,
        "guard": row.guard,
        "on_unknown": row.on_unknown,
        "retry": row.retry,
    })
}

/// One file, for people: what was found, then what each step does.
fn print(file: &FlowFile) {
    let drawn = file.drawn(Paint::stdout().is_on());
    if !drawn.is_empty() {
        print_line(drawn.trim_end_matches('\n'));
        print_line("");
    }
    let Some(flow) = &file.flow else { return };
    let rows = semel_flow::table(flow);
    if rows.is_empty() {
        return;
    }
    let title = format!("{} ({})", shown(&flow.name.it), file.name());
    print_line(&Paint::stdout().on(Tone::Strong, &title));
    let cells = rows.iter().map(cells).collect();
    print_table(&["class", "step", "does", "key", "guard", "on unknown"], cells);
    print_line("");
}

fn cells(row: &Row) -> Vec<String> {
    let place = if row.on_failure { "on_failure: " } else { "" };
    vec![
        row.class.name().to_owned(),
        format!("{}{place}{}", "  ".repeat(row.depth), shown(&row.step)),
        row.kind.to_owned(),
        row.key.as_deref().map_or("–".into(), shown).into_owned(),
        row.guard.clone(),
        row.on_unknown.clone(),
    ]
}

/// One line for each file.
fn tell(files: &[FlowFile]) {
    for file in files {
        say!("semel: {}: {}", file.name(), summary(&file.found));
    }
    let codes = files.iter().flat_map(|file| &file.found);
    if let Some(first) = codes.min_by_key(|found| found.level) {
        say!("  semel explain {} says more", first.code);
    }
}
