//! Owns the model of a power cut: which recorded operations a disk still holds
//! afterwards, and the files that follow from them.
//!
//! Does not own the record itself (`log.rs`), nor any running database.
//!
//! The model, which is harsher than most file systems but within what SQLite
//! counts on under its unix VFS:
//!
//! - A sync makes the earlier operations on the same inode durable, including
//!   the creation of the inode under its name. The unix VFS syncs the
//!   directory along with the first sync of a new journal or WAL, and with a
//!   delete if SQLite asks for it; both make all earlier creations and
//!   deletions in that directory durable.
//! - A failed sync makes nothing durable, and no later sync of the file makes
//!   good for what was pending by then.
//! - All other operations are at risk, and [`Survival`] decides on them. A
//!   deletion has one coin like any other operation. Of the creations and
//!   deletions of one name that are left, the last one says what is there.
//! - Bytes outside the range of a write never change. This is what
//!   `SQLITE_IOCAP_POWERSAFE_OVERWRITE` promises to SQLite.
//!
//! Invariant: an image depends on nothing but the log, the cut, the survival
//! and the seed.

use crate::log::{Entry, Inode, Log, Op};
use crate::survival::{self, Judge, Survival};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What the recorded directory holds after a power cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Image {
    /// The content of a file, by its name relative to the recorded directory.
    #[must_use]
    pub fn file(&self, name: impl AsRef<Path>) -> Option<&[u8]> {
        self.files.get(name.as_ref()).map(Vec::as_slice)
    }

    /// The names and contents of all files, in the order of the names.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        let pairs = self.files.iter();
        pairs.map(|(name, bytes)| (name.as_path(), bytes.as_slice()))
    }

    /// Writes the files into a directory, which is created if need be.
    ///
    /// # Errors
    ///
    /// If the directory is not empty, since a leftover `-wal` or `-shm` would
    /// falsify the image, or if the files cannot be written.
    pub fn write_to(&self, dir: impl AsRef<Path>) -> io::Result<()> {
        let dir = dir.as_ref();
        fs::create_dir_all(dir)?;
        if fs::read_dir(dir)?.next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        for (name, bytes) in &self.files {
            let path = dir.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    pub(crate) fn of(log: &Log, cut: usize, survival: Survival, seed: u64) -> Self {
        let entries = &log.entries()[..cut.min(log.entries().len())];
        let safe = durable(entries);
        let at_risk = safe.iter().filter(|safe| !**safe).count();
        let mut judge = Judge::new(survival, at_risk, seed);
        let mut replay = Replay::new(log);
        for (entry, safe) in entries.iter().zip(safe) {
            if let Op::Write { offset, bytes } = &entry.op {
                let offset = to_usize(*offset);
                let parts = if safe {
                    survival::first(bytes.len())
                } else {
                    judge.parts(offset, bytes.len())
                };
                for part in parts {
                    replay.write(entry.inode, offset + part.start, &bytes[part]);
                }
            } else if safe || judge.survives() {
                replay.apply(entry);
            }
        }
        replay.into_image()
    }
}

/// Says of each entry whether it is past all risk at the end of the entries.
fn durable(entries: &[Entry]) -> Vec<bool> {
    let mut safe = vec![false; entries.len()];
    let mut pending: HashMap<Inode, Vec<usize>> = HashMap::new();
    let mut named: HashMap<Option<&Path>, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let directory = entry.file.parent();
        let settled = match &entry.op {
            Op::Create => {
                pending.entry(entry.inode).or_default().push(index);
                named.entry(directory).or_default().push(index);
                continue;
            }
            Op::Write { .. } | Op::Truncate { .. } => {
                pending.entry(entry.inode).or_default().push(index);
                continue;
            }
            Op::SyncFailed { .. } => {
                pending.remove(&entry.inode);
                safe[index] = true;
                continue;
            }
            Op::Sync { directory, .. } => {
                safe[index] = true;
                for index in pending.remove(&entry.inode).unwrap_or_default() {
                    safe[index] = true;
                }
                *directory
            }
            Op::Delete { directory: synced } => {
                named.entry(directory).or_default().push(index);
                *synced
            }
        };
        if settled {
            for index in named.remove(&directory).unwrap_or_default() {
                safe[index] = true;
            }
        }
    }
    safe
}

/// The names and contents while the surviving operations are done again.
struct Replay<'log> {
    names: BTreeMap<&'log Path, Inode>,
    contents: HashMap<Inode, Vec<u8>>,
}

impl<'log> Replay<'log> {
    fn new(log: &'log Log) -> Self {
        let found = log.found().iter();
        let names = found.clone().map(|found| (&*found.file, found.inode));
        let contents = found.map(|found| (found.inode, found.bytes.clone()));
        Self {
            names: names.collect(),
            contents: contents.collect(),
        }
    }

    fn write(&mut self, inode: Inode, offset: usize, bytes: &[u8]) {
        let content = self.contents.entry(inode).or_default();
        let end = offset + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[offset..end].copy_from_slice(bytes);
    }

    /// Does everything but writes, of which only parts may be there.
    fn apply(&mut self, entry: &'log Entry) {
        match entry.op {
            Op::Create => {
                self.names.insert(&entry.file, entry.inode);
            }
            Op::Delete { .. } => {
                self.names.remove(&*entry.file);
            }
            Op::Truncate { size } => {
                let content = self.contents.entry(entry.inode).or_default();
                content.resize(to_usize(size), 0);
            }
            Op::Write { .. } | Op::Sync { .. } | Op::SyncFailed { .. } => {}
        }
    }

    fn into_image(mut self) -> Image {
        let names = self.names.into_iter();
        let files = names.map(|(name, inode)| {
            let content = self.contents.remove(&inode).unwrap_or_default();
            (name.to_owned(), content)
        });
        Image {
            files: files.collect(),
        }
    }
}

/// Offsets in a file whose content is held in memory, hence fit.
fn to_usize(offset: u64) -> usize {
    usize::try_from(offset).expect("a recorded file fits in memory")
}

#[cfg(test)]
mod tests;
