//! What the world sees of guarded, keyed and harmless steps when things go wrong.

use semel_engine::journal::Note;
use semel_ledger::{Command, Decision, Digest, EffectId, Key, Millis, Scope};
use semel_store::run::RunState;
use semel_store::{Change, Content, EffectChange};

use crate::world::{Node, Reply};

const CHARGE: &str = "
name: order
on: manual
key: order/${{ event.id }}
retry: {max: 4, backoff: 1ms..2ms}
steps:
  - id: note
    set: {total: '${{ event.amount * 2 }}'}
  - id: charge
    http: {post: 'http://shop/charge', json: {amount: '${{ steps.note.result.total }}'}}
    result: body.id
  - id: invoice
    http:
      post: http://shop/invoice
      json: {charge: '${{ steps.charge.result }}'}
      idempotency: {header: Idempotency-Key, window: 24h}
";

fn charge(order: &str) -> EffectId {
    let key = Key::from_parts(&["order", order, "charge"]).expect("key");
    EffectId::new(Scope::new("order/charge").expect("scope"), key)
}

#[tokio::test]
async fn each_step_happens_once_and_the_same_event_again_starts_nothing() {
    let node = Node::new().await;
    node.deploy(CHARGE).await;
    node.world
        .will("http://shop/charge", &[Reply::Ok(r#"{"id":"ch_1"}"#)]);
    let run = node
        .start("order", r#"{"id":1,"amount":5}"#)
        .await
        .expect("first");
    node.done(run).await;
    assert_eq!(node.start("order", r#"{"id":1,"amount":5}"#).await, None);
    assert_eq!(node.world.saw("http://shop/charge"), 1);
    assert_eq!(node.world.saw("http://shop/invoice"), 1);
    let record = node.engine.store().load(&charge("1")).await.expect("read");
    let record = record.expect("an effect");
    assert_eq!(record.external_id.as_deref(), Some("ch_1"));
}

#[tokio::test]
async fn what_did_nothing_is_tried_again_until_it_does() {
    let node = Node::new().await;
    node.deploy(CHARGE).await;
    let replies = [
        Reply::Unreachable,
        Reply::Busy,
        Reply::Ok(r#"{"id":"ch_1"}"#),
    ];
    node.world.will("http://shop/charge", &replies);
    node.world.will(
        "http://shop/invoice",
        &[Reply::LostAfter, Reply::LostBefore],
    );
    let run = node
        .start("order", r#"{"id":1,"amount":5}"#)
        .await
        .expect("first");
    node.done(run).await;
    assert_eq!(node.world.saw("http://shop/charge"), 1);
    // Its destination dedupes by the key, so it is simply asked again.
    assert_eq!(node.world.saw("http://shop/invoice"), 2);
}

#[tokio::test]
async fn a_refusal_ends_the_run_and_an_exhausted_policy_too() {
    let node = Node::new().await;
    node.deploy(CHARGE).await;
    node.world.will("http://shop/charge", &[Reply::Refused]);
    let run = node
        .start("order", r#"{"id":1,"amount":5}"#)
        .await
        .expect("first");
    node.until(run, &[RunState::Failed]).await;
    node.world.will("http://shop/charge", &vec![Reply::Busy; 9]);
    let run = node
        .start("order", r#"{"id":2,"amount":5}"#)
        .await
        .expect("first");
    let loaded = node.until(run, &[RunState::Failed]).await;
    assert!(
        loaded.run.why.contains("gave up after 4 attempts"),
        "{}",
        loaded.run.why
    );
    assert_eq!(node.world.saw("http://shop/charge"), 0);
}

#[tokio::test]
async fn a_lost_answer_waits_for_a_person_and_is_never_repeated() {
    let node = Node::new().await;
    node.deploy(CHARGE).await;
    node.world.will("http://shop/charge", &[Reply::LostAfter]);
    let run = node
        .start("order", r#"{"id":1,"amount":5}"#)
        .await
        .expect("first");
    node.until(run, &[RunState::Parked]).await;
    assert_eq!(node.world.saw("http://shop/charge"), 1);
    let decide = EffectChange {
        effect: charge("1"),
        command: Command::Decide {
            decision: Decision::Happened,
            attempt: None,
            digest: Digest([1; 16]),
        },
        content: Content {
            result: Some(r#""ch_seen""#.into()),
            ..Content::default()
        },
    };
    node.engine
        .store()
        .commit(vec![Change::from(decide)])
        .await
        .expect("decided");
    let resume = Note::Resume {
        by: "ada".into(),
        note: None,
    };
    assert!(node.engine.tell(run, &resume).await.expect("told"));
    node.until(run, &[RunState::Done]).await;
    assert_eq!(node.world.saw("http://shop/charge"), 1);
}

const LOOKED_UP: &str = "
name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: charge
    http: {post: 'http://shop/charge'}
    lookup: {http: {get: 'http://shop/charges'}, found: size(body.data) > 0, result: 'body.data[0].id', settle: 1ms}
    result: body.id
  - id: after
    set: {id: '${{ steps.charge.result }}'}
";

#[tokio::test]
async fn a_lost_answer_that_can_be_looked_up_is() {
    for (lost, list, sent) in [
        (Reply::LostAfter, r#"{"data":[{"id":"ch_9"}]}"#, 1),
        (Reply::LostBefore, r#"{"data":[]}"#, 1),
    ] {
        let node = Node::new().await;
        node.deploy(LOOKED_UP).await;
        node.world
            .will("http://shop/charge", &[lost, Reply::Ok(r#"{"id":"ch_9"}"#)]);
        node.world
            .will("http://shop/charges", &[Reply::Busy, Reply::Ok(list)]);
        let run = node.start("order", r#"{"id":1}"#).await.expect("first");
        let loaded = node.done(run).await;
        assert_eq!(node.world.saw("http://shop/charge"), sent);
        let rows: String = loaded.journal.iter().map(|row| row.row.as_ref()).collect();
        assert!(rows.contains("ch_9"), "{rows}");
    }
}

#[tokio::test]
async fn the_same_key_with_another_input_is_parked_and_says_where_it_differs() {
    let node = Node::new().await;
    node.deploy(CHARGE).await;
    node.world.will(
        "http://shop/charge",
        &vec![Reply::Ok(r#"{"id":"ch_1"}"#); 2],
    );
    let shared = CHARGE
        .replace("name: order", "name: other")
        .replace("- id: charge\n", "- id: charge\n    scope: order/charge\n");
    node.deploy(&shared).await;
    let run = node
        .start("order", r#"{"id":1,"amount":5}"#)
        .await
        .expect("first");
    node.done(run).await;
    let run = node
        .start("other", r#"{"id":1,"amount":6}"#)
        .await
        .expect("first");
    let loaded = node.until(run, &[RunState::Parked]).await;
    assert!(
        loaded.run.why.contains("/json/amount"),
        "{}",
        loaded.run.why
    );
    assert_eq!(node.world.saw("http://shop/charge"), 1);
    let same = node
        .start("other", r#"{"id":2,"amount":6}"#)
        .await
        .expect("first");
    node.done(same).await;
}

#[tokio::test]
async fn another_run_that_means_the_same_effect_gets_the_first_result() {
    let node = Node::new().await;
    let shared = CHARGE
        .replace("name: order", "name: other")
        .replace("- id: charge\n", "- id: charge\n    scope: order/charge\n");
    node.deploy(CHARGE).await;
    node.deploy(&shared).await;
    node.world
        .will("http://shop/charge", &[Reply::Ok(r#"{"id":"ch_1"}"#)]);
    for flow in ["order", "other"] {
        let run = node
            .start(flow, r#"{"id":1,"amount":5}"#)
            .await
            .expect("first");
        node.done(run).await;
    }
    assert_eq!(node.world.saw("http://shop/charge"), 1);
}

const ENSURED: &str = "
name: contact
on: manual
key: contact/${{ event.id }}
retry: {max: 4, backoff: 1ms..2ms}
steps:
  - id: contact
    ensure:
      find: {http: {get: 'http://crm/find'}, found: size(body.items) > 0, result: 'body.items[0].id'}
      create: {http: {post: 'http://crm/create'}, result: body.id}
      update: {http: {put: 'http://crm/update'}}
      settle: 1ms
  - id: use
    set: {id: '${{ steps.contact.result }}'}
";

#[tokio::test]
async fn ensure_finds_creates_and_finds_what_somebody_else_created() {
    const NONE: Reply = Reply::Ok(r#"{"items":[]}"#);
    const ONE: Reply = Reply::Ok(r#"{"items":[{"id":"c_1"}]}"#);
    for (finds, creates, created, updated) in [
        (vec![ONE], vec![], 0, 1),
        (vec![NONE], vec![Reply::Ok(r#"{"id":"c_1"}"#)], 1, 0),
        (vec![NONE, ONE], vec![Reply::Refused], 0, 1),
        (vec![NONE, ONE], vec![Reply::LostAfter], 1, 0),
        (
            vec![NONE, NONE, NONE],
            vec![Reply::LostBefore, Reply::Ok(r#"{"id":"c_1"}"#)],
            1,
            0,
        ),
    ] {
        let node = Node::new().await;
        node.deploy(ENSURED).await;
        node.world.will("http://crm/find", &finds);
        node.world.will("http://crm/create", &creates);
        let run = node.start("contact", r#"{"id":1}"#).await.expect("first");
        let loaded = node.done(run).await;
        assert_eq!(node.world.saw("http://crm/create"), created, "{loaded:#?}");
        assert_eq!(node.world.saw("http://crm/update"), updated, "{loaded:#?}");
        let rows: String = loaded.journal.iter().map(|row| row.row.as_ref()).collect();
        assert!(rows.contains(r#""id":"c_1""#), "{rows}");
    }
}

/// What was read took longer than the destination remembers a key; but nothing was sent to it yet.
#[tokio::test]
async fn a_long_question_before_a_keyed_step_is_no_lost_attempt() {
    let (node, clock) = Node::with_clock().await;
    let source = "
name: slow
on: manual
key: slow/${{ event.id }}
steps:
  - {id: look, http: {get: 'http://w/look'}}
  - id: pay
    http: {post: 'http://w/pay', idempotency: {header: Idempotency-Key, window: 1m}}
";
    node.deploy(source).await;
    node.world.will("http://w/look", &[Reply::Held]);
    let run = node.start("slow", r#"{"id":1}"#).await.expect("first");
    node.world.hanging.notified().await;
    clock.advance(Millis::seconds(90));
    node.world.let_go.notify_one();
    node.done(run).await;
    assert_eq!(node.world.saw("http://w/pay"), 1);
}
