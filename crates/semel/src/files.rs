//! Files that others must not read, written so that a crash leaves the old one or the new one.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::config::parent;

/// Makes a directory for its owner alone, and those above it; leaves it alone if it is there.
pub(crate) fn make_private_dir(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot make the directory {}", path.display()))
}

/// Writes a file for its owner alone, all of it or nothing.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let beside = beside(path);
    let written = (|| {
        let mut file = create_private(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        sync_dir(&parent(path))
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// A new file that only its owner may read.
pub(crate) fn create_private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

/// Makes an empty file that only its owner may read, if there is none: what a database writes
/// beside itself takes over these permissions.
pub(crate) fn claim_private(path: &Path) -> anyhow::Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot make {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// A name for the file while it is being written: in the same directory, so that it can be moved.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    parent(path).join(format!(".{name}.{}.tmp", std::process::id()))
}

/// Makes a move durable.
pub(crate) fn sync_dir(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}

/// The permission bits of a file, if it is there.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(metadata.permissions().mode() & 0o777)
}
