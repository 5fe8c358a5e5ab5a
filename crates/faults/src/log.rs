//! Owns the ordered record of what was done to the files of one directory.
//!
//! Does not own the doing (`disk.rs`), nor the question of what a power cut
//! leaves of it (`image.rs`).
//!
//! Invariant: the order of the entries is the order in which the operations
//! took effect on the real files, and an entry is only there if its operation
//! did take effect.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tells the successive files of one name apart: a file that is deleted and
/// created again is another inode, and keeps nothing of the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inode(u64);

/// One recorded operation.
///
/// Its position is its index in [`crate::Disk::log`]: a cut at position `p`
/// comes after the entries `0..p` and before the entry `p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file, relative to the recorded directory.
    pub file: Arc<Path>,
    /// Which of the files that had this name in turn.
    pub inode: Inode,
    /// What was done to it.
    pub op: Op,
}

/// What was done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// The file was created, empty.
    Create,
    /// Bytes were written.
    Write {
        /// Where the first byte went.
        offset: u64,
        /// What was written.
        bytes: Arc<[u8]>,
    },
    /// The file was cut or extended to a size.
    Truncate {
        /// The size from then on.
        size: u64,
    },
    /// The file was synced.
    Sync {
        /// The flags which SQLite passed.
        flags: i32,
        /// Whether the directory of the file was synced along with it.
        directory: bool,
    },
    /// A sync was asked for and failed. Nothing that was pending at that time
    /// is made durable by a later sync, since an operating system may drop
    /// the dirty pages which it could not write and then report success.
    SyncFailed {
        /// The flags which SQLite passed.
        flags: i32,
    },
    /// The file was deleted.
    Delete {
        /// Whether the directory was synced along with it.
        directory: bool,
    },
}

/// A file that nobody wrote through the recorded disk, taken as durable.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) file: Arc<Path>,
    pub(crate) inode: Inode,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    found: Vec<Found>,
    entries: Vec<Entry>,
    names: HashMap<Arc<Path>, Inode>,
    inodes: u64,
}

impl Log {
    pub(crate) fn found(&self) -> &[Found] {
        &self.found
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The inode that has this name now.
    pub(crate) fn inode(&self, file: &Path) -> Option<Inode> {
        self.names.get(file).copied()
    }

    pub(crate) fn find(&mut self, file: PathBuf, bytes: Vec<u8>) -> Inode {
        let (file, inode) = self.name(file);
        self.found.push(Found { file, inode, bytes });
        inode
    }

    pub(crate) fn create(&mut self, file: PathBuf) -> Inode {
        let (file, inode) = self.name(file);
        self.push(file, inode, Op::Create);
        inode
    }

    pub(crate) fn delete(&mut self, file: &Path, directory: bool) {
        // A file that this disk never saw is in no image, hence its end is
        // not worth an entry.
        if let Some((file, inode)) = self.names.remove_entry(file) {
            self.push(file, inode, Op::Delete { directory });
        }
    }

    pub(crate) fn push(&mut self, file: Arc<Path>, inode: Inode, op: Op) {
        self.entries.push(Entry { file, inode, op });
    }

    fn name(&mut self, file: PathBuf) -> (Arc<Path>, Inode) {
        let file: Arc<Path> = file.into();
        let inode = Inode(self.inodes);
        self.inodes += 1;
        self.names.insert(Arc::clone(&file), inode);
        (file, inode)
    }
}
