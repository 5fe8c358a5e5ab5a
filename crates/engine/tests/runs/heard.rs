//! Waiting for an event of another flow, or an emitted one.

use semel_ledger::Millis;
use semel_store::run::{RunId, RunState};

use crate::world::Node;

const PAYMENTS: &str = "
name: payments
on: manual
key: p/${{ event.id }}
steps:
  - {id: note, set: {x: 1}}
  - {id: told, if: event.tell, emit: {event: paid, data: {order: '${{ event.order }}', id: '${{ event.id }}'}}}
";

const ORDERS: &str = "
name: orders
on: manual
key: o/${{ event.order }}
steps:
  - {id: before, if: event.slow, wait: {for: 1h}}
  - id: paid
    wait: {for_event: {flow: payments, match: incoming.order == event.order && incoming.amount >= 10, timeout: 7d}}
  - {id: ship, http: {post: 'http://w/ship/${{ steps.paid.result.id }}'}}
";

const EMITTED: &str = "
name: emitted
on: manual
key: e/${{ event.order }}
steps:
  - id: paid
    wait: {for_event: {event: paid, match: 'event.order == incoming.order', timeout: 1h, on_timeout: go_on}}
  - {id: ship, http: {post: 'http://w/emitted/${{ default(steps.paid.result.id, 0) }}'}}
";

fn order(order: u32, slow: bool) -> String {
    format!(r#"{{"order":{order},"slow":{slow}}}"#)
}

fn payment(id: u32, order: u32, amount: u32) -> String {
    format!(r#"{{"id":{id},"order":{order},"amount":{amount},"tell":true}}"#)
}

/// Starts a run, which waits for an event.
async fn waiting(node: &Node, flow: &str, event: &str) -> RunId {
    let run = node.start(flow, event).await.expect("first");
    node.waits_saying(run, "for an event").await;
    run
}

#[tokio::test]
async fn an_event_goes_on_with_the_run_that_waits_for_it_and_with_no_other() {
    let (node, _) = Node::with_clock().await;
    node.deploy(PAYMENTS).await;
    node.deploy(ORDERS).await;
    let (one, two) = (
        waiting(&node, "orders", &order(1, false)).await,
        waiting(&node, "orders", &order(2, false)).await,
    );
    // Too little, for nobody, without the member, and then right, twice.
    for event in [
        payment(1, 1, 5),
        payment(2, 9, 50),
        r#"{"id":3,"tell":false}"#.to_owned(),
    ] {
        let run = node.start("payments", &event).await.expect("first");
        node.done(run).await;
    }
    let run = node
        .start("payments", &payment(4, 1, 50))
        .await
        .expect("first");
    node.done(run).await;
    assert!(node.start("payments", &payment(4, 1, 50)).await.is_none());
    node.done(one).await;
    assert_eq!(node.world.saw("http://w/ship/4"), 1);
    node.until(two, &[RunState::Waiting]).await;
    let run = node
        .start("payments", &payment(5, 2, 50))
        .await
        .expect("first");
    node.done(run).await;
    node.done(two).await;
    assert_eq!(node.world.saw("http://w/ship/5"), 1);
}

#[tokio::test]
async fn an_event_that_came_before_the_wait_began_is_found_and_an_older_one_is_not() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(PAYMENTS).await;
    node.deploy(ORDERS).await;
    let run = node
        .start("payments", &payment(1, 1, 50))
        .await
        .expect("first");
    node.done(run).await;
    clock.advance(Millis::seconds(1));
    let order = node.start("orders", &order(1, true)).await.expect("first");
    node.until(order, &[RunState::Waiting]).await;
    for id in [2, 3] {
        let run = node
            .start("payments", &payment(id, 1, 50))
            .await
            .expect("first");
        node.done(run).await;
        clock.advance(Millis::seconds(1));
    }
    clock.advance(Millis::seconds(3_600));
    node.engine.look();
    node.done(order).await;
    assert_eq!(node.world.saw("http://w/ship/1"), 0, "before the run began");
    assert_eq!(node.world.saw("http://w/ship/2"), 1, "the first since then");
}

#[tokio::test]
async fn an_emitted_event_is_heard_though_no_flow_receives_it() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(PAYMENTS).await;
    node.deploy(EMITTED).await;
    let run = waiting(&node, "emitted", &order(1, false)).await;
    node.start("payments", &payment(7, 1, 1))
        .await
        .expect("first");
    node.done(run).await;
    assert_eq!(node.world.saw("http://w/emitted/7"), 1);
    let run = waiting(&node, "emitted", &order(2, false)).await;
    clock.advance(Millis::seconds(3_600));
    node.engine.look();
    node.done(run).await;
    assert_eq!(node.world.saw("http://w/emitted/0"), 1);
}

/// A branch beside fails, or somebody cancels, when the event is out and before anybody was told.
#[tokio::test]
async fn what_is_out_is_told_although_its_run_fails() {
    let (node, _) = Node::with_clock().await;
    node.deploy(EMITTED).await;
    let source = "
name: torn
on: manual
key: t/${{ event.id }}
steps:
  - {id: word, kv: {set: 'word', to: one}}
  - id: both
    parallel:
      told: [{id: told, emit: {event: paid, data: {order: '${{ event.order }}', id: '${{ event.id }}'}}}]
      torn: [{id: torn, kv: {add: 'word'}}]
";
    node.deploy(source).await;
    let run = waiting(&node, "emitted", &order(1, false)).await;
    let torn = node.start("torn", &payment(7, 1, 1)).await.expect("first");
    let torn = node.until(torn, &[RunState::Failed]).await;
    assert!(torn.run.why.starts_with("torn: kv: "), "{}", torn.run.why);
    node.done(run).await;
    assert_eq!(node.world.saw("http://w/emitted/7"), 1);
}

/// Whoever has the event dies before it told anybody; whoever waits dies, too.
#[tokio::test]
async fn an_event_reaches_its_run_although_everybody_is_killed_in_between() {
    for wait_first in [true, false] {
        let (node, clock) = Node::with_clock().await;
        node.deploy(PAYMENTS).await;
        node.deploy(ORDERS).await;
        let run = if wait_first {
            waiting(&node, "orders", &order(1, false)).await
        } else {
            let run = node.start("orders", &order(1, true)).await.expect("first");
            node.until(run, &[RunState::Waiting]).await;
            run
        };
        // Accepted, durable, and nobody works on it any more.
        node.engine.kill();
        node.start("payments", &payment(4, 1, 50))
            .await
            .expect("first");
        let (store, world) = node.kill();
        clock.advance(Millis::seconds(3_600));
        let node = Node::on(store, world, None).await;
        node.done(run).await;
        assert_eq!(node.world.saw("http://w/ship/4"), 1);
    }
}
