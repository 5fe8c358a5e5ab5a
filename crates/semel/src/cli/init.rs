//! `semel init`: a folder to start from, in which everything already works.
//!
//! Owns what is written and that nothing is written over. The invariant: either nothing of it was there, or nothing
//! is touched.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::Context;
use crate::failure::Failure;
use crate::term::{Paint, Tone, print_line, shown};

/// Write a folder to start from: a flow with examples, settings, a CI file
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Init {
    /// Where; made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

const AFTER_HELP: &str = "\
Nothing is written over: if one of the files is there, none is written.

EXAMPLE
  semel init shop
  cd shop && semel check flows && semel prove flows";

/// What is written, and what it is.
const FILES: [(&str, &str, &str); 5] = [
    (
        "flows/order-paid.yaml",
        include_str!("init/order-paid.yaml"),
        "a flow with examples",
    ),
    (
        "semel.toml",
        include_str!("init/semel.toml"),
        "settings, with comments",
    ),
    (
        ".github/workflows/flows.yml",
        include_str!("init/flows.yml"),
        "checks and proves every change",
    ),
    (
        ".gitignore",
        include_str!("init/gitignore"),
        "what is not kept in git",
    ),
    (
        "README.md",
        include_str!("init/README.md"),
        "what to do with it",
    ),
];

impl Init {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let there = FILES.iter().map(|(name, ..)| *name);
        let there: Vec<_> = there
            .filter(|name| self.folder.join(name).symlink_metadata().is_ok())
            .collect();
        if !there.is_empty() {
            let folder = shown(&self.folder.to_string_lossy()).into_owned();
            let message = format!(
                "{folder} has {} already; nothing was written",
                there.join(", ")
            );
            let fix = "name another folder: semel init DIR";
            return Err(Failure::usage(message).fix(fix).into());
        }
        for (name, content, _) in FILES {
            write_new(&self.folder.join(name), content)?;
        }
        if context.json {
            let names: Vec<_> = FILES.iter().map(|(name, ..)| name).collect();
            Context::print_json(&json!({"folder": self.folder, "written": names}))?;
        } else {
            self.tell();
        }
        Ok(0)
    }

    fn tell(&self) {
        let paint = Paint::stdout();
        for (name, _, about) in FILES {
            let path = self.folder.join(name);
            let path = shown(&path.to_string_lossy()).into_owned();
            print_line(&format!("{path:<40} {}", paint.on(Tone::Dim, about)));
        }
        let go = if self.folder == Path::new(".") {
            String::new()
        } else {
            format!("cd {} && ", shown(&self.folder.to_string_lossy()))
        };
        say!("semel: next: {go}semel check flows && semel prove flows");
    }
}

/// Writes a file that is not there yet, with the folders above it.
fn write_new(path: &Path, content: &str) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", shown(&path.to_string_lossy()));
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).with_context(failed)?;
    }
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).open(path);
    match file {
        Ok(mut file) => file.write_all(content.as_bytes()).with_context(failed),
        // Somebody else wrote it meanwhile; theirs stays.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Failure::usage(failed())
            .fix("it is there already; name another folder")
            .into()),
        Err(error) => Err(error).with_context(failed),
    }
}
