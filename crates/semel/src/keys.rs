//! Where this process has the keys from that secrets are sealed with.

use std::path::{Path, PathBuf};

use semel_server::KeySource;

use crate::failure::Failure;

const VARIABLE: &str = "SEMEL_SECRETS_KEY";
const FILE: &str = "SEMEL_SECRETS_KEY_FILE";

/// The keys that the environment gives or names; else those of `usual`.
pub(crate) fn source(usual: KeySource) -> anyhow::Result<KeySource> {
    let (given, file) = (std::env::var_os(VARIABLE), std::env::var_os(FILE));
    match (given, file) {
        (Some(_), Some(_)) => {
            let message = format!("both {VARIABLE} and {FILE} are set");
            Err(Failure::usage(message).fix("unset one of them").into())
        }
        (Some(given), None) => {
            let source = KeySource::given(&given.to_string_lossy(), VARIABLE);
            source.map_err(|error| Failure::usage(error.to_string()).into())
        }
        (None, Some(path)) => Ok(KeySource::file(PathBuf::from(path))),
        (None, None) => Ok(usual),
    }
}

/// For whoever owns a data directory.
pub(crate) fn of_owner(data: &Path) -> anyhow::Result<KeySource> {
    source(KeySource::own(data))
}
