//! What the bench measures must be true also where nobody waits for the big numbers.

use std::time::Duration;

use super::{Bench, Folder, Plan, Through};

fn bench(directory: &std::path::Path) -> Bench {
    let folder = Folder(directory.join("bench"));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let plan = Plan {
        directory: directory.to_owned(),
        postgres: None,
        through: Through::Flows,
        callers: vec![1],
        time: Duration::from_secs(1),
        entries: Vec::new(),
        items: 0,
        waits: 50,
    };
    let bench = Bench::new(plan, folder, 1).expect("a bench");
    bench.progress.finish_and_clear();
    bench
}

/// Pure and read 0 of their own, set and keyed 1, guarded 2; of eight in a row the last is written with the end of
/// the run, and neighbours share.
#[tokio::test]
async fn a_step_makes_no_more_durable_than_its_class_needs() {
    let directory = tempfile::tempdir().expect("a folder");
    let found = bench(directory.path()).writes().await.expect("measured");
    let found: Vec<String> = found
        .iter()
        .map(|it| format!("{} {:.2} {:.2}", it.class, it.effects, it.commits))
        .collect();
    assert_eq!(
        found,
        [
            "pure 0.00 0.00",
            "read 0.00 0.00",
            "set 0.00 0.88",
            "keyed 1.00 1.00",
            "guarded 2.00 1.00",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn all_callbacks_are_armed_and_answered() {
    let directory = tempfile::tempdir().expect("a folder");
    let found = bench(directory.path()).waits().await.expect("measured");
    let found = found.expect("it was asked for");
    assert_eq!(found.runs, 50);
    assert!(found.armed_per_second > 0.0 && found.answered_per_second > 0.0);
}
