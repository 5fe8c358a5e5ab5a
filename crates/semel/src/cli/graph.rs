//! `semel graph`: a flow as a picture.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use semel_flow::graph;
use serde_json::json;

use super::Context;
use crate::failure::Failure;
use crate::flows;
use crate::term::{print_line, shown_lines};

/// Draw a flow: what starts it, its steps with class and guard, branches, undo
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Graph {
    /// The flow file
    file: PathBuf,
    /// Write an SVG picture to this file, or to stdout with -
    #[arg(long, value_name = "FILE|-")]
    svg: Option<PathBuf>,
    /// Draw with signs of text [default without --svg]
    #[arg(long, conflicts_with = "svg")]
    text: bool,
}

const AFTER_HELP: &str = "\
EXAMPLE
  semel graph flows/order.yaml
  semel graph flows/order.yaml --svg order.svg";

impl Graph {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        if self.file.is_dir() {
            let message = format!("{} is a folder; one file is drawn", self.file.display());
            return Err(Failure::usage(message).into());
        }
        let files = flows::read(std::slice::from_ref(&self.file))?;
        let file = files.first().context("no file was read")?;
        let fix = format!("semel check {}", self.file.display());
        let Some(flow) = &file.flow else {
            let message = format!("{} cannot be read as a flow", file.name());
            return Err(Failure::failed(message).fix(fix).into());
        };
        if file.has_errors() {
            say!("semel: warning: {} has errors: {fix}", file.name());
        }
        match &self.svg {
            _ if context.json => {
                let (svg, text) = (graph::svg(flow), graph::text(flow));
                Context::print_json(&json!({"flow": flow.name.it, "svg": svg, "text": text}))?;
            }
            None => print_line(shown_lines(&graph::text(flow)).trim_end_matches('\n')),
            Some(out) if out == Path::new("-") => print_line(graph::svg(flow).trim_end()),
            Some(out) => {
                let path = out.display();
                std::fs::write(out, graph::svg(flow))
                    .with_context(|| format!("cannot write {path}"))?;
                say!("semel: wrote {path}");
            }
        }
        Ok(0)
    }
}
