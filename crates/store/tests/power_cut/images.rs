//! The files as power cuts at many moments could have left them, opened and held against what
//! had been acknowledged by then.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use semel_faults::{Entry, Op, Survival};
use semel_store::{Location, ManualClock, Options, Store};

use crate::shared::START;
use crate::shared::history::{Found, History};
use crate::shared::seeded::Seeded;
use crate::workload::Run;

/// How many moments are cut at; each gives one image for each kind of survival.
const CUTS: usize = 160;
const THREADS: usize = 3;

/// What one image lacks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) cut: usize,
    pub(crate) survival: Survival,
    pub(crate) seed: u64,
    pub(crate) what: String,
}

/// Checks many images; gives how many, and what they lost.
pub(crate) fn losses(run: &Run) -> (usize, Vec<Loss>) {
    let cuts = cuts(&run.disk.log());
    let plan: Vec<(usize, Survival)> = cuts
        .iter()
        .flat_map(|cut| Survival::ALL.map(|survival| (*cut, survival)))
        .collect();
    let next = AtomicUsize::new(0);
    let losses = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((cut, survival)) = plan.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(loss) = check(run, *cut, *survival) {
                        losses.lock().expect("nobody panicked").push(loss);
                    }
                }
            });
        }
    });
    (plan.len(), losses.into_inner().expect("nobody panicked"))
}

/// Moments around syncs, where durability is decided, around writes to the database itself, which
/// only checkpoints do, at the very end, and a few anywhere.
fn cuts(log: &[Entry]) -> Vec<usize> {
    let mut random = Seeded::new(1);
    let mut around: Vec<usize> = Vec::new();
    for (index, entry) in log.iter().enumerate() {
        let is_sync = matches!(entry.op, Op::Sync { .. });
        let is_checkpoint = *entry.file == *Path::new("semel.db");
        if is_sync || (is_checkpoint && random.once_in(8)) || random.once_in(40) {
            around.extend([index, index + 1]);
        }
    }
    around.dedup();
    while around.len() >= CUTS {
        let victim = random.below(around.len() as u64);
        around.remove(usize::try_from(victim).expect("an index"));
    }
    around.push(log.len());
    around
}

fn check(run: &Run, cut: usize, survival: Survival) -> Option<Loss> {
    let seed = cut as u64;
    let directory = tempfile::tempdir().expect("a directory");
    let image = run.disk.image(cut, survival, seed);
    image.write_to(directory.path()).expect("it is written");
    let what = opened_again(&directory.path().join("semel.db"), &run.history, cut).err()?;
    Some(Loss {
        cut,
        survival,
        seed,
        what,
    })
}

/// Opens a ledger as a server would, and says what is wrong with it.
fn opened_again(path: &Path, history: &History, cut: usize) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let location = Location::Sqlite(path.to_owned());
        let options = Options {
            clock: Some(std::sync::Arc::new(ManualClock::at(START))),
            connections: 1,
            ..Options::default()
        };
        let store = Store::open(&location, options).await;
        let store = store.map_err(|error| format!("it does not open: {error:?}"))?;
        let found = Found::read(&store).await;
        let found = found.map_err(|error| format!("it does not read: {error:?}"))?;
        let losses = history.losses(&found, cut);
        store.close().await.map_err(|error| error.to_string())?;
        match losses.first() {
            Some(loss) => Err(format!("{loss} ({} in all)", losses.len())),
            None => Ok(()),
        }
    })?;
    let connection = Connection::open(path).map_err(|error| error.to_string())?;
    let sound: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .map_err(|error| error.to_string())?;
    if sound == "ok" { Ok(()) } else { Err(sound) }
}
