//! The first token: made at the first start, its clear text in a file for this machine's CLI.

use std::path::{Path, PathBuf};

use semel_store::Store;

use crate::client::quoted;
use crate::failure::Failure;
use crate::files;

/// What there is to say about the token file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenFile {
    /// Made just now.
    Made(PathBuf),
    /// There from before.
    There(PathBuf),
    /// Gone, although tokens are in use.
    Missing(PathBuf),
}

/// Refuses a token that others on the machine can read.
pub(super) fn check(data: &Path) -> anyhow::Result<()> {
    let path = data.join("token");
    match files::mode(&path) {
        Some(mode) if mode & 0o077 != 0 => {
            let shown = path.display();
            let message = format!("{shown} can be read by others (mode {mode:03o})");
            let fix = format!("chmod 600 {}", quoted(&path.to_string_lossy()));
            Err(Failure::failed(message).fix(fix).into())
        }
        _ => Ok(()),
    }
}

/// Makes the first token, if no token is in use yet.
pub(super) async fn first(store: &Store, data: &Path) -> anyhow::Result<TokenFile> {
    let path = data.join("token");
    let tokens = store.tokens().await?;
    if tokens.iter().all(|token| token.revoked_at.is_some()) {
        let (clear, _) = semel_server::tokens::issue(store, "first").await?;
        files::write_private(&path, format!("{clear}\n").as_bytes())?;
        return Ok(TokenFile::Made(path));
    }
    if path.exists() {
        Ok(TokenFile::There(path))
    } else {
        Ok(TokenFile::Missing(path))
    }
}
