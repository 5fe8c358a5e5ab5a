//! `semel graph`: the picture of a flow, for a terminal or as SVG.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::Context;
use crate::flows;
use crate::term::print_line;

/// Draw a flow: what starts it, its steps with class and guard, branches, undo
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Graph {
    /// The flow file
    file: PathBuf,
    /// Write an SVG picture to this file; without it, the picture is drawn as text
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
EXAMPLE
  semel graph flows/order.yaml
  semel graph flows/order.yaml --svg order.svg";

impl Graph {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let files = flows::read(&[self.file])?;
        let mut drawable = files.iter().filter(|file| !file.has_errors());
        let found = drawable.find_map(|file| Some((file, file.flow.as_ref()?)));
        let Some((file, flow)) = found else {
            for file in &files {
                eprint!("{}", file.drawn(false));
            }
            say!("semel: the flow has errors; `semel check` says more");
            return Ok(1);
        };
        let (svg, text) = (semel_flow::graph::svg(flow), semel_flow::graph::text(flow));
        if let Some(out) = &self.svg {
            let path = out.display();
            std::fs::write(out, &svg).with_context(|| format!("cannot write {path}"))?;
        }
        match &self.svg {
            _ if context.json => {
                let document =
                    json!({"flow": flow.name.it, "file": file.path, "text": text, "svg": svg});
                Context::print_json(&document)?;
            }
            Some(out) => say!("semel: wrote {}", out.display()),
            None => print_line(text.trim_end()),
        }
        Ok(0)
    }
}
