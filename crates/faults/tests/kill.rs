//! Owns the proof that a planned kill ends the process as SIGKILL does, at the
//! planned operation, and that the files survive it.

mod common;

use common::{NAME, insert, open, rows};
use semel_faults::{Disk, Fault, Moment, On};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const SIGKILL: i32 = 9;

/// The test runs its own binary anew with these set.
const DIR: &str = "SEMEL_FAULTS_KILL_DIR";
const PLAN: &str = "SEMEL_FAULTS_KILL_PLAN";

const MOMENTS: [(&str, Moment); 2] = [("before", Moment::Before), ("after", Moment::After)];

/// What the child runs: it says each row that was acknowledged.
fn child(dir: &Path) {
    let plan = std::env::var(PLAN).expect("the parent sets the plan");
    let (moment, nth) = plan.split_once(' ').expect("the plan has two parts");
    let (_, moment) = MOMENTS
        .into_iter()
        .find(|(name, _)| *name == moment)
        .expect("the moment is known");
    let nth = nth.parse().expect("the plan has a number");
    let disk = Disk::register("kill", dir).expect("the name is free");
    disk.inject(Fault::kill(On::Writes, nth, moment));
    let db = open(dir, "kill", "FULL").expect("the database opens");
    for n in 1..=40 {
        insert(&db, n).expect("a row");
        println!("acknowledged {n}");
    }
}

/// Runs the child until it is killed. Returns the rows it acknowledged and the
/// size of its WAL.
fn run_until_killed(dir: &Path, moment: &str, nth: u64) -> (Vec<i64>, u64) {
    let program = std::env::current_exe().expect("the test has a binary");
    let output = Command::new(program)
        .args([
            "--exact",
            "a_kill_at_any_write_leaves_the_acknowledged_rows",
        ])
        .arg("--nocapture")
        .env(DIR, dir)
        .env(PLAN, format!("{moment} {nth}"))
        .output()
        .expect("the child starts");
    let status = output.status;
    assert_eq!(status.signal(), Some(SIGKILL), "{moment} {nth}: {status}");
    let said = String::from_utf8(output.stdout).expect("the child says text");
    let rows = said
        .lines()
        .filter_map(|line| line.strip_prefix("acknowledged "));
    let rows = rows.map(|n| n.parse().expect("a number")).collect();
    let wal = dir.join(format!("{NAME}-wal"));
    (rows, std::fs::metadata(wal).map_or(0, |wal| wal.len()))
}

#[test]
fn a_kill_at_any_write_leaves_the_acknowledged_rows() {
    if let Some(dir) = std::env::var_os(DIR) {
        return child(&PathBuf::from(dir));
    }
    let mut most = 0;
    for nth in [2, 13, 40, 95, 96, 150] {
        let mut sizes = Vec::new();
        for (moment, _) in MOMENTS {
            let dir = tempfile::tempdir().expect("a temporary directory");
            let (acknowledged, wal) = run_until_killed(dir.path(), moment, nth);
            let found = rows(dir.path());
            assert!(
                acknowledged.iter().all(|n| found.contains(n)),
                "{moment} {nth}: {acknowledged:?} but {found:?}"
            );
            most = most.max(acknowledged.len());
            sizes.push(wal);
        }
        // The 13th write goes to the end of the WAL, which shows the moment.
        assert!(nth != 13 || sizes[0] < sizes[1], "{sizes:?}");
    }
    assert!(most > 10, "the child never came far: {most}");
}
