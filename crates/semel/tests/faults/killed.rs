//! SIGKILL in the middle of load, again and again on the same data: everything that was acknowledged
//! is there after each start, and what was claimed is still its holder's.

use std::hash::{BuildHasher as _, RandomState};

use crate::load;
use crate::node::{Node, token_in};
use crate::support::Home;
use crate::told::Told;

const ROUNDS: usize = 5;

#[test]
fn killed_at_random_under_load_loses_and_repeats_nothing() {
    let home = Home::new();
    let told = Told::default();
    let mut node = Node::start(&home);
    let token = token_in(&home.data());
    for round in 0..ROUNDS {
        let enough = 12 + usize::try_from(RandomState::new().hash_one(round) % 200).unwrap();
        load::until_broken(&mut node, &token, &told, (round, enough), Node::kill);
        node = Node::start(&home);
        let (held, done) = told.holds(&mut node.client(&token));
        assert!(held > 0 && done > enough / 2, "{held} held, {done} done");
    }
    told.holds(&mut node.client(&token));
    assert_eq!(node.terminate(), Some(0), "{}", node.said());
}
