//! Values under keys: each step changes them once, whatever happens to the node or the run.

use std::sync::Arc;

use semel_ledger::json::Canonical;
use semel_ledger::{Millis, Time};
use semel_store::kv::{KvChange, KvFilter, KvKey, KvOp, KvValue};
use semel_store::run::{Loaded, RunState};
use semel_store::{Location, ManualClock, Options, Store};

use crate::world::{Node, Reply};

pub(crate) fn key(text: &str) -> KvKey {
    KvKey::new(text.parse().expect("a key")).expect("a short one")
}

/// What is under a key, as JSON.
pub(crate) async fn value(store: &Store, name: &str) -> String {
    let found = store.kv(&key(name)).await.expect("readable");
    found.map_or("null".to_owned(), |entry| entry.value.as_str().to_owned())
}

pub(crate) async fn put(store: &Store, name: &str, json: &str) {
    let to = Canonical::read(json.as_bytes()).expect("JSON");
    let to = KvValue::new(to).expect("a short one");
    let change = KvChange {
        once: None,
        key: key(name),
        op: KvOp::Set { to, ttl: None },
        by: None,
    };
    store.operate(change).await.expect("put");
}

/// The results that a run's journal tells of, by step.
pub(crate) fn result(loaded: &Loaded, step: &str) -> String {
    let happenings = loaded.journal.iter().flat_map(|row| {
        let row: Vec<serde_json::Value> = serde_json::from_str(&row.row).expect("a row");
        row
    });
    let mut done = happenings.filter_map(|it| {
        let done = it.get("done")?;
        (done["step"] == step).then(|| done["result"]["is"].to_string())
    });
    done.next().unwrap_or_else(|| panic!("{step}: {loaded:#?}"))
}

pub(crate) const COUNT: &str = "
name: count
on: manual
key: order/${{ event.id }}
steps:
  - id: one
    kv: {add: 'orders/${{ event.shop }}'}
  - id: cents
    kv: {add: 'cents/${{ event.shop }}', by: '${{ event.amount }}'}
    result: before
";

