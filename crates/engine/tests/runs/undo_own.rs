//! Whose work a run takes back, and what is left of it for the runs after.

use semel_engine::plan::What;
use semel_store::run::RunState;

use crate::undo::{ORDER, started, undone};
use crate::world::Reply;

#[tokio::test]
async fn an_effect_that_was_taken_back_is_not_taken_as_done() {
    let (node, run) = started(ORDER, &[("last", &[Reply::Refused])]).await;
    node.until(run, &[RunState::Undone]).await;
    let plan = node.engine.plan(run, None).await.expect("a plan");
    let what: Vec<_> = plan.steps.iter().map(|it| (&*it.step, it.what)).collect();
    let expected = [
        ("charge", What::Blocked),
        ("look", What::Reuse),
        ("parcel", What::Blocked),
        ("plain", What::Reuse),
        ("seat", What::Execute),
        ("last", What::Execute),
    ];
    assert_eq!(what, expected);
    assert!(
        plan.steps[0].why.contains("another key"),
        "{}",
        plan.steps[0].why
    );
    let again = node.engine.rerun(run, None, &plan.hash, "ada").await;
    let loaded = node.until(again.expect("again"), &[RunState::Parked]).await;
    assert!(loaded.run.why.contains("taken back"), "{}", loaded.run.why);
    assert_eq!(node.world.saw("http://w/charge"), 1);
}

#[tokio::test]
async fn what_another_run_did_is_not_taken_back_and_what_the_run_before_did_is() {
    let other = ORDER.replace("name: order", "name: other").replace(
        "  - id: charge\n",
        "  - id: charge\n    scope: order/charge\n",
    );
    let (node, run) = started(ORDER, &[]).await;
    node.done(run).await;
    node.deploy(&other).await;
    node.world
        .will("http://w/last", &[Reply::Refused, Reply::Refused]);
    let second = node.start("other", r#"{"id":1}"#).await.expect("first");
    node.until(second, &[RunState::Undone]).await;
    // The order relies on its charge; all else is the second run's own.
    assert_eq!(undone(&node), ["seat-free", "recall"]);
    let longer = format!(
        "{}\n",
        ORDER.replace("on_failure:", "  - id: more\n    fail: no\non_failure:")
    );
    node.deploy(&longer).await;
    let live = node.engine.flows().live();
    let release = live.flows.get("order").cloned();
    let plan = node
        .engine
        .plan(run, release.clone())
        .await
        .expect("a plan");
    let again = node.engine.rerun(run, release, &plan.hash, "ada").await;
    node.until(again.expect("again"), &[RunState::Undone]).await;
    assert_eq!(
        undone(&node)[2..],
        ["last-undo", "seat-free", "recall", "refund"]
    );
    assert_eq!(node.world.saw("http://w/charge"), 1);
}

#[tokio::test]
async fn what_ensure_found_is_not_taken_back_and_what_it_made_is() {
    const YES: Reply = Reply::Ok(r#"{"yes":true}"#);
    const NO: Reply = Reply::Ok(r#"{"yes":false}"#);
    let source = "
name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: contact
    ensure:
      find: {http: {get: 'http://w/find'}, found: body.yes}
      create: {http: {post: 'http://w/create'}}
      settle: 1ms
    undo: {http: {post: 'http://w/refund'}}
  - id: no
    fail: no
";
    for (finds, creates, how) in [
        (vec![YES], vec![], RunState::Failed),
        (vec![NO], vec![Reply::Ok("{}")], RunState::Undone),
        (vec![NO, YES], vec![Reply::LostAfter], RunState::Undone),
    ] {
        let (node, run) = started(source, &[("find", &finds), ("create", &creates)]).await;
        node.until(run, &[how]).await;
        assert_eq!(
            node.world.saw("http://w/refund"),
            u32::from(how == RunState::Undone)
        );
    }
}

#[tokio::test]
async fn an_item_that_fails_takes_back_its_own_steps_and_no_other_items() {
    let source = "
name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: each
    for_each: '[1, 2]'
    as: n
    key: i/${{ n }}
    steps:
      - id: book
        http: {post: 'http://w/book'}
        undo: {http: {post: 'http://w/free-${{ n }}'}}
      - id: check
        if: n == 2
        fail: no
";
    let (node, run) = started(source, &[]).await;
    let loaded = node.until(run, &[RunState::Failed]).await;
    assert!(
        loaded.run.why.contains("1 of 2 items failed"),
        "{}",
        loaded.run.why
    );
    let freed = ["http://w/free-1", "http://w/free-2"].map(|url| node.world.saw(url));
    assert_eq!(freed, [0, 1]);
}
