//! A disk whose syncs and writes fail from some moment on, by `strace`: the server stops
//! acknowledging, says why and ends; the next start has everything that was acknowledged.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::client::Client;
use crate::node::{Node, behind, serve, token_in};
use crate::support::Home;
use crate::told::{Told, stranger};

/// Four callers are enough for commits to be shared.
const CALLERS: usize = 4;

/// More than it takes to meet the fault; where there are no syncs, the test still ends.
const MOST_TURNS: usize = 1_000;

#[test]
fn a_failed_sync_ends_the_server_and_loses_nothing() {
    for nth in [20, 43] {
        fails_from("fsync,fdatasync", nth);
    }
}

#[test]
fn a_failed_write_ends_the_server_and_loses_nothing() {
    fails_from("pwrite64", 150);
}

/// Serves until the nth of these calls of a thread and all later ones fail with EIO.
fn fails_from(calls: &str, nth: usize) {
    let home = Home::new();
    let told = Told::default();
    let trace = home.path("trace");
    let inject = format!("inject={calls}:error=EIO:when={nth}+");
    let traced = format!("trace={calls}");
    let log = trace.to_str().unwrap();
    let words = ["-D", "-f", "-o", log, "-e", &traced, "-e", &inject];
    let mut node = Node::spawn(&home, behind("strace", &words, &serve(&home)), "data");
    node.wait_until_serving(&home.data());
    let token = token_in(&home.data());
    assert_eq!(injected(&trace), 0, "the start must not meet the fault");
    claim_until_it_fails(&node, &token, &told);
    assert_eq!(node.end(), Some(1), "{}", node.said());
    let said = node.said();
    assert!(
        said.contains("the store failed") && said.contains("fix:"),
        "{said}"
    );
    assert!(injected(&trace) > 0, "the fault fired");
    let mut node = Node::start(&home);
    let (held, _) = told.holds(&mut node.client(&token));
    assert!(held > CALLERS, "only {held} claims before the fault");
    assert_eq!(node.terminate(), Some(0), "{}", node.said());
}

/// Claims from several callers until nobody answers. After the first failure there is no success.
fn claim_until_it_fails(node: &Node, token: &str, told: &Told) {
    let broken = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let mut client = node.client(token);
            let broken = &broken;
            scope.spawn(move || {
                for turn in 0..MOST_TURNS {
                    let key = format!("{caller}-{turn}");
                    if !claim(&mut client, told, &key, broken) {
                        return;
                    }
                }
            });
        }
    });
    assert!(broken.into_inner(), "somebody was told of the failure");
}

/// Whether there was an answer at all.
fn claim(client: &mut Client, told: &Told, key: &str, broken: &AtomicBool) -> bool {
    let late = broken.load(Ordering::SeqCst);
    let Some(answer) = told.claim(client, key, &stranger()) else {
        return false;
    };
    if answer.is_success() {
        assert!(!late, "acknowledged after a failure: {answer:?}");
    } else {
        assert_eq!(answer.status, 503, "{answer:?}");
        broken.store(true, Ordering::SeqCst);
    }
    true
}

fn injected(trace: &Path) -> usize {
    let text = std::fs::read_to_string(trace).unwrap();
    text.matches("(INJECTED)").count()
}
