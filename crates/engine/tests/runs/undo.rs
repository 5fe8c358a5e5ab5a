//! What a run takes back when it fails or is cancelled so.

use semel_engine::journal::Note;
use semel_ledger::{Command, Decision, Digest, EffectId, Key, Scope, State as EffectState};
use semel_store::run::{Loaded, RunId, RunState};
use semel_store::{Change, Content, EffectChange};

use crate::world::{Node, Reply};

pub(crate) const ORDER: &str = "
name: order
on: manual
key: order/${{ event.id }}
retry: {max: 2, backoff: 1ms..2ms}
steps:
  - id: charge
    http: {post: 'http://w/charge'}
    result: body.id
    undo: {http: {post: 'http://w/refund', json: {charge: '${{ steps.charge.result }}', key: '${{ step.key }}'}}}
  - id: look
    http: {get: 'http://w/look'}
  - id: parcel
    http: {post: 'http://w/parcel', idempotency: {header: Idempotency-Key, window: 1h}}
    undo: {http: {post: 'http://w/recall', idempotency: {header: Idempotency-Key, window: 1h}}}
  - id: plain
    http: {post: 'http://w/plain'}
  - id: seat
    http: {put: 'http://w/seat'}
    undo: {http: {delete: 'http://w/seat-free'}}
  - id: last
    http: {post: 'http://w/last'}
    undo: {http: {post: 'http://w/last-undo'}}
on_failure:
  - id: tell
    http: {post: 'http://w/tell'}
";

