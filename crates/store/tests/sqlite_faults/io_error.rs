//! A disk that cannot write or sync: the store says so and ends, and what was acknowledged before
//! is there after a restart, even if the power goes too.

use std::sync::Arc;
use std::time::Duration;

use semel_faults::{Disk, Fault, Lasting, On, Survival};
use semel_store::{Location, ManualClock, Store, StoreError};

use crate::Rig;
use crate::script::{expected, losses, options, perform, script};
use crate::shared::history::History;
use crate::shared::{START, claim, once};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_sync_ends_the_store() {
    let rig = Rig::new("sync-fails").await;
    fails(&rig, On::Syncs, rig.disk.counts().syncs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_write_ends_the_store() {
    let rig = Rig::new("write-fails").await;
    fails(&rig, On::Writes, rig.disk.counts().writes).await;
}

async fn fails(rig: &Rig, on: On, so_far: u64) {
    let (store, disk) = (&rig.store, &rig.disk);
    store.step(once("done", 1)).await.expect("an answer");
    // Only once: what the operating system reports once it never reports again.
    disk.inject(Fault::io_error(on, so_far + 1, Lasting::Once));
    let answer = store.step(claim("a", 2)).await;
    assert!(
        matches!(answer, Err(StoreError::Failed { .. })),
        "{answer:?}"
    );
    assert_eq!(disk.fired(), 1);
    tokio::time::timeout(Duration::from_secs(30), store.failed())
        .await
        .expect("whoever waits for the failure learns of it");
    for change in [claim("b", 3), claim("done", 4), once("c", 5)] {
        let answer = store.step(change).await;
        let ended = matches!(answer, Err(StoreError::Closed | StoreError::Failed { .. }));
        assert!(ended, "{answer:?}");
    }
    let answer = store.commit(vec![claim("d", 6).into()]).await;
    assert!(answer.is_err(), "{answer:?}");
}

/// Lives the script over a disk with one failed operation; gives the acts that were acknowledged,
/// or `None` if the store did not even open.
async fn live_until_failed(disk: &Disk, path: &std::path::Path, vfs: &str) -> Option<usize> {
    let clock = Arc::new(ManualClock::at(START));
    let location = Location::Sqlite(path.to_owned());
    let opened = Store::open(&location, options(&clock, Some(vfs))).await;
    let store = opened.ok()?;
    let mut acknowledged = 0;
    let mut failed = false;
    for (number, act) in (1..).zip(script()) {
        let answer = perform(&store, &clock, &act).await;
        // An act that writes nothing may still be answered; nothing else may.
        failed |= answer.is_err();
        if !failed {
            acknowledged = number;
        }
    }
    assert!(disk.fired() > 0 || !failed);
    let _ = store.close().await;
    Some(acknowledged)
}

async fn check(history: &History, on: On, nth: u64) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let vfs = format!("fails-at-{on:?}-{nth}");
    let disk = Disk::register(&vfs, directory.path()).expect("the name is free");
    disk.inject(Fault::io_error(on, nth, Lasting::Once));
    let path = directory.path().join("semel.db");
    let Some(acts) = live_until_failed(&disk, &path, &vfs).await else {
        return false;
    };
    let cut = disk.position();
    for survival in Survival::ALL {
        let directory = tempfile::tempdir().expect("a directory");
        let image = disk.image(cut, survival, nth);
        image.write_to(directory.path()).expect("it is written");
        let path = directory.path().join("semel.db");
        let lost = losses(&path, history, acts).await;
        assert_eq!(
            lost,
            Vec::<String>::new(),
            "{vfs}, {acts} acts, {survival:?}"
        );
    }
    acts < script().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_at_any_sync_or_write_loses_nothing_acknowledged() {
    let history = expected().await;
    let mut failed = 0;
    for nth in 1..40 {
        failed += usize::from(check(&history, On::Syncs, nth).await);
    }
    for nth in (30..220).step_by(7) {
        failed += usize::from(check(&history, On::Writes, nth).await);
    }
    assert!(failed > 20, "the store failed only {failed} times");
}
