//! Waiting for a time and for a callback: over restarts, at any moment, once.

use std::sync::Arc;

use semel_engine::callback;
use semel_engine::load::fold;
use semel_engine::start::DEFAULT_REMEMBER;
use semel_engine::token::{Links, TokenKey};
use semel_ledger::json::Canonical;
use semel_ledger::{Millis, Verdict};
use semel_store::Answer;
use semel_store::run::{RunId, RunState};

use crate::world::{Node, Reply};

const TIMED: &str = "
name: timed
on: manual
key: k/${{ event.id }}
steps:
  - {id: before, http: {post: 'http://w/before'}}
  - {id: rest, wait: {for: 2h}}
  - {id: then, wait: {until: event.until}}
  - id: after
    http: {post: 'http://w/after', idempotency: {header: Idempotency-Key, window: 1h}}
";

const CALLED: &str = "
name: called
on: manual
key: k/${{ event.id }}
steps:
  - {id: ask, http: {post: 'http://w/ask?${{ callbacks.paid }}'}}
  - {id: paid, wait: {callback: {timeout: 24h}}}
  - {id: more, if: event.more, wait: {callback: {timeout: 24h, on_timeout: go_on}}}
  - {id: after, http: {post: 'http://w/after/${{ steps.paid.result.ok }}'}}
";

/// What the server does when somebody calls back.
async fn call_back(node: &Node, run: RunId, step: &str, json: &str) -> (Verdict, bool) {
    let posted = Canonical::read(json.as_bytes()).expect("JSON");
    let arrival = callback::arrival(run, step, &posted, DEFAULT_REMEMBER).expect("a name");
    let changes = vec![arrival.into(), callback::mail(run, step)];
    let answers = node.engine.store().commit(changes).await.expect("written");
    node.engine.mail_came(run);
    let Some(Answer::Effect(answered)) = answers.into_iter().next() else {
        panic!("no answer");
    };
    let expired = answered.record.as_deref().is_some_and(callback::is_expired);
    (answered.verdict, expired)
}

async fn result(node: &Node, run: RunId, step: &str) -> String {
    let loaded = node.engine.store().load_run(run).await.expect("readable");
    let rows = loaded.expect("a run").journal;
    let folded = fold(node.engine.store(), &rows).await.expect("folded");
    let result = folded.state.result(step);
    result.map_or_else(|| "none".to_owned(), semel_flow::Value::to_json)
}

impl Node {
    /// Waits until the run rests and says so in words that hold these.
    pub(crate) async fn waits_saying(&self, run: RunId, words: &str) {
        let mut moved = self.engine.follow();
        loop {
            let waiting = self.until(run, &[RunState::Waiting]).await.run;
            if waiting.why.contains(words) {
                return;
            }
            let _ = moved.recv().await;
        }
    }
}

#[tokio::test]
async fn times_are_fixed_once_and_hold_over_restarts_and_clocks_that_jump() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(TIMED).await;
    let event = r#"{"id":1,"until":"2026-01-01T04:00:00Z"}"#;
    let run = node.start("timed", event).await.expect("first");
    let waiting = node.until(run, &[RunState::Waiting]).await.run;
    let due = waiting.wake.expect("a time");
    assert_eq!(due.0, 1_767_225_600_000 + 7_200_000);
    assert_eq!(&*waiting.why, "rest: waits until 2026-01-01T02:00:00Z");
    clock.set_wall(-86_400_000);
    clock.advance(Millis::seconds(3_600));
    let (store, world) = node.kill();
    let node = Node::on(store, world, None).await;
    let again = node.until(run, &[RunState::Waiting]).await.run;
    assert_eq!(again.wake, Some(due), "the due time is not worked out anew");
    // An hour late: the machine was off.
    clock.advance(Millis::seconds(7_200));
    node.engine.look();
    node.waits_saying(run, "then").await;
    assert_eq!(node.world.saw("http://w/after"), 0);
    clock.advance(Millis::days(30));
    node.engine.look();
    node.done(run).await;
    assert_eq!(node.world.saw("http://w/before"), 1);
    assert_eq!(
        node.world.saw("http://w/after"),
        1,
        "not taken for forgotten"
    );
}

