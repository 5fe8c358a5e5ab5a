//! Who may use a data directory: one server alone, or any number of short visitors.
//!
//! The lock is the kernel's, on a file of its own, so it ends with its process however that dies.
//! A second file is the door: whoever wants in passes through it, and a server that starts keeps
//! it shut until it is in, so that visitors who never stop coming cannot keep it out.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::error::OpenError;

/// The lock's file in the data directory.
pub const LOCK_FILE: &str = "semel.lock";
/// The door's file in the data directory.
const DOOR_FILE: &str = "semel.door";
/// Visitors stay for one or two commits; a server that starts waits so long for them to go.
const PATIENCE: Duration = Duration::from_secs(5);

/// A held lock; let go when dropped.
#[derive(Debug)]
pub struct DataLock {
    file: File,
}

/// Whether the directory is free for a visitor.
#[derive(Debug)]
pub enum Visit {
    /// Yes, for as long as this is held.
    Free(DataLock),
    /// A server has it; what it left in the lock file tells where it listens.
    Served(String),
}

fn open(directory: &Path, name: &str) -> Result<File, OpenError> {
    let path = directory.join(name);
    let options = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .mode(0o600)
        .clone();
    options
        .open(&path)
        .map_err(|source| OpenError::File { path, source })
}

fn notice(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

impl DataLock {
    /// Takes the directory for a server. `notice` tells visitors where to find it.
    ///
    /// # Errors
    /// [`OpenError::InUse`] if another server has it.
    pub fn serve(directory: &Path, notice_text: &str) -> Result<DataLock, OpenError> {
        let path = directory.join(LOCK_FILE);
        let mut file = open(directory, LOCK_FILE)?;
        let deadline = Instant::now() + PATIENCE;
        let door = open(directory, DOOR_FILE)?;
        // Visitors hold the door for a moment, another server that starts until it is in.
        while flock(&door, FlockOperation::NonBlockingLockExclusive).is_err() {
            if Instant::now() > deadline {
                let holder = " (another server is starting)".to_owned();
                return Err(OpenError::InUse { path, holder });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            // Room for one more visitor means that only visitors are there, and they soon go.
            let only_visitors = flock(&file, FlockOperation::NonBlockingLockShared).is_ok();
            if !only_visitors || Instant::now() > deadline {
                let holder = match notice(&mut file) {
                    Ok(text) if !only_visitors && !text.is_empty() => format!(" ({text})"),
                    _ => String::new(),
                };
                return Err(OpenError::InUse { path, holder });
            }
            let _ = flock(&file, FlockOperation::Unlock);
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut lock = DataLock { file };
        lock.announce(notice_text)
            .map_err(|source| OpenError::File { path, source })?;
        Ok(lock)
    }

    /// Changes what visitors are told.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn announce(&mut self, notice_text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(notice_text.as_bytes())
    }

    /// Looks in for a commit or two.
    ///
    /// # Errors
    /// [`OpenError`] if the lock file cannot be used.
    pub fn visit(directory: &Path) -> Result<Visit, OpenError> {
        let door = open(directory, DOOR_FILE)?;
        if flock(&door, FlockOperation::NonBlockingLockShared).is_err() {
            // A server is about to be in; it will say where it listens.
            return Ok(Visit::Served(String::new()));
        }
        let mut file = open(directory, LOCK_FILE)?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_err() {
            let path = directory.join(LOCK_FILE);
            let text = notice(&mut file).map_err(|source| OpenError::File { path, source })?;
            return Ok(Visit::Served(text));
        }
        Ok(Visit::Free(DataLock { file }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_server_gets_in_although_visitors_never_stop_coming() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let visit = DataLock::visit(path).expect("a visit");
                        std::thread::sleep(Duration::from_millis(20));
                        drop(visit);
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(50));
            let served = DataLock::serve(path, "here");
            let visit = DataLock::visit(path);
            stop.store(true, Ordering::Relaxed);
            assert!(served.is_ok(), "{served:?}");
            assert!(
                matches!(&visit, Ok(Visit::Served(text)) if text == "here"),
                "{visit:?}"
            );
        });
    }

    #[test]
    fn a_second_server_is_told_who_is_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let lock = DataLock::serve(directory.path(), "first").expect("free");
        let second = DataLock::serve(directory.path(), "second").expect_err("in use");
        assert!(second.to_string().contains("(first)"), "{second}");
        drop(lock);
        assert!(DataLock::serve(directory.path(), "second").is_ok());
    }
}
