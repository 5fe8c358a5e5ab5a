//! Values that are taken back: each change of the run's own once, and nothing that it did not change.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use semel_engine::journal::Note;
use semel_ledger::{EffectId, Key, Scope, State as EffectState};
use semel_store::run::RunState;
use semel_store::{Change, Location, Options, Store};

use crate::kv::{put, value};
use crate::kv_killed::Wall;
use crate::world::{Node, Reply};

const BOOK: &str = "
name: book
on: manual
key: order/${{ event.id }}
steps:
  - id: seats
    kv: {add: 'seats/${{ event.show }}', by: -1}
    undo: {kv: {add: 'seats/${{ event.show }}', by: 1}}
  - id: first
    kv: {set_if_absent: 'first/${{ event.show }}', to: '${{ event.id }}'}
    undo: {kv: {delete: 'first/${{ event.show }}'}}
  - id: taken
    kv: {set_if_absent: 'taken/${{ event.show }}', to: '${{ event.id }}'}
    undo: {kv: {delete: 'taken/${{ event.show }}'}}
  - id: last
    kv: {set: 'last/${{ event.show }}', to: '${{ event.id }}'}
    undo: {kv: {swap: 'last/${{ event.show }}', from: '${{ event.id }}', to: null}}
  - id: look
    http: {get: 'http://w/look'}
";

const EVENT: &str = r#"{"id":1,"show":"s"}"#;

fn effect(step: &str) -> EffectId {
    let key = Key::from_parts(&["order", "1", step]).expect("a key");
    EffectId::new(Scope::new(&format!("book/{step}")).expect("a scope"), key)
}

/// What stands there before the run and must stand there when it was taken back.
async fn furnish(store: &Store) {
    put(store, "seats/s", "10").await;
    put(store, "taken/s", r#""somebody""#).await;
}

async fn stands_as_before(store: &Store, told: &str) {
    assert_eq!(value(store, "seats/s").await, "10", "{told}");
    assert_eq!(value(store, "first/s").await, "null", "{told}");
    assert_eq!(value(store, "taken/s").await, r#""somebody""#, "{told}");
    assert_eq!(value(store, "last/s").await, "null", "{told}");
}

#[tokio::test]
async fn a_failure_takes_values_back() {
    let node = Node::new().await;
    node.deploy(BOOK).await;
    furnish(node.engine.store()).await;
    node.world.will("http://w/look", &[Reply::Refused]);
    let run = node.start("book", EVENT).await.expect("first");
    let loaded = node.until(run, &[RunState::Undone]).await;
    let why = &loaded.run.why;
    // What it did not change it does not take back.
    assert!(why.ends_with("undone: last, first, seats"), "{why}");
    stands_as_before(node.engine.store(), why).await;
    for (step, state) in [
        ("seats", EffectState::Undone),
        ("taken", EffectState::Done),
        ("seats/undo", EffectState::Done),
    ] {
        let record = if let Some(of) = step.strip_suffix("/undo") {
            let undo = Scope::new(&format!("book/{step}")).expect("a scope");
            EffectId::new(undo, effect(of).key)
        } else {
            effect(step)
        };
        let record = node.engine.store().load(&record).await.expect("read");
        assert_eq!(record.expect("on record").entry.state, state, "{step}");
    }
}

/// What cannot be taken back waits for a person, as any undo does.
#[tokio::test]
async fn a_value_that_cannot_be_taken_back_waits_for_a_person() {
    let node = Node::new().await;
    node.deploy(BOOK).await;
    furnish(node.engine.store()).await;
    node.world
        .will("http://w/look", &[Reply::Held, Reply::Refused]);
    let run = node.start("book", EVENT).await.expect("first");
    node.world.hanging.notified().await;
    put(node.engine.store(), "seats/s", r#""closed""#).await;
    let undo = Note::Cancel {
        by: "ada".into(),
        undo: true,
    };
    assert!(node.engine.tell(run, &undo).await.expect("told"));
    node.world.let_go.notify_one();
    let loaded = node.until(run, &[RunState::Parked]).await;
    let why = &loaded.run.why;
    assert!(why.starts_with("seats/undo: kv: "), "{why}");
    assert_eq!(value(node.engine.store(), "first/s").await, "null");
}

/// A run whose node dies at its commit of that number, before or behind it, and which is cancelled before another
/// node takes it up; false if it has no such commit.
async fn dies_at(number: u32, behind: bool) -> bool {
    let root = Store::open(&Location::Memory, Options::default()).await;
    let root = root.expect("a store");
    let wall = Wall::new(behind);
    let walled = root.beside(Some(Arc::clone(&wall) as _));
    let node = Node::on(Arc::new(walled.expect("in memory")), Arc::default(), None).await;
    node.deploy(BOOK).await;
    furnish(&root).await;
    node.world.will("http://w/look", &[Reply::Hangs]);
    let run = node.start("book", EVENT).await.expect("first");
    wall.left.store(number, Ordering::SeqCst);
    let died = tokio::select! {
        () = wall.reached.notified() => true,
        () = node.world.hanging.notified() => false,
    };
    let (_, world) = node.kill();
    let undo = Note::Cancel {
        by: "ada".into(),
        undo: true,
    };
    let note = serde_json::to_string(&undo).expect("JSON").into();
    let told = root.commit(vec![Change::Mail { run, note }]).await;
    told.expect("told");
    let other = Arc::new(root.beside(None).expect("in memory"));
    let after = Node::on(other, world, None).await;
    let over = [RunState::Undone, RunState::Cancelled, RunState::Parked];
    let loaded = after.until(run, &over).await;
    let told = format!("{number} {behind}: {loaded:#?}");
    assert_ne!(loaded.run.state, RunState::Parked, "{told}");
    stands_as_before(&root, &told).await;
    died
}

#[tokio::test]
async fn at_whichever_commit_a_node_dies_values_are_taken_back() {
    for behind in [false, true] {
        let mut number = 0;
        while dies_at(number, behind).await {
            number += 1;
        }
        assert!(number >= 4, "taken, and three values: {number}");
    }
}
