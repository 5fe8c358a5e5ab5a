//! Flow files as they lie on disk: found, read, checked one by one and against each other.
//!
//! Owns which files a name stands for and what can only be seen when several files lie side by
//! side. Leaves what a flow means to `semel-flow`, and what is live to the server.
//!
//! The invariant: every file that was named is read, so one look shows all that is wrong.

mod beside;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use semel_flow::codes::F001;
use semel_flow::render::{Style, render};
use semel_flow::{Diagnostic, Flow, Level, MAX_FILE_BYTES, Span};

use crate::failure::Failure;
use crate::term::shown;

/// A flow file that was read, with everything that was found about it.
#[derive(Debug)]
pub(crate) struct FlowFile {
    /// As it was named, or found in a folder that was.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) flow: Option<Flow>,
    pub(crate) found: Vec<Diagnostic>,
}

impl FlowFile {
    /// Reads and checks one file's content.
    pub(crate) fn new(path: PathBuf, content: Vec<u8>) -> FlowFile {
        let text = match String::from_utf8(content) {
            Ok(text) => text,
            Err(error) => return not_text(path, &error),
        };
        let (flow, found) = checked(&text);
        FlowFile {
            path,
            text,
            flow,
            found,
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.count(Level::Error) > 0
    }

    pub(crate) fn count(&self, level: Level) -> usize {
        self.found
            .iter()
            .filter(|found| found.level == level)
            .count()
    }

    /// The file's name, as it may be shown.
    pub(crate) fn name(&self) -> String {
        shown(&self.path.to_string_lossy()).into_owned()
    }

    /// What was found, with lines and carets.
    pub(crate) fn drawn(&self, colours: bool) -> String {
        let style = Style {
            file: &self.path.to_string_lossy(),
            colours,
            width: None,
        };
        render(&self.text, &self.found, style)
    }
}

/// The flow of a text and everything that can be said about it.
fn checked(text: &str) -> (Option<Flow>, Vec<Diagnostic>) {
    let reading = semel_flow::read(text);
    let mut found = reading.diagnostics;
    if let Some(flow) = &reading.flow {
        found.extend(semel_flow::check(flow));
        found.sort_by_key(|found| (found.at, found.code));
    }
    (reading.flow, found)
}

fn not_text(path: PathBuf, error: &std::string::FromUtf8Error) -> FlowFile {
    let at = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let mark = char::REPLACEMENT_CHARACTER.len_utf8();
    let place = Span {
        start: at,
        end: at + mark,
    };
    let found = Diagnostic::error(
        F001,
        place,
        "the file is not UTF-8",
        format!("byte {} cannot be read", at + 1),
    );
    FlowFile {
        path,
        text,
        flow: None,
        found: vec![found.help("save the file as UTF-8")],
    }
}

/// Reads all files that are named, and those in folders that are; looks at each and at all of them
/// side by side.
pub(crate) fn read(names: &[PathBuf]) -> anyhow::Result<Vec<FlowFile>> {
    let mut paths = BTreeSet::new();
    for name in names {
        if name.is_dir() {
            let found = in_folder(name)?;
            if found.is_empty() {
                let name = shown(&name.to_string_lossy()).into_owned();
                return Err(
                    Failure::usage(format!("there is no flow file in the folder {name}"))
                        .fix("a flow file ends in .yaml or .yml")
                        .into(),
                );
            }
            paths.extend(found);
        } else {
            paths.insert(name.clone());
        }
    }
    let files: Result<Vec<_>, _> = paths.into_iter().map(load).collect();
    let mut files = files?;
    beside::check(&mut files);
    Ok(files)
}

/// The flow files of a folder, in the order of their names; what begins with a dot is left alone,
/// as editors write such files while they save.
pub(crate) fn in_folder(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = |error: std::io::Error| {
        let folder = shown(&folder.to_string_lossy()).into_owned();
        Failure::usage(format!("cannot read the folder {folder}: {error}"))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_flow = path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_flow && !name.starts_with('.') && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn load(path: PathBuf) -> anyhow::Result<FlowFile> {
    let mut content = Vec::new();
    // One byte more than may be: enough to see that there is too much.
    let most = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX);
    let read = std::fs::File::open(&path)
        .and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut content));
    if let Err(error) = read {
        let name = shown(&path.to_string_lossy()).into_owned();
        return Err(Failure::usage(format!("cannot read {name}: {error}"))
            .fix("name flow files, or a folder that holds them")
            .into());
    }
    Ok(FlowFile::new(path, content))
}

#[cfg(test)]
mod tests;
