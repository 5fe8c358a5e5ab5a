//! `semel schema`: the JSON Schema of flow files, for editors.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::Context;

/// Print the JSON Schema of flow files
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Schema {
    /// Write it to a file instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
EXAMPLE
  semel schema --out semel-flow.json

Editors with the YAML language server complete and validate with it when a flow file begins with
  # yaml-language-server: $schema=semel-flow.json";

impl Schema {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let schema = semel_flow::schema();
        let Some(out) = self.out else {
            Context::print_json(&schema)?;
            return Ok(0);
        };
        let text = format!("{}\n", serde_json::to_string_pretty(&schema)?);
        let path = out.display();
        std::fs::write(&out, text).with_context(|| format!("cannot write {path}"))?;
        if context.json {
            Context::print_json(&json!({"file": out}))?;
        } else {
            say!("semel: wrote {path}");
        }
        Ok(0)
    }
}
