//! Questions to models: each is asked and paid once, and its answer is found again by what was asked.

use std::sync::Arc;

use semel_engine::plan::What;
use semel_ledger::{Scope, State as EffectState};
use semel_store::run::{Loaded, RunState};
use semel_store::{Filter, Location, Options, Record, Store};

use crate::world::{Node, Reply, World};

/// A flow that asks, and then does something with the answer.
fn flow(name: &str, fields: &str, more: &str) -> String {
    format!(
        "
name: {name}
on: manual
key: {name}/${{{{ event.id }}}}
retry: {{max: 4, backoff: 1ms..2ms}}
steps:
  - id: note
    ai: {{model: small, {fields}}}
{more}
  - id: tell
    http: {{post: 'http://w/tell', json: {{note: '${{{{ steps.note.result }}}}'}}}}
"
    )
}

const ASK: &str = "prompt: 'about ${{ event.about }}'";

fn means(world: &World, model: &str) {
    let mut models = world.models.lock().expect("models");
    models.insert("small".to_owned(), model.to_owned());
}

async fn node() -> Node {
    let node = Node::new().await;
    means(&node.world, "gpt-1");
    node
}

fn journal(loaded: &Loaded) -> String {
    let rows = loaded.journal.iter().map(|row| row.row.to_string());
    rows.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_rerun_pays_nothing() {
    let node = node().await;
    node.deploy(&flow("note", ASK, "")).await;
    node.world.will("about cats", &[Reply::Ok(r#""soft""#)]);
    node.world.will("http://w/tell", &[Reply::Refused]);
    let run = node.start("note", r#"{"id":1,"about":"cats"}"#).await;
    let run = run.expect("first");
    let failed = node.until(run, &[RunState::Failed]).await;
    let told = journal(&failed);
    assert!(
        told.contains(r#""usage":{"model":"gpt-1","input":12,"output":3,"cost":"0.25 USD"}"#),
        "{told}"
    );
    let plan = node.engine.plan(run, None).await.expect("a plan");
    let whats: Vec<_> = plan.steps.iter().map(|step| step.what).collect();
    assert_eq!(whats, [What::Reuse, What::Execute]);
    let again = node.engine.rerun(run, None, &plan.hash, "ada").await;
    let again = node.done(again.expect("again")).await;
    assert_eq!(node.world.saw("about cats"), 1);
    assert!(journal(&again).contains("soft"));
    assert!(!journal(&again).contains("usage"), "this run paid nothing");
}

/// What a step makes of an answer is its own; the answer itself is everybody's.
#[tokio::test]
async fn a_shared_answer_is_paid_once_and_read_by_each_in_its_own_way() {
    let node = node().await;
    let cached = format!("{ASK}, cache: 30d");
    node.deploy(&flow("one", &cached, "")).await;
    node.deploy(&flow("other", &cached, "    result: usage.output + 1"))
        .await;
    node.world.will("about cats", &[Reply::Ok(r#""soft""#)]);
    let first = node.start("one", r#"{"id":1,"about":"cats"}"#).await;
    node.done(first.expect("first")).await;
    for (flow, event, seen) in [
        (
            "one",
            r#"{"id":2,"about":"cats"}"#,
            r#""result":{"is":"soft"}"#,
        ),
        (
            "other",
            r#"{"id":1,"about":"cats"}"#,
            r#""result":{"is":4}"#,
        ),
    ] {
        let run = node.start(flow, event).await.expect("another");
        let told = journal(&node.done(run).await);
        assert!(told.contains(seen), "{told}");
        assert!(told.contains("reused"), "{told}");
    }
    assert_eq!(node.world.saw("about cats"), 1);
    let run = node.start("one", r#"{"id":3,"about":"dogs"}"#).await;
    node.done(run.expect("another question")).await;
    assert_eq!(node.world.saw("about dogs"), 1);
    // The name stands for another model from now on.
    means(&node.world, "gpt-2");
    let run = node.start("one", r#"{"id":4,"about":"cats"}"#).await;
    node.done(run.expect("another model")).await;
    assert_eq!(node.world.saw("about cats"), 2);
}

#[tokio::test]
async fn without_a_cache_each_unit_of_work_asks_for_itself() {
    let node = node().await;
    node.deploy(&flow("note", ASK, "")).await;
    for id in [1, 2] {
        let event = format!(r#"{{"id":{id},"about":"cats"}}"#);
        let run = node.start("note", &event).await.expect("one each");
        node.done(run).await;
    }
    assert_eq!(node.world.saw("about cats"), 2);
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_unless_the_file_says_otherwise() {
    let node = node().await;
    node.deploy(&flow("note", ASK, "")).await;
    node.deploy(&flow("careful", ASK, "    on_unknown: ask"))
        .await;
    let replies = [Reply::LostAfter, Reply::Busy, Reply::Ok(r#""soft""#)];
    node.world.will("about cats", &replies);
    let run = node.start("note", r#"{"id":1,"about":"cats"}"#).await;
    node.done(run.expect("first")).await;
    assert_eq!(node.world.saw("about cats"), 2);
    node.world.will("about dogs", &[Reply::LostAfter]);
    let run = node.start("careful", r#"{"id":1,"about":"dogs"}"#).await;
    node.until(run.expect("first"), &[RunState::Parked]).await;
    assert_eq!(node.world.saw("about dogs"), 1);
}

#[tokio::test]
async fn a_node_that_was_killed_asks_again_and_no_more() {
    let dir = tempfile::tempdir().expect("dir");
    let location = Location::Sqlite(dir.path().join("semel.db"));
    let store = Store::open(&location, Options::default()).await;
    let store = Arc::new(store.expect("a store"));
    let before = Node::on(store, Arc::<World>::default(), Some(dir.path())).await;
    means(&before.world, "gpt-1");
    // The time is no part of what is asked: the next attempt has the same name.
    let asked = "prompt: 'about ${{ event.about }}', sample: '${{ now() }}'";
    before.deploy(&flow("note", asked, "")).await;
    before.world.will("about cats", &[Reply::Hangs]);
    let run = before.start("note", r#"{"id":1,"about":"cats"}"#).await;
    let run = run.expect("first");
    before.world.hanging.notified().await;
    let (store, world) = before.kill();
    let after = Node::on(store, world, Some(dir.path())).await;
    after.done(run).await;
    assert_eq!(after.world.saw("about cats"), 2);
    let effects = effects(&after).await;
    let [effect] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(effect.entry.state, EffectState::Done);
    assert_eq!(effect.entry.attempt, 2);
}

/// Every effect of a question.
async fn effects(node: &Node) -> Vec<Record> {
    let filter = Filter {
        scope: Some(Scope::new("note/note").expect("a scope")),
        limit: 10,
        ..Filter::default()
    };
    let listed = node.engine.store().list(&filter).await;
    listed.expect("a list").items
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_paid_once_and_kept_as_evidence() {
    let node = node().await;
    node.deploy(&flow("note", ASK, "")).await;
    node.world.will("about cats", &[Reply::Misfit]);
    let run = node.start("note", r#"{"id":1,"about":"cats"}"#).await;
    let failed = node.until(run.expect("first"), &[RunState::Failed]).await;
    let told = journal(&failed);
    assert!(
        told.contains("does not fit") && told.contains(r#""output":3"#),
        "{told}"
    );
    let effects = effects(&node).await;
    let [effect] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(effect.entry.state, EffectState::Failed);
    let kept = effect.result.as_ref().expect("evidence");
    let kept = node.engine.store().text(kept).await.expect("read");
    assert!(kept.expect("text").contains("nonsense"));
}

#[tokio::test]
async fn a_model_that_is_not_there_is_said_and_nothing_is_claimed() {
    let node = Node::new().await;
    node.deploy(&flow("note", ASK, "")).await;
    let run = node.start("note", r#"{"id":1,"about":"cats"}"#).await;
    let run = run.expect("first");
    let failed = node.until(run, &[RunState::Failed]).await;
    assert!(journal(&failed).contains("there is no such model"));
    assert!(effects(&node).await.is_empty());
    let plan = node.engine.plan(run, None).await.expect("a plan");
    assert_eq!(plan.steps[0].what, What::Blocked);
}
