//! A node that is killed around the commits of its values: each add is done once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use semel_ledger::json::Canonical;
use semel_ledger::{
    Claim, Command, EffectId, Fence, Fingerprint, Key, Millis, OnUnknown, Owner, Scope,
};
use semel_store::gate::{Gate, Passing};
use semel_store::kv::{KvChange, KvOp};
use semel_store::store::random_bytes;
use semel_store::{Content, EffectChange, Location, Options, Store};
use tokio::sync::Notify;

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

/// Lets so many commits pass and no more: the next is not written, or it is and nobody hears of it.
#[derive(Debug)]
pub(crate) struct Wall {
    pub(crate) left: AtomicU32,
    behind: bool,
    pub(crate) reached: Notify,
}

impl Wall {
    pub(crate) fn new(behind: bool) -> Arc<Wall> {
        Arc::new(Wall {
            left: AtomicU32::new(u32::MAX),
            behind,
            reached: Notify::new(),
        })
    }

    async fn stand(&self) {
        let order = Ordering::SeqCst;
        let passes = self
            .left
            .fetch_update(order, order, |left| left.checked_sub(1));
        if passes.is_err() {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

impl Gate for Wall {
    fn before(&self) -> Passing<'_> {
        if self.behind {
            return Box::pin(std::future::ready(()));
        }
        Box::pin(self.stand())
    }

    fn after(&self) -> Passing<'_> {
        if self.behind {
            return Box::pin(self.stand());
        }
        Box::pin(std::future::ready(()))
    }
}

/// A run whose node dies at its commit of that number, before or behind it; false if it has no such
/// commit. Whatever was left of it, another node ends it, and each number was added once.
async fn dies_at(number: u32, behind: bool) -> bool {
    let root = Store::open(&Location::Memory, Options::default()).await;
    let root = root.expect("a store");
    let wall = Wall::new(behind);
    let walled = root.beside(Some(Arc::clone(&wall) as Arc<dyn Gate>));
    let walled = Arc::new(walled.expect("in memory"));
    let node = Node::on(walled, Arc::default(), None).await;
    node.deploy(COUNT).await;
    let run = node.start("count", EVENT).await.expect("first");
    wall.left.store(number, Ordering::SeqCst);
    let died = tokio::select! {
        () = wall.reached.notified() => true,
        _ = node.done(run) => false,
    };
    let (_, world) = node.kill();
    let other = Arc::new(root.beside(None).expect("in memory"));
    let after = Node::on(other, world, None).await;
    let loaded = after.done(run).await;
    assert_eq!(result(&loaded, "one"), "1", "{number} {behind}");
    assert_eq!(value(&root, "orders/s").await, "1", "{number} {behind}");
    assert_eq!(value(&root, "cents/s").await, "2", "{number} {behind}");
    died
}

#[tokio::test]
async fn at_whichever_commit_a_node_dies_each_add_is_done_once() {
    for behind in [false, true] {
        let mut number = 0;
        while dies_at(number, behind).await {
            number += 1;
        }
        assert!(number >= 4, "taken, added, added, ended: {number}");
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
