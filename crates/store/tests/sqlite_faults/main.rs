//! SQLite on a disk that fails, fills up, or is left in the middle of a write; and who may use
//! the file at the same time.

#[path = "../shared/mod.rs"]
mod shared;

mod full;
mod group_commit;
mod io_error;
mod kill;
mod locks;
mod opening;
mod script;
mod space;
mod together;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use semel_faults::Disk;
use semel_store::{Location, ManualClock, Options, Store};
use tempfile::TempDir;

use shared::START;

/// A store over a disk that counts and fails as planned.
struct Rig {
    disk: Arc<Disk>,
    store: Arc<Store>,
    _directory: TempDir,
}

impl Rig {
    /// `name` is the disk's, of its own in the whole test binary.
    async fn new(name: &str) -> Rig {
        let directory = tempfile::tempdir().expect("a directory");
        let disk = Disk::register(name, directory.path()).expect("the name is free");
        let options = Options {
            vfs: Some(name.to_owned()),
            ..options()
        };
        let store = open(&directory.path().join("semel.db"), options).await;
        Rig {
            disk,
            store,
            _directory: directory,
        }
    }
}

fn options() -> Options {
    Options {
        clock: Some(Arc::new(ManualClock::at(START))),
        connections: 2,
        ..Options::default()
    }
}

async fn open(path: &Path, options: Options) -> Arc<Store> {
    let store = Store::open(&Location::Sqlite(path.to_owned()), options).await;
    Arc::new(store.expect("it opens"))
}

fn database() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("semel.db");
    (directory, path)
}