#[tokio::test]
async fn each_run_adds_once_and_the_same_event_not_again() {
    let node = Node::new().await;
    node.deploy(COUNT).await;
    let event = |id: u32| format!(r#"{{"id":{id},"shop":"a/b","amount":0.1}}"#);
    let mut last = None;
    for id in [1, 2, 1, 3, 3] {
        if let Some(run) = node.start("count", &event(id)).await {
            last = Some(node.done(run).await);
        }
    }
    let store = node.engine.store();
    assert_eq!(value(store, "orders/a%2Fb").await, "3");
    assert_eq!(value(store, "cents/a%2Fb").await, "0.3");
    let last = last.expect("a run");
    assert_eq!(result(&last, "one"), "3");
    assert_eq!(result(&last, "cents"), "0.2");
}

#[tokio::test]
async fn runs_that_add_at_the_same_time_all_count() {
    let node = Node::new().await;
    node.deploy(COUNT).await;
    let mut runs = Vec::new();
    for id in 0..20 {
        let event = format!(r#"{{"id":{id},"shop":"s","amount":1}}"#);
        runs.push(node.start("count", &event).await.expect("first"));
    }
    let mut seen = Vec::new();
    for run in runs {
        let number = result(&node.done(run).await, "one");
        seen.push(number.parse::<u32>().expect("a number"));
    }
    seen.sort_unstable();
    assert_eq!(seen, (1..=20).collect::<Vec<_>>(), "no number twice");
    assert_eq!(value(node.engine.store(), "orders/s").await, "20");
}

#[tokio::test]
async fn doing_a_run_again_does_not_add_again() {
    let node = Node::new().await;
    let failing = COUNT.to_owned() + "  - id: call\n    http: {post: 'http://w/call'}\n";
    node.deploy(&failing).await;
    node.world.will("http://w/call", &[Reply::Refused]);
    let event = r#"{"id":1,"shop":"s","amount":2}"#;
    let run = node.start("count", event).await.expect("first");
    node.until(run, &[RunState::Failed]).await;
    let plan = node.engine.plan(run, None).await.expect("a plan");
    let again = node.engine.rerun(run, None, &plan.hash, "ada").await;
    node.done(again.expect("started")).await;
    assert_eq!(value(node.engine.store(), "orders/s").await, "1");
    assert_eq!(value(node.engine.store(), "cents/s").await, "2");
    assert_eq!(node.world.saw("http://w/call"), 1);
}

const SHARED: &str = "
name: NAME
on: manual
key: NAME/${{ event.id }}
steps:
  - id: first
    key: welcome/${{ event.id }}
    scope: welcome
    kv: {set_if_absent: 'welcome/${{ event.id }}', to: '${{ event.id }}'}
  - id: told
    if: steps.first.result
    http: {post: 'http://w/told'}
";

#[tokio::test]
async fn another_run_of_the_same_effect_is_told_what_came_of_the_first() {
    let node = Node::new().await;
    for name in ["a", "b"] {
        node.deploy(&SHARED.replace("NAME", name)).await;
        let run = node.start(name, r#"{"id":1}"#).await.expect("first");
        let loaded = node.done(run).await;
        assert_eq!(result(&loaded, "first"), "true");
        let rows: String = loaded.journal.iter().map(|row| row.row.as_ref()).collect();
        assert_eq!(rows.contains("reused"), name == "b", "{rows}");
    }
    assert_eq!(value(node.engine.store(), "welcome/1").await, "1");
}

const SWAP: &str = "
name: swap
on: manual
key: swap/${{ event.id }}
steps:
  - id: turn
    kv: {swap: turn, from: '${{ event.from }}', to: '${{ event.id }}'}
  - id: then
    http: {post: 'http://w/then'}
";

#[tokio::test]
async fn a_lost_race_stays_lost() {
    let node = Node::new().await;
    node.deploy(SWAP).await;
    let first = node.start("swap", r#"{"id":"a","from":null}"#).await;
    let first = node.done(first.expect("first")).await;
    assert_eq!(result(&first, "turn"), "true");
    node.world.will("http://w/then", &[Reply::Refused]);
    let late = node.start("swap", r#"{"id":"b","from":null}"#).await;
    let late = late.expect("first");
    let loaded = node.until(late, &[RunState::Failed]).await;
    assert_eq!(result(&loaded, "turn"), "false");
    // Now it could be swapped, but the race was lost before.
    put(node.engine.store(), "turn", "null").await;
    let plan = node.engine.plan(late, None).await.expect("a plan");
    let again = node.engine.rerun(late, None, &plan.hash, "ada").await;
    node.done(again.expect("started")).await;
    assert_eq!(value(node.engine.store(), "turn").await, "null");
}

const OWN: &str = "
name: own
on: manual
key: own/${{ event.id }}
steps:
  - id: put
    kv: {set: 'k/1', to: {a: 1}}
  - id: read
    kv: {get: 'k/1'}
  - id: number
    kv: {set: 'k/1', to: 41}
  - id: more
    kv: {add: 'k/1'}
  - id: away
    kv: {delete: 'k/1'}
  - id: none
    kv: {get: 'k/1'}
  - id: last
    kv: {set_if_absent: 'k/1', to: '${{ steps.more.result }}'}
  - id: each
    for_each: '[1, 2]'
    key: i/${{ item }}
    steps:
      - id: inner
        kv: {add: 'k/1', by: '${{ item * 100 }}'}
";

#[tokio::test]
async fn a_run_sees_what_it_did_itself() {
    let node = Node::new().await;
    node.deploy(OWN).await;
    let run = node.start("own", r#"{"id":1}"#).await.expect("first");
    let loaded = node.done(run).await;
    for (step, expected) in [
        ("put", "null"),
        ("read", r#"{"a":1}"#),
        ("more", "42"),
        ("none", "null"),
        ("last", "true"),
    ] {
        assert_eq!(result(&loaded, step), expected, "{step}");
    }
    assert_eq!(value(node.engine.store(), "k/1").await, "342");
}

#[tokio::test]
async fn what_is_wrong_is_said_and_changes_nothing() {
    for (step, expected) in [
        (
            "{add: text}",
            "under `text` is text, and `add` needs a number there",
        ),
        (
            "{add: 'n', by: '${{ event.id }}'}",
            "kv.by: a number is due here, not text",
        ),
        (
            "{set: 'k', to: {a: ['${{ token }}']}}",
            "kv.to: a secret cannot be kept; write `secrets.NAME` where it is sent",
        ),
        (
            "{set: 'k', to: '${{ event.long }}'}",
            "kv.to: the value has 65537 bytes of JSON; the limit is 65536: keep large things elsewhere, and their name here",
        ),
        ("{get: 'k/${{ event.none }}'}", "kv.get: "),
    ] {
        let node = Node::new().await;
        let store = node.engine.store();
        put(store, "text", r#""many""#).await;
        let lets = "let: {token: secrets.TOKEN}";
        let source = format!("name: f\non: manual\nkey: f/${{{{ event.id }}}}\n{lets}\n");
        let steps = format!("steps: [{{id: it, kv: {step}}}]\n");
        node.deploy(&(source + &steps)).await;
        let long = "x".repeat(65_535);
        let event = format!(r#"{{"id":"1","none":null,"long":"{long}"}}"#);
        let run = node.start("f", &event).await.expect("first");
        let loaded = node.until(run, &[RunState::Failed]).await;
        assert!(loaded.run.why.contains(expected), "{}", loaded.run.why);
        let filter = KvFilter {
            limit: 10,
            ..KvFilter::default()
        };
        let all = store.kv_list(&filter).await.expect("a list");
        assert_eq!(all.items.len(), 1, "{step}");
    }
}

#[tokio::test]
async fn what_has_expired_is_absent() {
    let clock = Arc::new(ManualClock::at(Time(1_700_000_000_000)));
    let options = Options {
        clock: Some(Arc::clone(&clock) as _),
        ..Options::default()
    };
    let store = Store::open(&Location::Memory, options).await;
    let node = Node::on(Arc::new(store.expect("a store")), Arc::default(), None).await;
    let seen = "
name: seen
on: manual
key: seen/${{ event.id }}
steps:
  - id: first
    kv: {set_if_absent: seen, to: 1, ttl: 1h}
  - id: today
    kv: {add: today, ttl: 1h}
";
    node.deploy(seen).await;
    for (id, passes, first, today) in [
        (1, 0, "true", "1"),
        (2, 3_599, "false", "2"),
        (3, 1, "true", "1"),
    ] {
        clock.advance(Millis::seconds(passes));
        let event = format!(r#"{{"id":{id}}}"#);
        let run = node.start("seen", &event).await.expect("first");
        let loaded = node.done(run).await;
        assert_eq!(result(&loaded, "first"), first, "{id}");
        assert_eq!(result(&loaded, "today"), today, "{id}");
    }
}
