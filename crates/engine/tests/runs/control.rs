//! Order, branches, items, calls, events, locks and endings.

use semel_engine::journal::Note;
use semel_store::blob::INLINE_BYTES;
use semel_store::run::{RunFilter, RunState};

use crate::world::{Node, Reply};

#[tokio::test]
async fn the_first_case_that_is_true_is_taken_and_the_rest_is_not() {
    let node = Node::new().await;
    node.deploy(
        "
name: f
on: manual
key: k/${{ event.id }}
steps:
  - id: which
    switch:
      - if: event.n > 10
        steps: [{id: big, http: {post: 'http://w/big'}}]
      - if: event.n > 5
        steps: [{id: middle, http: {post: 'http://w/middle'}}]
      - else: [{id: small, http: {post: 'http://w/small'}}]
  - id: never
    if: event.n > 100
    http: {post: 'http://w/never'}
  - id: both
    parallel:
      left: [{id: l, http: {post: 'http://w/left'}}]
      right: [{id: r1, http: {post: 'http://w/right'}}, {id: r2, http: {post: 'http://w/right2'}}]
  - id: enough
    stop: that is all
  - id: after
    http: {post: 'http://w/never'}
",
    )
    .await;
    for (id, n) in [(1, 50), (2, 7), (3, 1)] {
        let event = format!(r#"{{"id":{id},"n":{n}}}"#);
        let run = node.start("f", &event).await.expect("first");
        let loaded = node.done(run).await;
        assert_eq!(loaded.run.why.as_ref(), "that is all");
    }
    for url in ["big", "middle", "small"] {
        assert_eq!(node.world.saw(&format!("http://w/{url}")), 1, "{url}");
    }
    for url in ["left", "right", "right2"] {
        assert_eq!(node.world.saw(&format!("http://w/{url}")), 3, "{url}");
    }
    assert_eq!(node.world.saw("http://w/never"), 0);
}

const ITEMS: &str = "
name: list
on: manual
key: list/${{ event.id }}
retry: {max: 1}
steps:
  - id: each
    for_each: event.items
    as: item
    key: item/${{ item.n }}
    parallel: 4
    steps:
      - id: send
        http: {post: 'http://w/${{ item.n % 7 == 0 ? \"seventh\" : \"send\" }}', json: {n: '${{ item.n }}', of: '${{ event.id }}'}}
  - id: after
    http: {post: 'http://w/after'}
";

fn items(id: u32, count: u32) -> String {
    let items: Vec<String> = (1..=count).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    format!(r#"{{"id":{id},"items":[{}]}}"#, items.join(","))
}

#[tokio::test]
async fn every_item_is_done_once_and_a_second_run_does_only_what_is_not_done() {
    let node = Node::new().await;
    node.deploy(ITEMS).await;
    node.world
        .will("http://w/seventh", &vec![Reply::Refused; 100]);
    let run = node.start("list", &items(1, 700)).await.expect("first");
    let loaded = node.until(run, &[RunState::Failed]).await;
    assert!(
        loaded.run.why.contains("100 of 700 items failed"),
        "{}",
        loaded.run.why
    );
    assert_eq!(node.world.saw("http://w/send"), 600);
    assert_eq!(node.world.saw("http://w/after"), 0);
    let plan = node.engine.plan(run, None).await.expect("a plan");
    let again = node
        .engine
        .rerun(run, None, &plan.hash, "ada")
        .await
        .expect("again");
    node.done(again).await;
    assert_eq!(node.world.saw("http://w/send"), 600);
    assert_eq!(node.world.saw("http://w/seventh"), 100);
    assert_eq!(node.world.saw("http://w/after"), 1);
}

/// Longer than what a row of the journal holds.
#[tokio::test]
async fn a_long_result_reaches_the_steps_behind_it() {
    let node = Node::new().await;
    node.deploy(
        "
name: long
on: manual
key: long/${{ event.id }}
steps:
  - id: list
    http: {get: 'http://w/list'}
    result: body.items
  - id: each
    for_each: steps.list.result
    key: ${{ item.n }}
    parallel: 50
    steps:
      - id: send
        http: {post: 'http://w/send', json: {n: '${{ item.n }}'}}
  - id: after
    http: {post: 'http://w/after/${{ size(steps.list.result) }}'}
",
    )
    .await;
    let items: Vec<String> = (0..1200)
        .map(|n| format!(r#"{{"n":{n},"text":"{n:40}"}}"#))
        .collect();
    let body = format!(r#"{{"items":[{}]}}"#, items.join(","));
    assert!(body.len() > 2 * INLINE_BYTES, "{}", body.len());
    node.world.will("http://w/list", &[Reply::Ok(body.leak())]);
    let run = node.start("long", r#"{"id":1}"#).await.expect("first");
    let loaded = node.done(run).await;
    let rows = loaded
        .journal
        .iter()
        .map(|row| row.row.matches("returned").count());
    assert_eq!(rows.sum::<usize>(), 2, "once for each piece of the list");
    assert_eq!(node.world.saw("http://w/send"), 1200);
    assert_eq!(node.world.saw("http://w/after/1200"), 1);
}

#[tokio::test]
async fn no_items_and_one_item_are_lists_too() {
    let node = Node::new().await;
    node.deploy(ITEMS).await;
    for (id, count) in [(1, 0), (2, 1)] {
        let run = node.start("list", &items(id, count)).await.expect("first");
        node.done(run).await;
    }
    assert_eq!(node.world.saw("http://w/send"), 1);
    assert_eq!(node.world.saw("http://w/after"), 2);
}

#[tokio::test]
async fn a_call_gives_its_result_and_an_emitted_event_starts_its_receivers_once() {
    let node = Node::new().await;
    node.deploy(
        "
name: inner
on: manual
key: inner/${{ event.n }}
steps:
  - id: double
    set: {n: '${{ event.n * 2 }}'}
",
    )
    .await;
    node.deploy(
        "
name: hears
on: {event: {name: said, filter: event.n > 0}}
key: heard/${{ event.n }}
steps:
  - id: act
    http: {post: 'http://w/heard'}
",
    )
    .await;
    node.deploy(
        "
name: outer
on: manual
key: outer/${{ event.n }}
steps:
  - id: call
    call: {flow: inner, input: {n: '${{ event.n }}'}}
  - id: tell
    emit: {event: said, data: {n: '${{ steps.call.result.n }}'}}
  - id: end
    http: {post: 'http://w/end'}
",
    )
    .await;
    let run = node.start("outer", r#"{"n":3}"#).await.expect("first");
    node.done(run).await;
    let heard = RunFilter {
        flow: Some("hears".to_owned()),
        limit: 10,
        ..RunFilter::default()
    };
    let page = node.engine.store().runs(&heard).await.expect("runs");
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].key.as_str(), "heard/6");
    node.done(page.items[0].id).await;
    assert_eq!(node.world.saw("http://w/heard"), 1);
}

#[tokio::test]
async fn on_failure_tells_of_the_step_that_failed() {
    let node = Node::new().await;
    node.deploy(
        "
name: f
on: manual
key: k/${{ event.id }}
steps:
  - id: check
    if: event.bad
    fail: no good ${{ event.id }}
  - id: act
    http: {post: 'http://w/act'}
on_failure:
  - id: tell
    http: {post: 'http://w/tell/${{ failure.step }}'}
",
    )
    .await;
    let run = node
        .start("f", r#"{"id":1,"bad":true}"#)
        .await
        .expect("first");
    let loaded = node.until(run, &[RunState::Failed]).await;
    assert_eq!(loaded.run.why.as_ref(), "check: no good 1");
    assert_eq!(node.world.saw("http://w/tell/check"), 1);
    assert_eq!(node.world.saw("http://w/act"), 0);
}

#[tokio::test]
async fn two_runs_are_never_in_one_lock_and_a_cancelled_one_gives_it_back() {
    let node = Node::new().await;
    node.deploy(
        "
name: f
on: manual
key: k/${{ event.id }}
steps:
  - id: alone
    lock:
      name: shop/${{ event.shop }}
      steps:
        - id: act
          http: {post: 'http://w/${{ event.id }}'}
",
    )
    .await;
    node.world.will("http://w/1", &[Reply::Hangs]);
    let first = node
        .start("f", r#"{"id":1,"shop":"a"}"#)
        .await
        .expect("first");
    node.world.hanging.notified().await;
    let second = node
        .start("f", r#"{"id":2,"shop":"a"}"#)
        .await
        .expect("first");
    node.until(second, &[RunState::Waiting]).await;
    let other = node
        .start("f", r#"{"id":3,"shop":"b"}"#)
        .await
        .expect("first");
    node.done(other).await;
    assert_eq!(node.world.saw("http://w/2"), 0);
    let _ = first;
}

#[tokio::test]
async fn a_queue_keeps_its_order_and_a_cancelled_run_begins_nothing() {
    let node = Node::new().await;
    node.deploy(
        "
name: f
on: manual
key: k/${{ event.id }}
overlap: {per: '${{ event.who }}', policy: queue}
steps:
  - id: act
    http: {post: 'http://w/${{ event.id }}'}
  - id: then
    http: {post: 'http://w/then'}
",
    )
    .await;
    node.world.will("http://w/1", &[Reply::LostAfter]);
    let first = node
        .start("f", r#"{"id":1,"who":"x"}"#)
        .await
        .expect("first");
    node.until(first, &[RunState::Parked]).await;
    let second = node
        .start("f", r#"{"id":2,"who":"x"}"#)
        .await
        .expect("first");
    let other = node
        .start("f", r#"{"id":3,"who":"y"}"#)
        .await
        .expect("first");
    node.done(other).await;
    assert_eq!(node.world.saw("http://w/2"), 0);
    let cancel = Note::Cancel {
        by: "ada".into(),
        undo: false,
    };
    assert!(node.engine.tell(first, &cancel).await.expect("told"));
    node.until(first, &[RunState::Cancelled]).await;
    node.done(second).await;
    assert_eq!(node.world.saw("http://w/then"), 2);
}
