//! SIGKILL before and after every write and every sync of a short life.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;

use semel_faults::{Disk, Fault, Moment, On};
use semel_store::{Location, ManualClock, Store};

use crate::script::{expected, losses, options, perform, script};
use crate::shared::START;
use crate::shared::history::History;

const SIGKILL: i32 = 9;
const THREADS: usize = 4;
const NAME: &str = "kill::a_kill_at_any_write_or_sync_loses_nothing_acknowledged";

/// The test runs its own binary anew with these set.
const DIRECTORY: &str = "SEMEL_TEST_KILL_DIRECTORY";
const PLAN: &str = "SEMEL_TEST_KILL_PLAN";
const MOMENTS: [(&str, Moment); 2] = [("before", Moment::Before), ("after", Moment::After)];

/// Lives the script and says the number of each act that was acknowledged.
fn live(directory: &Path, disk: &Disk, vfs: &str) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(async {
        let clock = Arc::new(ManualClock::at(START));
        let location = Location::Sqlite(directory.join("semel.db"));
        let store = Store::open(&location, options(&clock, Some(vfs))).await;
        let store = store.expect("it opens");
        for (number, act) in (1..).zip(script()) {
            perform(&store, &clock, &act).await.expect("it is done");
            println!("acknowledged {number}");
        }
        store.close().await.expect("it closes");
    });
    let counts = disk.counts();
    counts.writes + counts.syncs
}

fn child(directory: &Path) {
    let plan = std::env::var(PLAN).expect("the parent sets the plan");
    let (moment, nth) = plan.split_once(' ').expect("the plan has two parts");
    let named = |(name, _): &(&str, Moment)| *name == moment;
    let (_, moment) = MOMENTS.into_iter().find(named).expect("a moment");
    let disk = Disk::register("kill", directory).expect("the name is free");
    let nth = nth.parse().expect("a number");
    disk.inject(Fault::kill(On::WritesAndSyncs, nth, moment));
    live(directory, &disk, "kill");
}

/// Runs the child until it is killed; gives the last act that it acknowledged, 0 if none.
fn run_until_killed(directory: &Path, plan: &str) -> usize {
    let program = std::env::current_exe().expect("the test has a binary");
    let output = Command::new(program)
        .args(["--exact", NAME, "--nocapture"])
        .env(DIRECTORY, directory)
        .env(PLAN, plan)
        .output()
        .expect("the child starts");
    let status = output.status;
    assert_eq!(status.signal(), Some(SIGKILL), "{plan}: {status}");
    let said = String::from_utf8(output.stdout).expect("the child says text");
    let mut numbers = said
        .lines()
        .filter_map(|line| line.split_once("acknowledged "));
    let last = numbers.next_back().map(|(_, number)| number.parse());
    last.map_or(0, |number| number.expect("a number"))
}

/// Kills one child as planned; gives how far it came.
fn kill_one(history: &History, plan: &str) -> usize {
    let directory = tempfile::tempdir().expect("a directory");
    let acts = run_until_killed(directory.path(), plan);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    let path = directory.path().join("semel.db");
    let lost = runtime.block_on(losses(&path, history, acts));
    assert_eq!(lost, Vec::<String>::new(), "{plan}, {acts} acts");
    acts
}

#[test]
fn a_kill_at_any_write_or_sync_loses_nothing_acknowledged() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return child(Path::new(&directory));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let disk = Disk::register("kill-count", directory.path()).expect("the name is free");
    let operations = live(directory.path(), &disk, "kill-count");
    assert!(operations > 100, "only {operations} operations");
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let history = runtime.expect("a runtime").block_on(expected());

    let next = AtomicU64::new(1);
    let reached = std::thread::scope(|scope| {
        let kill_some = || {
            let mut most = 0;
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                if nth > operations {
                    return most;
                }
                for (moment, _) in MOMENTS {
                    most = most.max(kill_one(&history, &format!("{moment} {nth}")));
                }
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(kill_some)).collect();
        let reached = threads.into_iter().map(ScopedJoinHandle::join);
        reached.map(|most| most.expect("no loss")).max()
    });
    println!(
        "killed {} times, nothing acknowledged was lost",
        operations * 2
    );
    assert_eq!(reached, Some(script().len()), "none came to the end");
}