/// What the destination of a charge says.
pub(crate) const CHARGED: Reply = Reply::Ok(r#"{"id":"ch_1"}"#);

pub(crate) fn effect(scope: &str, step: &str) -> EffectId {
    let key = Key::from_parts(&["order", "1", step]).expect("key");
    EffectId::new(Scope::new(scope).expect("scope"), key)
}

async fn state_of(node: &Node, scope: &str, step: &str) -> Option<EffectState> {
    let record = node.engine.store().load(&effect(scope, step)).await;
    record.expect("read").map(|record| record.entry.state)
}

pub(crate) async fn decide(node: &Node, effect: EffectId, decision: Decision) {
    let decide = EffectChange {
        effect,
        command: Command::Decide {
            decision,
            attempt: None,
            digest: Digest([1; 16]),
        },
        content: Content {
            result: Some(r#""seen""#.into()),
            ..Content::default()
        },
    };
    let store = node.engine.store();
    store
        .commit(vec![Change::from(decide)])
        .await
        .expect("decided");
}

pub(crate) async fn resume(node: &Node, run: RunId) {
    let resume = Note::Resume {
        by: "ada".into(),
        note: None,
    };
    assert!(node.engine.tell(run, &resume).await.expect("told"));
}

pub(crate) async fn cancel(node: &Node, run: RunId, undo: bool) {
    let by = "ada".into();
    let told = node.engine.tell(run, &Note::Cancel { by, undo }).await;
    assert!(told.expect("told"));
}

pub(crate) async fn started(source: &str, script: &[(&str, &[Reply])]) -> (Node, RunId) {
    let node = Node::new().await;
    node.deploy(source).await;
    node.world.will("http://w/charge", &[CHARGED]);
    for (url, replies) in script {
        node.world.will(&format!("http://w/{url}"), replies);
    }
    let run = node.start("order", r#"{"id":1}"#).await.expect("first");
    (node, run)
}

fn rows(loaded: &Loaded) -> String {
    loaded.journal.iter().map(|row| row.row.as_ref()).collect()
}

/// What the world saw of the way back.
const BACK: [&str; 3] = ["seat-free", "recall", "refund"];

pub(crate) fn undone(node: &Node) -> Vec<String> {
    let names = ["refund", "recall", "seat-free", "last-undo"];
    let seen = node.world.order();
    let name = |url: &String| url.trim_start_matches("http://w/").to_owned();
    let seen = seen.iter().map(name);
    seen.filter(|url| names.contains(&url.as_str())).collect()
}

#[tokio::test]
async fn a_failure_takes_back_what_is_done_backwards_and_each_once() {
    let (node, run) = started(ORDER, &[("last", &[Reply::Refused])]).await;
    let loaded = node.until(run, &[RunState::Undone]).await;
    assert_eq!(undone(&node), BACK);
    assert_eq!(
        &*loaded.run.why,
        "last: refused; undone: seat, parcel, charge"
    );
    assert_eq!(node.world.saw("http://w/tell"), 1);
    let (charge, refund) = ("order/charge", "order/charge/undo");
    assert_eq!(
        state_of(&node, charge, "charge").await,
        Some(EffectState::Undone)
    );
    assert_eq!(
        state_of(&node, refund, "charge").await,
        Some(EffectState::Done)
    );
    let parcel = state_of(&node, "order/parcel", "parcel").await;
    assert_eq!(parcel, Some(EffectState::Undone));
    // Its expressions see the step's own result and key.
    let sent = node.world.sent("http://w/refund");
    assert!(
        sent[0].contains(r#""charge":"ch_1","key":"order/1/charge""#),
        "{sent:?}"
    );
    // The destination must not take the undo for the parcel itself.
    let keys: Vec<_> = ["parcel", "recall"]
        .map(|url| node.world.key(&format!("http://w/{url}")))
        .into();
    assert_eq!(keys, ["order/1/parcel", "order/1/parcel/undo"]);
}

#[tokio::test]
async fn stop_and_a_plain_cancel_take_nothing_back() {
    let stops = ORDER
        .replace("http: {post: 'http://w/last'}", "stop: enough")
        .replace("    undo: {http: {post: 'http://w/last-undo'}}\n", "");
    let (node, run) = started(&stops, &[]).await;
    node.until(run, &[RunState::Done]).await;
    assert_eq!(undone(&node), Vec::<String>::new());
    let (node, run) = started(ORDER, &[("last", &[Reply::LostBefore])]).await;
    node.until(run, &[RunState::Parked]).await;
    cancel(&node, run, false).await;
    node.until(run, &[RunState::Cancelled]).await;
    assert_eq!(undone(&node), Vec::<String>::new());
}

#[tokio::test]
async fn what_may_have_happened_is_settled_before_anything_is_taken_back() {
    for (reply, decision, back) in [
        (
            Reply::LostAfter,
            Decision::Happened,
            vec!["last-undo", "seat-free", "recall", "refund"],
        ),
        (Reply::LostBefore, Decision::Failed, BACK.to_vec()),
        (Reply::LostBefore, Decision::Resend, BACK.to_vec()),
    ] {
        let did = node_did(&reply);
        let (node, run) = started(ORDER, &[("last", &[reply])]).await;
        node.until(run, &[RunState::Parked]).await;
        cancel(&node, run, true).await;
        resume(&node, run).await;
        written(&node, run, "until then nothing is undone", 1).await;
        let loaded = node.until(run, &[RunState::Parked]).await;
        assert!(
            loaded.run.why.contains("nobody knows"),
            "{}",
            loaded.run.why
        );
        assert_eq!(undone(&node), Vec::<String>::new());
        decide(&node, effect("order/last", "last"), decision).await;
        resume(&node, run).await;
        let loaded = node.until(run, &[RunState::Undone]).await;
        assert_eq!(undone(&node), back, "{loaded:#?}");
        // It is never done again on the way back.
        assert_eq!(node.world.saw("http://w/last"), did);
        assert!(
            loaded.run.why.starts_with("cancelled by ada; undone: "),
            "{}",
            loaded.run.why
        );
    }
}

fn node_did(reply: &Reply) -> u32 {
    u32::from(matches!(reply, Reply::LostAfter))
}

/// Waits until the journal says that so often.
async fn written(node: &Node, run: RunId, text: &str, times: usize) {
    loop {
        let loaded = node.engine.store().load_run(run).await.expect("read");
        if rows(&loaded.expect("a run")).matches(text).count() >= times {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_harmless_step_whose_answers_were_all_lost_is_settled_too() {
    let lost = vec![Reply::LostAfter; 2];
    let (node, run) = started(ORDER, &[("seat", &lost)]).await;
    let loaded = node.until(run, &[RunState::Parked]).await;
    assert!(
        loaded.run.why.starts_with("seat: nobody knows"),
        "{}",
        loaded.run.why
    );
    assert_eq!(undone(&node), Vec::<String>::new());
    decide(&node, effect("order/seat", "seat"), Decision::Happened).await;
    resume(&node, run).await;
    node.until(run, &[RunState::Undone]).await;
    assert_eq!(undone(&node), BACK);
}

#[tokio::test]
async fn a_failed_undo_waits_for_a_person_and_nobody_else_waits_for_it() {
    let refused = vec![Reply::Refused; 2];
    let script: &[(&str, &[Reply])] = &[("last", &[Reply::Refused]), ("recall", &refused)];
    let (node, run) = started(ORDER, script).await;
    let loaded = node.until(run, &[RunState::Parked]).await;
    assert!(
        loaded.run.why.starts_with("parcel/undo: refused"),
        "{}",
        loaded.run.why
    );
    assert_eq!(undone(&node), ["seat-free"]);
    assert_eq!(node.world.saw("http://w/tell"), 1);
    resume(&node, run).await;
    written(&node, run, "parked", 2).await;
    node.until(run, &[RunState::Parked]).await;
    assert_eq!(undone(&node), ["seat-free"]);
    resume(&node, run).await;
    node.until(run, &[RunState::Undone]).await;
    assert_eq!(undone(&node), BACK);
}

#[tokio::test]
async fn a_lost_undo_is_never_simply_repeated() {
    let script: &[(&str, &[Reply])] =
        &[("last", &[Reply::Refused]), ("refund", &[Reply::LostAfter])];
    let (node, run) = started(ORDER, script).await;
    let loaded = node.until(run, &[RunState::Parked]).await;
    assert!(
        loaded.run.why.starts_with("charge/undo: nobody knows"),
        "{}",
        loaded.run.why
    );
    let charge = state_of(&node, "order/charge", "charge").await;
    assert_eq!(charge, Some(EffectState::Done));
    decide(
        &node,
        effect("order/charge/undo", "charge"),
        Decision::Happened,
    )
    .await;
    resume(&node, run).await;
    node.until(run, &[RunState::Undone]).await;
    assert_eq!(undone(&node), BACK);
    let charge = state_of(&node, "order/charge", "charge").await;
    assert_eq!(charge, Some(EffectState::Undone));
}

#[tokio::test]
async fn a_cancel_that_undoes_waits_for_what_is_under_way() {
    let (node, run) = started(ORDER, &[("last", &[Reply::Held])]).await;
    node.world.hanging.notified().await;
    cancel(&node, run, true).await;
    assert_eq!(undone(&node), Vec::<String>::new());
    node.world.let_go.notify_one();
    node.until(run, &[RunState::Undone]).await;
    assert_eq!(
        undone(&node),
        ["last-undo", "seat-free", "recall", "refund"]
    );
    // Only a failure is told of.
    assert_eq!(node.world.saw("http://w/tell"), 0);
}

#[tokio::test]
async fn branches_are_taken_back_in_the_order_in_which_they_became_done() {
    let source = "
name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: both
    parallel:
      a:
        - id: a1
          http: {post: 'http://w/a1'}
          undo: {http: {post: 'http://w/refund', json: 1}}
        - id: a2
          http: {post: 'http://w/a2'}
          undo: {http: {post: 'http://w/recall', json: 1}}
      b:
        - id: b1
          http: {post: 'http://w/b1'}
          undo: {http: {post: 'http://w/seat-free', json: 1}}
  - id: no
    fail: no
";
    let (node, run) = started(source, &[("b1", &[Reply::Held])]).await;
    node.world.hanging.notified().await;
    written(&node, run, r#""done":{"step":"a2""#, 1).await;
    node.world.let_go.notify_one();
    node.until(run, &[RunState::Undone]).await;
    assert_eq!(undone(&node), BACK);
}

#[tokio::test]
async fn a_step_that_happened_but_has_no_result_is_taken_back() {
    let source = ORDER
        .replace("result: body.id", "result: body.nothing.here")
        .replace("charge: '${{ steps.charge.result }}', ", "");
    let (node, run) = started(&source, &[]).await;
    let loaded = node.until(run, &[RunState::Undone]).await;
    assert!(
        loaded.run.why.ends_with("; undone: charge"),
        "{}",
        loaded.run.why
    );
    assert_eq!(undone(&node), ["refund"]);
}
