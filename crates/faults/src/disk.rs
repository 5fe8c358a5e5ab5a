//! Owns the handle on one recorded disk: its directory, its log and its plan
//! of faults behind one lock.
//!
//! Does not own the callbacks of SQLite (`vfs.rs`, `file.rs`): they hand over
//! the real operation as a closure.
//!
//! Invariant: an operation is judged, performed and recorded under one hold of
//! the lock, so that no two operations can be recorded in another order than
//! they took place, and a position never lies inside of one.

use crate::fault::{Counts, Fault, Kind, Moment, Plan, Verdict};
use crate::image::Image;
use crate::log::{Entry, Inode, Log, Op};
use crate::survival::Survival;
use crate::vfs::{self, RegisterError};
use rusqlite::ffi;
use rustix::process::{Signal, getpid, kill_process};
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

/// A directory whose SQLite files are recorded and can be made to fail.
#[derive(Debug)]
pub struct Disk {
    dir: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    log: Log,
    plan: Plan,
}

impl Disk {
    /// Registers a SQLite VFS under a name of its own, over the default one.
    ///
    /// A connection that is opened with this VFS works on the real files, and
    /// what it does to those inside the directory is recorded. Files that are
    /// there already count as durable. They, and those that something else
    /// adds later, must not be open in this process when they are first seen:
    /// reading them would release the locks which SQLite holds on them.
    /// Once seen, a file must change through this VFS only.
    ///
    /// The VFS and its log stay in memory until the process ends, since SQLite
    /// gives no safe moment to take a VFS away. This is for tests only.
    ///
    /// # Errors
    ///
    /// If the name is taken or has a NUL in it, if the directory cannot be
    /// read, or if SQLite refuses the VFS.
    pub fn register(name: &str, dir: impl AsRef<Path>) -> Result<Arc<Self>, RegisterError> {
        // SQLite resolves symbolic links before it opens a file.
        let dir = fs::canonicalize(dir)?;
        let mut state = State::default();
        find_files(&dir, Path::new(""), &mut state.log)?;
        let state = Mutex::new(state);
        let disk = Arc::new(Self { dir, state });
        vfs::register(name, Arc::clone(&disk))?;
        Ok(disk)
    }

    /// How many operations are recorded so far. What was acknowledged before
    /// this call must be in every image whose cut is not before this position.
    #[must_use]
    pub fn position(&self) -> usize {
        self.lock().log.entries().len()
    }

    /// The operations recorded so far, each at the index of its position.
    #[must_use]
    pub fn log(&self) -> Vec<Entry> {
        self.lock().log.entries().to_vec()
    }

    /// What the directory holds if the power goes at a position. The same
    /// arguments on the same record give the same image.
    #[must_use]
    pub fn image(&self, cut: usize, survival: Survival, seed: u64) -> Image {
        Image::of(&self.lock().log, cut, survival, seed)
    }

    /// Adds a fault to the plan.
    pub fn inject(&self, fault: Fault) {
        self.lock().plan.inject(fault);
    }

    /// Takes all faults off the plan; those that last come to their end.
    pub fn clear(&self) {
        self.lock().plan.clear();
    }

    /// How many operations were hit by a fault so far.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.lock().plan.fired()
    }

    /// How many operations were attempted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lock().plan.counts()
    }

    /// The name by which a path is recorded, if it is.
    pub(crate) fn relative(&self, path: &Path) -> Option<PathBuf> {
        let relative = path.strip_prefix(&self.dir).ok()?;
        is_recorded(relative).then(|| relative.to_owned())
    }

    pub(crate) fn open(&self, file: PathBuf, real: impl FnOnce() -> c_int) -> Result<Inode, c_int> {
        let mut state = self.lock();
        let path = self.dir.join(&file);
        let existed = path.exists();
        let known = state.log.inode(&file).filter(|_| existed);
        let unknown = existed && known.is_none();
        let content = if unknown {
            fs::read(path)
        } else {
            Ok(Vec::new())
        };
        let content = content.map_err(|_| ffi::SQLITE_CANTOPEN)?;
        match (real(), known) {
            (ffi::SQLITE_OK, Some(inode)) => Ok(inode),
            (ffi::SQLITE_OK, None) if existed => Ok(state.log.find(file, content)),
            (ffi::SQLITE_OK, None) => Ok(state.log.create(file)),
            (code, _) => Err(code),
        }
    }

    pub(crate) fn delete(
        &self,
        file: &Path,
        directory: bool,
        real: impl FnOnce() -> c_int,
    ) -> c_int {
        let mut state = self.lock();
        let code = real();
        if code == ffi::SQLITE_OK {
            state.log.delete(file, directory);
        }
        code
    }

    /// Runs an operation on an open file, or what a fault makes of it, and
    /// records what `op` makes of its result code.
    pub(crate) fn perform(
        &self,
        kind: Kind,
        file: &Arc<Path>,
        inode: Inode,
        real: impl FnOnce() -> c_int,
        op: impl FnOnce(c_int) -> Option<Op>,
    ) -> c_int {
        let mut state = self.lock();
        let verdict = state.plan.judge(kind);
        let code = match verdict {
            Verdict::Fail(code) => code,
            Verdict::Kill(Moment::Before) => die(),
            Verdict::Kill(Moment::After) | Verdict::Proceed => real(),
        };
        if verdict == Verdict::Kill(Moment::After) {
            die();
        }
        if let Some(op) = op(code) {
            state.log.push(Arc::clone(file), inode, op);
        }
        code
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that panicked elsewhere must not turn every later callback
        // of SQLite into an abort.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shared memory file is rebuilt from the WAL after a power cut, and the
/// real VFS handles it without going through us.
fn is_recorded(file: &Path) -> bool {
    !file.as_os_str().as_encoded_bytes().ends_with(b"-shm")
}

/// Takes the files that are there already into the log, as durable ones.
fn find_files(root: &Path, below: &Path, log: &mut Log) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            find_files(root, &name, log)?;
        } else if kind.is_file() && is_recorded(&name) {
            log.find(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// Ends the process as a crash would: nothing unwinds, nothing is flushed.
fn die() -> ! {
    // The signal takes effect before the call returns. Should it be refused,
    // the abort still keeps the operation from going on.
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}
