//! How much each class of step makes durable: no more than it needs.

use semel_store::store::Written;
use std::fmt::Write as _;

use crate::world::Node;

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
    // What stands for itself in the ledger is 0, 0, 0, 1 and 2; neighbours share their commits. A run that
    // was taken up notes that before its first keyed step, once.
    let expected = [
        ("pure", (0, 1, 1), (0, 1, 1)),
        ("read", (0, 1, 1), (0, 5, 5)),
        ("set", (0, 1, 1), (0, 5, 5)),
        ("keyed", (1, 2, 2), (5, 6, 6)),
        ("guarded", (2, 2, 2), (10, 6, 6)),
    ];
    assert_eq!(found, expected);
}
