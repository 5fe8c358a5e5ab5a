//! Owns the proof that the images tell a durable configuration of SQLite from
//! one that is not.

mod common;

use common::{NAME, insert, open, rows};
use semel_faults::{Disk, Entry, Fault, Lasting, On, Op, Survival};
use std::path::Path;
use std::sync::Arc;

/// A row and the position at which its commit had returned.
type Acknowledged = (i64, usize);

/// Commits 80 rows, with a close and a new start in the middle, and returns
/// those whose commit did not fail.
fn run(disk: &Disk, dir: &Path, vfs: &str, synchronous: &str) -> Vec<Acknowledged> {
    let mut acknowledged = Vec::new();
    for numbers in [1..=40, 41..=80] {
        let db = open(dir, vfs, synchronous).expect("the database opens");
        for n in numbers {
            if insert(&db, n).is_ok() {
                acknowledged.push((n, disk.position()));
            }
        }
        db.close().map_err(|(_, error)| error).expect("it closes");
    }
    acknowledged
}

/// Goes through the images of several hundred cuts. Returns how many images
/// there were and what each lost of the rows that were acknowledged before its
/// cut. An image that is corrupt fails the test.
fn losses(disk: &Disk, acknowledged: &[Acknowledged]) -> (usize, Vec<String>) {
    let mut cuts: Vec<usize> = acknowledged.iter().map(|(_, position)| *position).collect();
    cuts.extend((0..=disk.position()).step_by(4));
    let mut images = 0;
    let mut losses = Vec::new();
    for cut in cuts {
        for survival in Survival::ALL {
            let seed = cut as u64;
            let dir = tempfile::tempdir().expect("a temporary directory");
            let image = disk.image(cut, survival, seed);
            image.write_to(dir.path()).expect("the image is written");
            let found = rows(dir.path());
            let due = acknowledged.iter().filter(|(_, position)| *position <= cut);
            let mut lost = due.filter(|(n, _)| !found.contains(n));
            if let Some((n, _)) = lost.next() {
                losses.push(format!("row {n} at {cut} with {survival:?}, seed {seed}"));
            }
            images += 1;
        }
    }
    (images, losses)
}

fn recorded(vfs: &str) -> (Arc<Disk>, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let disk = Disk::register(vfs, dir.path()).expect("the name is free");
    (disk, dir)
}

fn count(log: &[Entry], suffix: &str, matches: impl Fn(&Op) -> bool) -> usize {
    let name = format!("{NAME}{suffix}");
    let of_file = log.iter().filter(|entry| *entry.file == *Path::new(&name));
    of_file.filter(|entry| matches(&entry.op)).count()
}

#[test]
fn full_synchronous_loses_no_acknowledged_row() {
    let (disk, dir) = recorded("full");
    let acknowledged = run(&disk, dir.path(), "full", "FULL");
    assert_eq!(acknowledged.len(), 80);
    let (images, losses) = losses(&disk, &acknowledged);
    assert!(images > 800, "only {images} images");
    assert_eq!(losses, Vec::<String>::new());

    // The run had what makes a power cut hard: checkpoints between commits, a
    // WAL that starts over, and one that is deleted and made anew.
    let (_, first) = acknowledged[0];
    let (_, last) = acknowledged[79];
    let log = &disk.log()[first..last];
    let is_write = |op: &Op| matches!(op, Op::Write { .. });
    assert!(count(log, "", is_write) > 20, "no checkpoints");
    let is_header = |op: &Op| matches!(op, Op::Write { offset: 0, .. });
    assert!(count(log, "-wal", is_header) > 3, "the WAL went on");
    assert_eq!(count(log, "-wal", |op| matches!(op, Op::Delete { .. })), 1);
}

#[test]
fn normal_synchronous_loses_acknowledged_rows() {
    let (disk, dir) = recorded("normal");
    let acknowledged = run(&disk, dir.path(), "normal", "NORMAL");
    assert_eq!(acknowledged.len(), 80);
    let (_, losses) = losses(&disk, &acknowledged);
    assert_ne!(losses, Vec::<String>::new());
    let are_of = |survival: &str| losses.iter().any(|loss| loss.contains(survival));
    assert!(are_of("Nothing") && are_of("RandomSubset") && are_of("Torn"));
    assert!(!are_of("Everything"), "although all survived: {losses:?}");
}

#[test]
fn rows_acknowledged_around_failed_syncs_are_not_lost() {
    let (disk, dir) = recorded("failed-syncs");
    for nth in (10..150).step_by(9) {
        disk.inject(Fault::io_error(On::Syncs, nth, Lasting::Once));
    }
    let acknowledged = run(&disk, dir.path(), "failed-syncs", "FULL");
    assert!(disk.fired() > 10, "only {} syncs failed", disk.fired());
    assert!(acknowledged.len() < 80, "no commit failed");
    let (_, losses) = losses(&disk, &acknowledged);
    assert_eq!(losses, Vec::<String>::new());
}

#[test]
fn an_image_of_everything_is_what_the_real_files_hold() {
    let (disk, dir) = recorded("everything");
    let db = open(dir.path(), "everything", "FULL").expect("the database opens");
    for n in 1..=40 {
        insert(&db, n).expect("a row");
    }
    let image = disk.image(disk.position(), Survival::Everything, 0);
    let names: Vec<_> = image.files().map(|(name, _)| name).collect();
    assert_eq!(names, [NAME, &format!("{NAME}-wal")].map(Path::new));
    // To read the files ends the locks of the connection, which by then are
    // of no more use.
    for (name, bytes) in image.files() {
        let real = std::fs::read(dir.path().join(name)).expect("it is there");
        assert!(bytes == real, "{} differs", name.display());
    }
}

#[test]
fn an_image_can_be_recorded_in_turn() {
    let (disk, dir) = recorded("first-life");
    let (n, position) = run(&disk, dir.path(), "first-life", "FULL")[30];
    let again = tempfile::tempdir().expect("a temporary directory");
    let image = disk.image(position, Survival::Torn, 5);
    image.write_to(again.path()).expect("the image is written");

    let disk = Disk::register("second-life", again.path()).expect("the name is free");
    assert_eq!(disk.position(), 0);
    assert_eq!(disk.image(0, Survival::Nothing, 0), image);
    let db = open(again.path(), "second-life", "FULL").expect("it recovers");
    insert(&db, 1000).expect("it goes on");
    let acknowledged = [(n, 0), (1000, disk.position())];
    assert_eq!(losses(&disk, &acknowledged).1, Vec::<String>::new());
}
