//! How much each class of step makes durable: no more than it needs.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use semel_ledger::Millis;
use semel_store::store::Written;

use crate::world::{Node, Reply};

/// How many steps of a kind follow each other in the longer flow.
const MANY: usize = 5;

/// A class, and a step of it.
const CLASSES: [(&str, &str); 5] = [
    ("pure", "set: {a: 1}"),
    ("read", "http: {get: 'http://shop/NAME'}"),
    ("set", "http: {put: 'http://shop/NAME', json: {a: 1}}"),
    (
        "keyed",
        "http: {post: 'http://shop/NAME', json: {a: 1}, idempotency: {header: Idempotency-Key, window: 24h}}",
    ),
    ("guarded", "http: {post: 'http://shop/NAME', json: {a: 1}}"),
];

fn flow(name: &str, steps: &[&str]) -> String {
    let mut flow = format!("name: {name}\non: manual\nkey: {name}/${{{{ event.id }}}}\nsteps:\n");
    for (at, step) in steps.iter().enumerate() {
        let id = format!("s{at}");
        let step = step.replace("NAME", &id);
        let _ = write!(flow, "  - id: {id}\n    {step}\n");
    }
    flow
}

/// What a run of these steps makes durable after it was started.
async fn written(name: &str, steps: &[&str]) -> Written {
    let node = Node::new().await;
    node.deploy(&flow(name, steps)).await;
    let before = node.engine.store().written();
    let run = node.start(name, r#"{"id":1}"#).await.expect("first");
    node.done(run).await;
    node.engine.store().written().since(before)
}

#[tokio::test]
async fn a_class_writes_what_it_needs_and_no_more() {
    let mut found = Vec::new();
    for (class, step) in CLASSES {
        let one = written(class, &[step]).await;
        let many = written(class, &[step; MANY]).await;
        let told = |it: Written| (it.effects, it.rows, it.commits);
        found.push((class, told(one), told(many)));
    }
    // In the ledger, rows, commits; of these the last commit is the run's own end, whatever its steps are.
    // What stands for itself in the ledger is 0, 0, 0, 1 and 2; neighbours share their commits, so that what is
    // set costs one, and what is only read none. A run that was taken up notes that before its first keyed step,
    // once.
    let expected = [
        ("pure", (0, 1, 1), (0, 1, 1)),
        ("read", (0, 1, 1), (0, 1, 1)),
        ("set", (0, 1, 1), (0, 5, 5)),
        ("keyed", (1, 2, 2), (5, 6, 6)),
        ("guarded", (2, 2, 2), (10, 6, 6)),
    ];
    assert_eq!(found, expected);
}

/// What is read or drawn goes into something that is set: it is the same after a crash.
#[tokio::test]
async fn what_was_read_is_durable_before_anything_leaves_that_it_is_in() {
    let node = Node::new().await;
    let source = "
name: copy
on: manual
key: copy/${{ event.id }}
steps:
  - id: drawn
    set: {it: '${{ uuid() }}'}
  - id: first
    http: {get: 'http://w/first'}
  - id: second
    http: {get: 'http://w/second?of=${{ steps.first.result.n }}'}
  - id: put
    http: {put: 'http://w/put', json: {n: '${{ steps.first.result.n }}', id: '${{ steps.drawn.result.it }}'}}
";
    node.deploy(source).await;
    let answers = [Reply::Ok(r#"{"n":1}"#), Reply::Ok(r#"{"n":2}"#)];
    node.world.will("http://w/first", &answers);
    node.world.will("http://w/second?of=1", &[Reply::Hangs]);
    node.world
        .will("http://w/put", &[Reply::Hangs, Reply::Ok("{}")]);
    let run = node.start("copy", r#"{"id":1}"#).await.expect("first");
    // Nothing left but questions: another node asks them again, and sees what is there by then.
    node.world.hanging.notified().await;
    let (store, world) = node.kill();
    let node = Node::on(store, world, None).await;
    // Now what was read is on its way.
    node.world.hanging.notified().await;
    let (store, world) = node.kill();
    let node = Node::on(store, world, None).await;
    node.done(run).await;
    assert_eq!(node.world.saw("http://w/first"), 2);
    assert_eq!(node.world.saw("http://w/second?of=2"), 1);
    let sent = node.world.sent("http://w/put");
    assert!(sent.len() == 2 && sent[0] == sent[1], "{sent:?}");
    assert!(sent[0].contains(r#""n":2"#), "{sent:?}");
}

/// People look at runs, and nobody wants much read twice.
#[tokio::test(start_paused = true)]
async fn what_was_read_is_not_kept_back_for_long() {
    let (node, clock) = Node::with_clock().await;
    node.deploy(&flow("slow", &["http: {get: 'http://w/NAME'}"; 2]))
        .await;
    node.world.will("http://w/s1", &[Reply::Held]);
    let run = node.start("slow", r#"{"id":1}"#).await.expect("first");
    node.world.hanging.notified().await;
    let store = Arc::clone(node.engine.store());
    let rows = async || {
        let loaded = store.load_run(run).await.expect("read");
        loaded.expect("a run").journal.len()
    };
    assert_eq!(rows().await, 1);
    clock.advance(Millis::seconds(2));
    // Time stands still while anything is to be done.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(rows().await, 2);
    node.world.let_go.notify_one();
    node.done(run).await;
}