#[tokio::test]
async fn a_time_in_the_past_is_over_at_once_and_one_that_is_none_is_told() {
    let (node, _) = Node::with_clock().await;
    node.deploy(
        "
name: f
on: manual
key: k/${{ event.id }}
steps: [{id: then, wait: {until: event.until}}]
",
    )
    .await;
    let at = async |id: u32, until: &str| {
        let event = format!(r#"{{"id":{id},"until":{until}}}"#);
        let run = node.start("f", &event).await.expect("first");
        let over = node
            .until(run, &[RunState::Done, RunState::Failed])
            .await
            .run;
        format!("{}: {}", over.state.name(), over.why)
    };
    assert_eq!(at(1, r#""1999-01-01T00:00:00Z""#).await, "done: done");
    assert_eq!(at(2, r#""2026-01-01T00:00:00Z""#).await, "done: done");
    let failures = [
        at(3, r#""tomorrow""#).await,
        at(4, "7").await,
        at(5, r#""2126-01-01T00:00:00Z""#).await,
    ];
    assert!(
        failures[0].contains("wait.until: \"tomorrow\" is no time"),
        "{failures:?}"
    );
    assert!(
        failures[1].contains("is a whole number, not a time"),
        "{failures:?}"
    );
    assert!(
        failures[2].contains("is more than 3660d ahead"),
        "{failures:?}"
    );
}

#[tokio::test]
async fn the_first_callback_counts_whenever_it_comes() {
    let (node, _) = Node::with_clock().await;
    node.deploy(CALLED).await;
    let run = node
        .start("called", r#"{"id":1,"more":false}"#)
        .await
        .expect("first");
    let waiting = node.until(run, &[RunState::Waiting]).await.run;
    assert_eq!(
        &*waiting.why,
        "paid: waits for its callback until 2026-01-02T00:00:00Z"
    );
    let links = Links::new("http://here", Arc::new(TokenKey::new(&[7; 32])));
    let link = links.callback(run, "paid").expect("a link");
    assert_eq!(node.world.saw(&format!("http://w/ask?{link}")), 1);
    assert_eq!(
        call_back(&node, run, "paid", r#"{"ok":18014398509481985}"#)
            .await
            .0,
        Verdict::First
    );
    node.done(run).await;
    assert_eq!(
        node.world.saw("http://w/after/18014398509481985"),
        1,
        "to the last digit"
    );
    assert_eq!(
        call_back(&node, run, "paid", r#"{"ok": 18014398509481985}"#).await,
        (Verdict::Done, false)
    );
    assert_eq!(
        call_back(&node, run, "paid", r#"{"ok":2}"#).await,
        (Verdict::Conflict, false)
    );
    // It was never waited for, and the run is over.
    assert_eq!(
        call_back(&node, run, "more", "null").await,
        (Verdict::Done, true)
    );
}

#[tokio::test]
async fn a_callback_that_comes_early_is_kept_until_its_turn() {
    let (node, _) = Node::with_clock().await;
    node.deploy(CALLED).await;
    let run = node
        .start("called", r#"{"id":1,"more":true}"#)
        .await
        .expect("first");
    node.until(run, &[RunState::Waiting]).await;
    assert_eq!(
        call_back(&node, run, "more", r#""early""#).await.0,
        Verdict::First
    );
    let (store, world) = node.kill();
    let node = Node::on(store, world, None).await;
    assert_eq!(
        call_back(&node, run, "more", r#""late""#).await.0,
        Verdict::Conflict
    );
    assert_eq!(
        call_back(&node, run, "paid", r#"{"ok":1}"#).await.0,
        Verdict::First
    );
    node.done(run).await;
    assert_eq!(result(&node, run, "more").await, r#""early""#);
}

#[tokio::test]
async fn without_a_callback_the_step_fails_or_the_run_goes_on_and_later_ones_are_told() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(CALLED).await;
    let run = node
        .start("called", r#"{"id":1,"more":true}"#)
        .await
        .expect("first");
    node.until(run, &[RunState::Waiting]).await;
    clock.advance(Millis::days(1));
    node.engine.look();
    let failed = node.until(run, &[RunState::Failed]).await.run;
    assert_eq!(&*failed.why, "paid: no callback came within 1d");
    assert_eq!(
        call_back(&node, run, "paid", "1").await,
        (Verdict::Done, true)
    );
    assert_eq!(
        call_back(&node, run, "more", "1").await,
        (Verdict::Done, true)
    );
    let run = node
        .start("called", r#"{"id":2,"more":true}"#)
        .await
        .expect("first");
    node.until(run, &[RunState::Waiting]).await;
    call_back(&node, run, "paid", r#"{"ok":1}"#).await;
    node.waits_saying(run, "more").await;
    clock.advance(Millis::days(1));
    node.engine.look();
    node.done(run).await;
    assert_eq!(result(&node, run, "more").await, "null");
}

/// What was called back while nobody served, and when patience ended meanwhile.
#[tokio::test]
async fn a_callback_that_came_while_the_server_was_down_counts_even_when_its_time_is_over() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(CALLED).await;
    let run = node
        .start("called", r#"{"id":1,"more":false}"#)
        .await
        .expect("first");
    node.until(run, &[RunState::Waiting]).await;
    node.engine.stop().await;
    assert_eq!(
        call_back(&node, run, "paid", r#"{"ok":1}"#).await.0,
        Verdict::First
    );
    clock.advance(Millis::days(3));
    let (store, world) = node.kill();
    let node = Node::on(store, world, None).await;
    node.done(run).await;
    assert_eq!(node.world.saw("http://w/after/1"), 1);
}

#[tokio::test]
async fn a_race_with_the_end_of_patience_has_one_winner() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(CALLED).await;
    let (mut came, mut late) = (0, 0);
    for id in 0..40 {
        let event = format!(r#"{{"id":{id},"more":false}}"#);
        let run = node.start("called", &event).await.expect("first");
        node.until(run, &[RunState::Waiting]).await;
        clock.advance(Millis::days(1));
        node.engine.look();
        for _ in 0..id {
            tokio::task::yield_now().await;
        }
        let (verdict, expired) = call_back(&node, run, "paid", r#"{"ok":1}"#).await;
        let over = node
            .until(run, &[RunState::Done, RunState::Failed])
            .await
            .run;
        if verdict == Verdict::First {
            let state = over.state;
            assert_eq!(state, RunState::Done, "told that it counts, so it does");
            came += 1;
        } else {
            assert!(expired, "{verdict:?}");
            assert_eq!(over.state, RunState::Failed);
            late += 1;
        }
    }
    assert_eq!(came + late, 40);
    assert_eq!(node.world.saw("http://w/after/1"), came);
}

#[tokio::test]
async fn a_branch_wakes_while_another_is_under_way() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(
        "
name: f
on: manual
key: k/${{ event.id }}
steps:
  - id: both
    parallel:
      slow: [{id: slow, http: {post: 'http://w/slow'}}]
      timed: [{id: rest, wait: {for: 1h}}, {id: after, http: {post: 'http://w/after'}}]
",
    )
    .await;
    node.world.will("http://w/slow", &[Reply::Hangs]);
    node.world.will("http://w/after", &[Reply::Hangs]);
    node.start("f", r#"{"id":1}"#).await.expect("first");
    node.world.hanging.notified().await;
    clock.advance(Millis::seconds(3_600));
    node.world.hanging.notified().await;
    assert_eq!(node.world.saw("http://w/after"), 1);
}

#[tokio::test]
async fn every_item_waits_for_a_callback_of_its_own() {
    let (node, _) = Node::with_clock().await;
    node.deploy(
        "
name: list
on: manual
key: k/${{ event.id }}
steps:
  - id: each
    for_each: event.items
    key: i/${{ item }}
    parallel: 10
    steps:
      - {id: ask, http: {post: 'http://w/ask'}}
      - {id: reply, wait: {callback: {timeout: 1h}}}
      - {id: end, http: {post: 'http://w/end/${{ steps.reply.result }}'}}
",
    )
    .await;
    let run = node
        .start("list", r#"{"id":1,"items":[1,2,3]}"#)
        .await
        .expect("first");
    let store = Arc::clone(node.engine.store());
    let items = async || {
        let filter = semel_store::run::RunFilter {
            parent: Some(run),
            limit: 10,
            ..Default::default()
        };
        store.runs(&filter).await.expect("readable").items
    };
    let mut moved = node.engine.follow();
    while items()
        .await
        .iter()
        .filter(|it| it.state == RunState::Waiting)
        .count()
        < 3
    {
        let _ = moved.recv().await;
    }
    for (n, item) in items().await.iter().enumerate() {
        assert_eq!(
            call_back(&node, item.id, "reply", &n.to_string()).await.0,
            Verdict::First
        );
    }
    node.done(run).await;
    for n in 0..3 {
        assert_eq!(node.world.saw(&format!("http://w/end/{n}")), 1);
    }
}
