//! The token of this machine's CLI: its clear text in a file, made anew whenever it does not work.

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
}

/// Refuses a token that others on the machine can read.
pub(super) fn check(data: &Path) -> anyhow::Result<()> {
    let path = data.join("token");
    match files::mode(&path) {
        Some(mode) if !files::is_private(mode) => {
            let shown = path.display();
            let message = format!("{shown} can be read by others (mode {mode:03o})");
            let fix = format!("chmod 600 {}", quoted(&path.to_string_lossy()));
            Err(Failure::failed(message).fix(fix).into())
        }
        _ => Ok(()),
    }
}

/// Sees to it that the file holds a token that works: it may never have been there, be lost, or
/// speak for another ledger after a restore. A crash before the file is written leaves a token
/// that nobody knows, and the next start makes another.
pub(super) async fn provide(store: &Store, data: &Path) -> anyhow::Result<TokenFile> {
    let path = data.join("token");
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    let held = semel_server::tokens::hash(held.trim());
    let tokens = store.tokens().await?;
    let mut valid = tokens.iter().filter(|token| token.revoked_at.is_none());
    if valid.any(|token| token.hash == held) {
        return Ok(TokenFile::There(path));
    }
    let name = if tokens.is_empty() { "first" } else { "local" };
    let (clear, _) = semel_server::tokens::issue(store, name).await?;
    files::write_private(&path, format!("{clear}\n").as_bytes())?;
    Ok(TokenFile::Made(path))
}
