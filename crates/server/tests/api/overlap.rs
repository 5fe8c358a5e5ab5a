//! Runs of one flow that would overlap.

use semel_store::run::RunState;
use serde_json::json;

use crate::working::{Working, run_of};

fn flow(policy: &str) -> String {
    format!(
        "\
name: one
on:
  webhook: {{path: /hooks/one, verify: none}}
key: one/${{{{ event.id }}}}
overlap: {{per: \"${{{{ event.who }}}}\", policy: {policy}}}
steps:
  - id: first
    http: {{post: \"https://sink.example/${{{{ event.id }}}}/first\"}}
  - id: second
    http: {{post: \"https://sink.example/${{{{ event.id }}}}/second\"}}
"
    )
}

const A: &str = "https://sink.example/a/";

#[tokio::test]
async fn queue() {
    let world = Working::new().await;
    world.deploy(&flow("queue")).await;
    world.sink.holds.send_replace(true);
    let a = world.hook("/hooks/one", json!({"id":"a","who":"x"})).await;
    world.sink.reached(1).await;
    let b = world.hook("/hooks/one", json!({"id":"b","who":"x"})).await;
    assert_eq!(b.json()["status"], "accepted");
    let c = world.hook("/hooks/one", json!({"id":"c","who":"y"})).await;
    world.sink.reached(2).await;
    assert_eq!(
        world.sink.seen(),
        [
            "https://sink.example/a/first",
            "https://sink.example/c/first"
        ],
        "another's does not wait"
    );
    world.sink.holds.send_replace(false);
    for run in [&a, &b, &c] {
        assert_eq!(world.settled(&run_of(run)).await, RunState::Done);
    }
    let seen = world.sink.seen();
    let ours: Vec<&str> = seen
        .iter()
        .filter_map(|url| url.strip_prefix("https://sink.example/"))
        .filter(|url| !url.starts_with('c'))
        .collect();
    assert_eq!(ours, ["a/first", "a/second", "b/first", "b/second"]);
}

#[tokio::test]
async fn skip() {
    let world = Working::new().await;
    world.deploy(&flow("skip")).await;
    world.sink.holds.send_replace(true);
    let a = world.hook("/hooks/one", json!({"id":"a","who":"x"})).await;
    world.sink.reached(1).await;
    for _ in 0..2 {
        let b = world.hook("/hooks/one", json!({"id":"b","who":"x"})).await;
        assert_eq!(b.status, 200);
        assert_eq!(b.json(), json!({"status":"skipped"}), "also when resent");
    }
    world.sink.holds.send_replace(false);
    assert_eq!(world.settled(&run_of(&a)).await, RunState::Done);
    assert_eq!(world.runs().await.len(), 1);
    assert!(world.sink.seen().iter().all(|url| url.starts_with(A)));
}

#[tokio::test]
async fn replace() {
    let world = Working::new().await;
    world.deploy(&flow("replace")).await;
    world.sink.holds.send_replace(true);
    let a = world.hook("/hooks/one", json!({"id":"a","who":"x"})).await;
    world.sink.reached(1).await;
    let b = world.hook("/hooks/one", json!({"id":"b","who":"x"})).await;
    assert_eq!(b.json()["status"], "accepted", "{}", b.text());
    world.sink.holds.send_replace(false);
    assert_eq!(world.settled(&run_of(&a)).await, RunState::Cancelled);
    assert_eq!(world.settled(&run_of(&b)).await, RunState::Done);
    let expected = ["a/first", "b/first", "b/second"];
    assert_eq!(
        world.sink.seen(),
        expected.map(|end| format!("https://sink.example/{end}"))
    );
}
