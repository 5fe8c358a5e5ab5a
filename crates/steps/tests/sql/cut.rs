//! The wire is cut at every moment of a step, and the rows are counted.

use semel_act::{Perform as _, Task};

use crate::proxy::{Cut, Proxy};
use crate::receipts::{add, with_receipt, world_with_entries};
use crate::world::{Kind, World};
use crate::{Sent, message, perform, sql, steps, word};

/// More messages than a step has, with the handshake.
const MOST: usize = 60;

/// Performs through a proxy that cuts at that moment; `None` if the step ended before it.
async fn cut_at(world: &World, cut: Cut, task: &Task) -> Option<(&'static str, usize, String)> {
    let server = world.server.as_deref().expect("a server");
    let proxy = Proxy::new(server, cut, false).await;
    let steps = steps(&world.through(&proxy.address));
    let (outcome, sent) = perform(&steps, task).await;
    let cut = proxy.has_cut();
    cut.then(|| (word(&outcome), sent, message(&outcome)))
}

/// Cut at each message, with a mark: whatever the step says is true, and performing it again makes
/// exactly one row of it.
async fn once_with_a_mark(kind: Kind) {
    let world = world_with_entries(kind).await;
    let add = add(&world);
    let mut seen = Vec::new();
    for number in 1..MOST {
        let mut over = 0;
        for cut in [Cut::Before(number), Cut::After(number)] {
            world.exec("DELETE FROM entries").await;
            world.exec("DROP TABLE IF EXISTS semel_receipts").await;
            let Some((known, _, message)) = cut_at(&world, cut, &add).await else {
                over += 1;
                continue;
            };
            let rows = world.count("entries").await;
            let expected = match known {
                "done" => "1",
                "never_sent" | "transient" => "0",
                other => panic!("{cut:?}: {other}: {message}"),
            };
            assert_eq!(rows, expected, "{cut:?}: {known}: {message}");
            seen.push(known);
            let (again, _) = perform(&steps(&world.url), &add).await;
            assert_eq!(word(&again), "done", "{cut:?}");
            assert_eq!(world.count("entries").await, "1", "{cut:?}");
        }
        if over == 2 {
            break;
        }
    }
    // All three have been seen, so the cuts were where they should be.
    for known in ["never_sent", "transient", "done"] {
        assert!(seen.contains(&known), "{known} not in {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_once_with_a_mark() {
    once_with_a_mark(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_once_with_a_mark() {
    once_with_a_mark(Kind::Mariadb).await;
}

/// Cut at each message, without a mark: what is said to have failed did not happen, and unknown is
/// only what was committed or could have been.
async fn honest_without_a_mark(kind: Kind) {
    let world = world_with_entries(kind).await;
    let add = sql("run", "INSERT INTO entries VALUES ('x')", "[]");
    let mut unknown = Vec::new();
    for number in 1..MOST {
        let mut over = 0;
        for cut in [Cut::Before(number), Cut::After(number)] {
            world.exec("DELETE FROM entries").await;
            let Some((known, sent, message)) = cut_at(&world, cut, &add).await else {
                over += 1;
                continue;
            };
            let rows = world.count("entries").await;
            match known {
                "done" => assert_eq!(rows, "1", "{cut:?}"),
                "unknown" => {
                    assert_eq!(sent, 1, "{cut:?}");
                    unknown.push((cut, rows));
                }
                _ => {
                    assert_eq!(sent, 0, "{cut:?}: {known}: {message}");
                    assert_eq!(rows, "0", "{cut:?}: {known}: {message}");
                }
            }
        }
        if over == 2 {
            break;
        }
    }
    // Only COMMIT is unknown: once it had not arrived, once its answer was lost.
    let rows: Vec<_> = unknown.iter().map(|(_, rows)| rows.as_str()).collect();
    assert_eq!(rows, ["0", "1"], "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_honest_without_a_mark() {
    honest_without_a_mark(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_honest_without_a_mark() {
    honest_without_a_mark(Kind::Mariadb).await;
}

/// If nobody answers any more, a mark does not help: it is unknown, and the next time finds it.
async fn unknown_if_nobody_can_be_asked(kind: Kind) {
    for (cut, rows) in [
        (Cut::BeforeEnd("COMMIT"), "0"),
        (Cut::AfterEnd("COMMIT"), "1"),
    ] {
        let world = world_with_entries(kind).await;
        let server = world.server.as_deref().expect("a server");
        let proxy = Proxy::new(server, cut, true).await;
        let add = add(&world);
        let (outcome, sent) = perform(&steps(&world.through(&proxy.address)), &add).await;
        assert_eq!(word(&outcome), "unknown", "{}", message(&outcome));
        assert_eq!(sent, 1);
        assert_eq!(world.count("entries").await, rows);
        let (again, _) = perform(&steps(&world.url), &add).await;
        assert_eq!(word(&again), "done", "{}", message(&again));
        assert_eq!(world.count("entries").await, "1");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_unknown_if_nobody_can_be_asked() {
    unknown_if_nobody_can_be_asked(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_unknown_if_nobody_can_be_asked() {
    unknown_if_nobody_can_be_asked(Kind::Mariadb).await;
}

/// A step that is dropped before it commits leaves nothing behind.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_before_commit_is_not_done() {
    for kind in [Kind::Postgres, Kind::Mariadb, Kind::Sqlite] {
        let world = world_with_entries(kind).await;
        let steps = steps(&world.url);
        // A row that takes long to make.
        let slow = match kind {
            Kind::Postgres => "INSERT INTO entries SELECT 'x' FROM pg_sleep(3600)",
            Kind::Mariadb => "INSERT INTO entries SELECT SLEEP(3600)",
            Kind::Sqlite => {
                "INSERT INTO entries WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                 SELECT 'x' FROM n WHERE i < 0"
            }
        };
        let mut task = with_receipt(sql("run", slow, "[]"));
        task.timeout = semel_ledger::Millis(1500);
        let (outcome, sent) = perform(&steps, &task).await;
        assert_eq!(
            word(&outcome),
            "transient",
            "{kind:?}: {}",
            message(&outcome)
        );
        assert_eq!(sent, 0);
        let sent = Sent::default();
        let short = std::time::Duration::from_millis(300);
        let dropped = tokio::time::timeout(short, steps.perform(&task, &sent)).await;
        assert!(dropped.is_err());
        if kind == Kind::Sqlite {
            // The writer's lock is free again as soon as the statement has been interrupted.
            world.exec("PRAGMA busy_timeout = 5000").await;
        }
        assert_eq!(world.count("entries").await, "0", "{kind:?}");
    }
}
