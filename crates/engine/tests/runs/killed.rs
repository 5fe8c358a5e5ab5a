//! A node that is killed: what it left is taken up, and nothing is done twice.

use std::sync::Arc;

use semel_engine::flight::{Flight, Remains};
use semel_store::run::RunState;
use semel_store::{Location, Options, Store};

use crate::world::{Node, Reply, World};

const FLOW: &str = "
name: f
on: manual
key: k/${{ event.id }}
steps:
  - id: first
    http: {post: 'http://w/first'}
  - id: second
    http: {post: 'http://w/second'}
";

async fn node(directory: &std::path::Path) -> Node {
    let location = Location::Sqlite(directory.join("semel.db"));
    let store = Store::open(&location, Options::default()).await;
    let store = Arc::new(store.expect("a store"));
    Node::on(store, Arc::<World>::default(), Some(directory)).await
}

#[tokio::test]
async fn only_what_was_on_the_wire_is_unknown() {
    let dir = tempfile::tempdir().expect("dir");
    let before = node(dir.path()).await;
    before.deploy(FLOW).await;
    before.world.will("http://w/second", &[Reply::Hangs]);
    let run = before.start("f", r#"{"id":1}"#).await.expect("first");
    before.world.hanging.notified().await;
    let (store, world) = before.kill();
    let after = Node::on(store, world, Some(dir.path())).await;
    after.until(run, &[RunState::Parked]).await;
    assert_eq!(after.world.saw("http://w/first"), 1);
    assert_eq!(after.world.saw("http://w/second"), 1);
}

#[tokio::test]
async fn after_another_boot_every_open_claim_is_unknown() {
    let dir = tempfile::tempdir().expect("dir");
    let before = node(dir.path()).await;
    before.deploy(FLOW).await;
    before.world.will("http://w/first", &[Reply::Hangs]);
    let run = before.start("f", r#"{"id":1}"#).await.expect("first");
    before.world.hanging.notified().await;
    let (store, world) = before.kill();
    // As if another boot had written it: nothing in it is believed.
    Flight::begin(dir.path(), [9; 16], 1, 8).expect("a file");
    assert_eq!(Remains::read(dir.path(), [8; 16]).expect("read").node, None);
    let after = Node::on(store, world, Some(dir.path())).await;
    after.until(run, &[RunState::Parked]).await;
    assert_eq!(after.world.saw("http://w/first"), 1);
}

#[tokio::test]
async fn a_node_that_stops_parks_nothing_and_the_next_goes_on() {
    let dir = tempfile::tempdir().expect("dir");
    let before = node(dir.path()).await;
    before.deploy(FLOW).await;
    before.world.will("http://w/first", &[Reply::Busy]);
    let run = before.start("f", r#"{"id":1}"#).await.expect("first");
    before.until(run, &[RunState::Retrying]).await;
    before.engine.stop().await;
    let (store, world) = before.kill();
    let after = Node::on(store, world, Some(dir.path())).await;
    after.done(run).await;
    assert_eq!(after.world.saw("http://w/first"), 1);
    assert_eq!(after.world.saw("http://w/second"), 1);
}
