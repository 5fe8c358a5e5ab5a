//! What a store checks before it opens, and where its time starts.

use std::path::Path;

use rusqlite::Connection;
use semel_ledger::{Millis, Outcome, Time};
use semel_store::clock::wall_millis;
use semel_store::sqlite::NEWEST_SCHEMA;
use semel_store::{Clock as _, Location, OpenError, Options, SteadyClock, Store};

use crate::shared::runs::start;
use crate::shared::{REMEMBER, Saying as _, claim, import, settle};
use crate::{database, open, options};

fn ask<T: rusqlite::types::FromSql>(path: &Path, question: &str) -> T {
    let connection = Connection::open(path).expect("it opens");
    let answer = connection.query_row(question, [], |row| row.get(0));
    answer.expect("an answer")
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_untouched() {
    for journal in ["WAL", "DELETE"] {
        let (_directory, path) = database();
        let store = open(&path, options()).await;
        store.step(claim("a", 1)).await.expect("an answer");
        store.close().await.expect("it closes");
        drop(store);
        let newer = NEWEST_SCHEMA + 1;
        let connection = Connection::open(&path).expect("it opens");
        let set = format!("PRAGMA user_version = {newer}; PRAGMA journal_mode = {journal}");
        connection.execute_batch(&set).expect("it is set");
        connection.close().expect("it closes");

        let before = std::fs::read(&path).expect("the file");
        let opened = Store::open(&Location::Sqlite(path.clone()), options()).await;
        let Err(OpenError::Newer { found, known }) = opened else {
            panic!("{opened:?}");
        };
        assert_eq!((found, known), (newer, NEWEST_SCHEMA));
        let after = std::fs::read(&path).expect("the file");
        assert!(before == after, "{journal}: the file was changed");
    }
}

#[tokio::test]
async fn a_file_of_the_first_schema_is_brought_up_to_date() {
    let (_directory, path) = database();
    let first = include_str!("../../src/sqlite/migrations/0001_ledger.sql");
    let connection = Connection::open(&path).expect("it opens");
    connection
        .execute_batch(&format!("{first}; PRAGMA user_version = 1;"))
        .expect("it is made");
    let scope = "INSERT INTO scopes (name) VALUES ('mail'), ('orders')";
    connection.execute(scope, []).expect("it is written");
    connection.close().expect("it closes");

    let store = open(&path, options()).await;
    store.join("node").await.expect("it joins");
    store.start(start(1)).await.expect("an answer");
    let flow: String = ask(&path, "SELECT flow FROM run_list");
    assert_eq!(flow, "orders");
    assert_eq!(ask::<i64>(&path, "SELECT count(*) FROM scopes"), 2);
    assert_eq!(ask::<i64>(&path, "PRAGMA user_version"), NEWEST_SCHEMA);
}

#[tokio::test]
async fn a_journal_that_cannot_be_made_durable_is_refused() {
    let location = Location::Sqlite(":memory:".into());
    let opened = Store::open(&location, options()).await;
    let Err(OpenError::NotDurable { setting, .. }) = opened else {
        panic!("{opened:?}");
    };
    assert_eq!(setting, "journal_mode");
}

#[tokio::test]
async fn a_file_with_another_journal_is_brought_back_to_the_log() {
    let (_directory, path) = database();
    let store = open(&path, options()).await;
    store.close().await.expect("it closes");
    drop(store);
    let deletes: String = ask(&path, "PRAGMA journal_mode = DELETE");
    assert_eq!(deletes, "delete");
    let store = open(&path, options()).await;
    assert_eq!(ask::<String>(&path, "PRAGMA journal_mode"), "wal");
    store.step(claim("a", 1)).await.expect("an answer");
}

#[test]
fn a_steady_clock_never_goes_back() {
    let clock = SteadyClock::start(Time(0));
    assert!((clock.now().0 - wall_millis()).abs() < 60_000);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = clock.now();
                for _ in 0..100_000 {
                    let now = clock.now();
                    assert!(now >= last);
                    last = now;
                }
            });
        }
    });
    let floor = Time(wall_millis() + 3_600_000);
    assert!(SteadyClock::start(floor).now() >= floor);
}

/// A ledger with one settled effect, written by a clock that is ahead of ours.
async fn written_ahead(path: &Path, ahead: Millis) -> Time {
    let clock = SteadyClock::start(Time(wall_millis()).after(ahead));
    let clock = std::sync::Arc::new(clock);
    let options = Options {
        clock: Some(clock),
        ..Options::default()
    };
    let store = open(path, options).await;
    store.step(claim("a", 1)).await.expect("an answer");
    let settled = store.step(settle("a", 1, Outcome::Done)).await;
    store.close().await.expect("it closes");
    let entry = settled.expect("an answer").entry;
    entry.expect("an entry").changed_at
}

#[tokio::test]
async fn time_on_record_is_never_gone_back_on() {
    let (_directory, path) = database();
    let latest = written_ahead(&path, Millis::days(1)).await;
    let store = open(&path, Options::default()).await;
    assert!(store.now() >= latest);
    assert!(store.now() < latest.after(Millis::seconds(600)));
}

#[tokio::test]
async fn what_an_import_says_of_the_past_or_future_does_not_move_the_clock() {
    let (_directory, path) = database();
    let store = open(&path, Options::default()).await;
    let future = store.now().after(REMEMBER).after(REMEMBER);
    store
        .step(import("a", future).by("csv"))
        .await
        .expect("an answer");
    store.close().await.expect("it closes");
    let again = open(&path, Options::default()).await;
    assert!(
        again.now() < future,
        "everything would be forgotten at once"
    );
}

/// Opens the file as a process of this boot would, and tells how far its time is ahead of the wall.
async fn ahead_of_the_wall(path: &Path) -> i64 {
    let store = Store::open(&Location::Sqlite(path.to_owned()), Options::default()).await;
    let store = store.expect("it opens");
    let ahead = store.now().0 - wall_millis();
    store.close().await.expect("it closes");
    ahead
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wall_that_is_set_in_the_same_boot_is_not_followed() {
    const HOUR: i64 = 3_600_000;
    let (_directory, path) = database();
    assert!(ahead_of_the_wall(&path).await.abs() < 60_000);
    for hours in [1, -1, 24 * 365] {
        // As if the wall had been set by so much since the file was first opened.
        let connection = Connection::open(&path).expect("the file opens");
        let set = "UPDATE clock SET time = time + ?";
        connection.execute(set, [hours * HOUR]).expect("it is set");
        let ahead = ahead_of_the_wall(&path).await;
        assert!((ahead - hours * HOUR).abs() < 60_000, "{hours}: {ahead}");
        connection.execute(set, [-hours * HOUR]).expect("it is set");
    }
    let connection = Connection::open(&path).expect("the file opens");
    let reboot = "UPDATE clock SET boot = zeroblob(16), time = time + 3600000";
    connection.execute(reboot, []).expect("it is set");
    assert!(
        ahead_of_the_wall(&path).await.abs() < 60_000,
        "another boot asks the wall"
    );
}
