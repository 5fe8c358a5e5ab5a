//! Which programs may be run.
//!
//! The invariant: what is run is the file that was judged, by its real path. A link, a `..` or a
//! link inside an allowed directory leads to where it leads, and is judged there.

use std::io;
use std::path::{Path, PathBuf};

use semel_act::FailureClass;

/// Why a program is not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("`exec` is off; the operator may allow programs under [exec] allow")]
    Off,
    #[error("`command` begins with {name}, which is not a whole path; begin it with /")]
    Relative { name: String },
    #[error("{name} cannot be started: {source}")]
    Unreadable { name: String, source: io::Error },
    #[error("{name} is not a file")]
    NoFile { name: String },
    #[error("{name} is {real}, which [exec] allow does not list")]
    Unlisted { name: String, real: PathBuf },
}

impl Refusal {
    /// What may be done about it: only a program that is not there may come.
    pub(super) fn class(&self) -> FailureClass {
        match self {
            Refusal::Unreadable { .. } => FailureClass::NeverSent,
            _ => FailureClass::Permanent,
        }
    }
}

/// The real path of a program that may be run.
pub(super) fn resolve(name: &str, allowed: &[PathBuf]) -> Result<PathBuf, Refusal> {
    let named = || name.to_owned();
    if allowed.is_empty() {
        return Err(Refusal::Off);
    }
    if !Path::new(name).is_absolute() {
        return Err(Refusal::Relative { name: named() });
    }
    let real = std::fs::canonicalize(name).map_err(|source| Refusal::Unreadable {
        name: named(),
        source,
    })?;
    if !allowed.iter().any(|entry| covers(entry, &real)) {
        return Err(Refusal::Unlisted {
            name: named(),
            real,
        });
    }
    if !real.is_file() {
        return Err(Refusal::NoFile { name: named() });
    }
    Ok(real)
}

/// Whether an entry of the list is that file, or a directory that it lies in.
fn covers(entry: &Path, real: &Path) -> bool {
    entry.is_absolute()
        && std::fs::canonicalize(entry).is_ok_and(|entry| real == entry || real.starts_with(&entry))
}
