//! The proof that an acknowledged change survives a power cut.
//!
//! A real store runs over a disk that records every write and sync. Afterwards the files are
//! rebuilt as a power cut at many moments could have left them, opened like any other ledger and
//! held against what had been acknowledged by then. The same with the sync at each commit turned
//! off must lose something: otherwise the proof would prove nothing.

#[path = "../shared/mod.rs"]
mod shared;

mod images;
mod workload;

use std::path::Path;

use semel_faults::{Op, Survival};

use images::{Loss, losses};
use workload::{Run, run};

/// The run had what makes a power cut hard: checkpoints between acknowledgements, and a log that
/// starts over.
fn assert_hard(run: &Run) {
    let log = run.disk.log();
    let busy = &log[run.opened..];
    let is_write = |name: &str, start_only: bool| {
        let file = Path::new(name);
        busy.iter()
            .filter(|entry| *entry.file == *file)
            .filter(|entry| match entry.op {
                Op::Write { offset, .. } => !start_only || offset == 0,
                _ => false,
            })
            .count()
    };
    assert!(is_write("semel.db", false) > 100, "no checkpoints");
    assert!(
        is_write("semel.db-wal", true) > 3,
        "the log never restarted"
    );
    assert!(run.history.len() > 150, "{} effects", run.history.len());
}

#[test]
fn nothing_acknowledged_is_lost_in_a_power_cut() {
    let run = run("power-cut-full", false);
    assert_hard(&run);
    let (images, losses) = losses(&run);
    println!("{images} images of power cuts, nothing acknowledged was lost");
    assert!(images >= 500, "only {images} images");
    assert_eq!(losses, Vec::<Loss>::new(), "of {images} images");
}

#[test]
fn without_the_sync_at_each_commit_something_is_lost() {
    let run = run("power-cut-normal", true);
    let (images, losses) = losses(&run);
    println!("{} of {images} images lost something", losses.len());
    assert!(losses.len() > 20, "only {} of {images} lost", losses.len());
    // Where every write reached the disk there is nothing to lose: the losses are the syncs'.
    let whole = losses
        .iter()
        .find(|loss| loss.survival == Survival::Everything);
    assert_eq!(whole, None);
}
