//! Ends in good order: SIGTERM in the middle of load, and a second server on the same data.

use std::time::Instant;

use crate::load;
use crate::node::{Node, serve, token_in};
use crate::support::{Home, ends};
use crate::told::Told;

#[test]
fn terminated_under_load_keeps_what_it_acknowledged() {
    let home = Home::new();
    let told = Told::default();
    let mut node = Node::start(&home);
    let token = token_in(&home.data());
    for round in 0..3 {
        load::until_broken(&mut node, &token, &told, (round, 60), |node| {
            assert_eq!(node.terminate(), Some(0), "{}", node.said());
        });
        node = Node::start(&home);
        let (held, done) = told.holds(&mut node.client(&token));
        assert!(held > 0 && done > 30, "{held} held, {done} done");
    }
}

#[test]
fn a_second_server_names_the_first_and_leaves_it_alone() {
    let home = Home::new();
    let node = Node::start(&home);
    let mut client = node.client(&token_in(&home.data()));
    let told = Told::default();
    let began = Instant::now();
    let pid = node.child.id().to_string();
    ends(
        &serve(&home).output().unwrap(),
        1,
        &["is in use", &pid, "fix:"],
    );
    assert!(
        began.elapsed().as_secs() < 15,
        "it refuses, it does not wait"
    );
    let granted = told.claim(&mut client, "k", &crate::told::stranger());
    assert_eq!(granted.unwrap().status, 201);
    told.holds(&mut client);
}
