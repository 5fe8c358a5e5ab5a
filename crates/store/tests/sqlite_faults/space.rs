//! Space is given back, receipts outlive a full disk, and a disk that fails at a checkpoint counts
//! as failed.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use semel_faults::{Fault, Lasting, On};
use semel_ledger::{Millis, Outcome};
use semel_store::{Location, ManualClock, Options, ReceiptFilter, Store};

use crate::Rig;
use crate::shared::{REMEMBER, START, Saying as _, claim, once, settle};

fn pages(path: &std::path::Path, pragma: &str) -> i64 {
    let connection = Connection::open(path).expect("the file opens");
    connection
        .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
        .expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_forgotten_is_given_back_to_the_file_system() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("semel.db");
    let clock = Arc::new(ManualClock::at(START));
    let options = Options {
        clock: Some(Arc::clone(&clock) as _),
        ..Options::default()
    };
    let store = Store::open(&Location::Sqlite(path.clone()), options).await;
    let store = store.expect("it opens");
    let long = format!("\"{}\"", "x".repeat(30_000));
    for number in 0..100 {
        let key = format!("k{number}");
        store.step(claim(&key, number)).await.expect("an answer");
        let done = settle(&key, number, Outcome::Done).result(&long);
        store.step(done).await.expect("an answer");
    }
    let before = pages(&path, "page_count");
    clock.advance(Millis(REMEMBER.0 + 1));
    let swept = store.sweep_bite(0).await.expect("a bite");
    assert_eq!(swept.swept, 100);
    store.give_back().await.expect("space is given back");
    let (after, free) = (pages(&path, "page_count"), pages(&path, "freelist_count"));
    assert_eq!(free, 0);
    assert!(after * 5 < before, "{before} pages became {after}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn receipts_wait_for_a_disk_that_is_full() {
    let rig = Rig::new("receipts-wait").await;
    let (store, disk) = (&rig.store, &rig.disk);
    store.step(once("done", 1)).await.expect("an answer");
    for number in 2..5 {
        store.step(claim("done", number)).await.expect("an answer");
    }
    disk.inject(Fault::full(disk.counts().writes + 1));
    assert!(store.write_receipts().await.is_err());
    assert!(disk.fired() > 0);
    disk.clear();
    store.write_receipts().await.expect("receipts");
    let record = store.load(&claim("done", 0).effect).await.expect("a read");
    assert_eq!(record.expect("a record").blocked, 3);
    let kept = store.receipts(&ReceiptFilter::default()).await;
    assert_eq!(kept.expect("receipts").items.len(), 0, "counted only");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fails_at_a_checkpoint_ends_the_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let vfs = "checkpoint-fails";
    let disk = semel_faults::Disk::register(vfs, directory.path()).expect("the name is free");
    let options = Options {
        vfs: Some(vfs.to_owned()),
        checkpoint_pages: 1,
        clock: Some(Arc::new(ManualClock::at(START)) as _),
        ..Options::default()
    };
    let location = Location::Sqlite(directory.path().join("semel.db"));
    let store = Store::open(&location, options).await.expect("it opens");
    // One sync for the commit; the next is that of the checkpoint behind it.
    let next = disk.counts().syncs + 2;
    disk.inject(Fault::io_error(On::Syncs, next, Lasting::FromThenOn));
    store.step(claim("a", 1)).await.expect("it is in the log");
    let failed = tokio::time::timeout(Duration::from_secs(20), store.failed());
    failed.await.expect("the store says that it failed");
    assert!(disk.fired() > 0);
    assert!(store.step(claim("b", 2)).await.is_err());
}
