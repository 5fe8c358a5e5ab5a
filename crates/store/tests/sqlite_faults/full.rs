//! No space left: nothing is half written, reads go on, and writes too once there is space.

use std::sync::Arc;

use semel_faults::{Disk, Fault};
use semel_ledger::{Outcome, State, Verdict};
use semel_store::{Filter, Location, ManualClock, Store, StoreError};

use crate::Rig;
use crate::script::{Act, expected, losses, options, perform, script};
use crate::shared::{START, Saying as _, claim, effect, once, settle};

fn is_full<T: std::fmt::Debug>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Full { .. }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_writes_and_answers_reads() {
    let rig = Rig::new("full").await;
    let (store, disk) = (&rig.store, &rig.disk);
    store.step(claim("held", 1)).await.expect("an answer");
    store.step(once("done", 2)).await.expect("an answer");
    disk.inject(Fault::full(disk.counts().writes + 1));

    for change in [
        claim("new", 3),
        settle("held", 1, Outcome::Done).result("1"),
        once("beside", 4),
    ] {
        let answer = store.step(change).await;
        assert!(is_full(&answer), "{answer:?}");
    }
    assert!(disk.fired() > 0);
    let held = store.load(&effect("held")).await.expect("a read");
    assert_eq!(held.expect("a record").entry.state, State::Claimed);
    let page = store.list(&Filter::default()).await.expect("a page");
    assert_eq!(page.items.len(), 1);
    let refused = store.step(claim("done", 5)).await.expect("an answer");
    assert_eq!(refused.verdict, Verdict::Done);

    disk.clear();
    assert_eq!(store.load(&effect("new")).await.expect("a read"), None);
    let granted = store.step(claim("new", 6)).await.expect("an answer");
    assert_eq!(granted.verdict, Verdict::Granted);
    let settled = store.step(settle("held", 1, Outcome::Done)).await;
    let settled = settled.expect("an answer").verdict;
    assert_eq!(settled, Verdict::Settled { again: false });
}

/// Lives the script on a disk that is full from its n-th write on, until somebody makes space.
async fn live_through(nth: u64) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let vfs = format!("full-at-{nth}");
    let disk = Disk::register(&vfs, directory.path()).expect("the name is free");
    let clock = Arc::new(ManualClock::at(START));
    let path = directory.path().join("semel.db");
    let location = Location::Sqlite(path.clone());
    let store = Store::open(&location, options(&clock, Some(&vfs))).await;
    let store = store.expect("it opens");
    disk.inject(Fault::full(disk.counts().writes + nth));
    let mut met = false;
    for act in script() {
        let mut answer = perform(&store, &clock, &act).await;
        if is_full(&answer) {
            met = true;
            disk.clear();
            answer = match act {
                // Receipts that could not be written are lost, and only they.
                Act::WriteReceipts => Ok(()),
                _ => perform(&store, &clock, &act).await,
            };
        }
        answer.unwrap_or_else(|error| panic!("{nth}, {act:?}: {error:?}"));
    }
    store.close().await.expect("it closes");
    drop(store);
    let mut history = expected().await;
    history.forget_receipts();
    let lost = losses(&path, &history, script().len()).await;
    assert_eq!(lost, Vec::<String>::new(), "full at {nth}");
    met
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fills_at_any_write_loses_nothing() {
    let mut met = 0;
    for nth in (1..120).step_by(3) {
        met += usize::from(live_through(nth).await);
    }
    assert!(met > 20, "only {met} writes were refused");
}
