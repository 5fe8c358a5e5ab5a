//! A node that is killed around the commits of its values: each add is done once.

use std::path::Path;
use std::sync::Arc;

use semel_ledger::json::Canonical;
use semel_ledger::{
    Claim, Command, EffectId, Fence, Fingerprint, Key, Millis, OnUnknown, Owner, Scope,
};
use semel_store::kv::{KvChange, KvOp};
use semel_store::store::random_bytes;
use semel_store::{Content, EffectChange, Location, Options, Store};

use crate::kv::{COUNT, key, result, value};
use crate::world::{Node, Reply, World};

const EVENT: &str = r#"{"id":1,"shop":"s","amount":2}"#;

async fn open(directory: &Path) -> Arc<Store> {
    let location = Location::Sqlite(directory.join("semel.db"));
    let store = Store::open(&location, Options::default()).await;
    Arc::new(store.expect("a store"))
}

/// The node died when the number and the effect were written, and the run's row was not.
#[tokio::test]
async fn what_the_store_has_and_the_row_has_not_is_taken_up() {
    let node = Node::new().await;
    node.deploy(COUNT).await;
    let store = node.engine.store();
    let run = store.new_run_id();
    let input = Canonical::read(br#"{"add":"orders/s"}"#).expect("JSON");
    let scope = Scope::new("count/one").expect("a scope");
    let effect = Key::from_parts(&["order", "1", "one"]).expect("a key");
    let claim = Claim {
        fence: Fence(random_bytes()),
        owner: Owner::Client,
        fingerprint: Some(Fingerprint::of(&input)),
        on_unknown: None::<OnUnknown>,
        lease: Millis(0),
        remember: Millis::days(1),
    };
    let once = EffectChange {
        effect: EffectId::new(scope, effect),
        command: Command::Once(claim),
        content: Content {
            input: Some(input),
            by: Some(run.text().into()),
            ..Content::default()
        },
    };
    let left = KvChange {
        once: Some(once),
        key: key("orders/s"),
        op: KvOp::Add {
            by: Canonical::trusted("1".into()),
            ttl: None,
        },
        by: None,
    };
    store.operate(left).await.expect("written");
    node.start_as(run, "count", EVENT).await.expect("first");
    let loaded = node.done(run).await;
    assert_eq!(result(&loaded, "one"), "1");
    let rows: String = loaded.journal.iter().map(|row| row.row.as_ref()).collect();
    assert!(!rows.contains("reused"), "it is its own: {rows}");
    assert_eq!(value(store, "orders/s").await, "1");
    assert_eq!(value(store, "cents/s").await, "2");
}

/// Killed after so many turns of the run's task: before, between and behind its commits.
#[tokio::test]
async fn whenever_a_node_is_killed_each_add_is_done_once() {
    for moment in 0..50 {
        let dir = tempfile::tempdir().expect("dir");
        let store = open(dir.path()).await;
        let before = Node::on(store, Arc::default(), Some(dir.path())).await;
        before.deploy(COUNT).await;
        let run = before.start("count", EVENT).await.expect("first");
        for _ in 0..moment {
            tokio::task::yield_now().await;
        }
        let (store, world) = before.kill();
        let after = Node::on(store, world, Some(dir.path())).await;
        let loaded = after.done(run).await;
        assert_eq!(result(&loaded, "one"), "1", "{moment}");
        let store = after.engine.store();
        assert_eq!(value(store, "orders/s").await, "1", "{moment}");
        assert_eq!(value(store, "cents/s").await, "2", "{moment}");
    }
}

/// Killed while the step after the adds is under way, twice.
#[tokio::test]
async fn what_comes_after_an_add_does_not_repeat_it() {
    let dir = tempfile::tempdir().expect("dir");
    let mut store = open(dir.path()).await;
    let mut world: Arc<World> = Arc::default();
    let hanging = COUNT.to_owned() + "  - id: look\n    http: {get: 'http://w/look'}\n";
    let mut run = None;
    for life in 0..3 {
        let node = Node::on(store, world, Some(dir.path())).await;
        if life == 0 {
            node.deploy(&hanging).await;
            node.world
                .will("http://w/look", &[Reply::Hangs, Reply::Hangs]);
            run = node.start("count", EVENT).await;
        }
        if life < 2 {
            node.world.hanging.notified().await;
        } else {
            node.done(run.expect("a run")).await;
        }
        (store, world) = node.kill();
    }
    assert_eq!(value(&store, "orders/s").await, "1");
    assert_eq!(value(&store, "cents/s").await, "2");
}
