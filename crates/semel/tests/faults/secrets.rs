//! Two nodes with one set of secrets: what is set through one is in force at the other, and no key
//! is made that the other does not have.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Client;
use crate::node::Node;
use crate::nodes::Pair;
use crate::support::{Home, ends, told, until};

const FLOW: &str = "name: f
on: {webhook: {path: /hooks/f, verify: bearer, secret: '${{ secrets.HOOK }}', filter: 'false'}}
key: f/${{ event.id }}
steps: [{id: s, stop: no}]
";

/// How soon another node must know.
const SOON: Duration = Duration::from_secs(10);

fn set(pair: &Pair, node: &Node, value: &str) -> Output {
    let file = pair.home.file("value", value);
    let words = ["secrets", "set", "HOOK", "--from", &file];
    pair.through(node, &words).output().unwrap()
}

/// The status that a sender with this secret gets.
fn knock(node: &Node, secret: &str) -> u16 {
    let event = json!({"id": 1});
    let answer = Client::new(&node.address, secret).ask("POST", "/hooks/f", Some(&event));
    answer.unwrap().status
}

#[test]
fn what_is_set_through_one_node_is_in_force_at_the_other() {
    let home = Home::new();
    let keys = home.file("keys", "0a".repeat(32));
    fs::set_permissions(&keys, Permissions::from_mode(0o600)).unwrap();
    let pair = Pair::with(home, &[("SEMEL_SECRETS_KEY_FILE", &keys)]);
    let flow = pair.home.file("f.yaml", FLOW);
    let deployed = pair.through(&pair.one, &["deploy", &flow]);
    ends(&{ deployed }.stdin(Stdio::null()).output().unwrap(), 0, &[]);
    for value in ["first-secret", "second-secret"] {
        ends(&set(&pair, &pair.one, value), 0, &[]);
        assert_eq!(knock(&pair.one, value), 200, "at once where it was set");
        let began = Instant::now();
        until("the other knows", || {
            (knock(&pair.two, value) == 200).then_some(())
        });
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    }
    assert_eq!(knock(&pair.two, "first-secret"), 401);

    // Another key, put in front by whoever looks after the file; nobody restarts a node.
    fs::write(&keys, format!("{}\n{}\n", "0b".repeat(32), "0a".repeat(32))).unwrap();
    let rotated = pair.through(&pair.two, &["secrets", "rotate"]).output();
    ends(&rotated.unwrap(), 0, &["1 secrets are sealed"]);
    fs::write(&keys, "0b".repeat(32)).unwrap();
    ends(&set(&pair, &pair.two, "third-secret"), 0, &[]);
    until("the first knows", || {
        (knock(&pair.one, "third-secret") == 200).then_some(())
    });
}

#[test]
fn a_key_that_the_other_node_would_not_have_is_not_made() {
    let pair = Pair::with(Home::new(), &[]);
    let refused = set(&pair, &pair.one, "a-secret");
    ends(&refused, 1, &["other nodes", "SEMEL_SECRETS_KEY_FILE"]);
    for name in ["one", "two"] {
        let key = pair.home.path(name).join("secrets.key");
        assert!(!key.exists(), "{}", told(&refused));
    }
}
