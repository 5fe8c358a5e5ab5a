//! Callers at work: distinct keys that are done, fail and are tried again or stay open, and shared
//! keys that all callers want. They go on until the server no longer answers.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::client::Client;
use crate::node::Node;
use crate::support::until;
use crate::told::{Told, stranger};

const CALLERS: usize = 6;

/// More than any server gets through before it is broken; a test that cannot break it still ends.
const MOST_TURNS: usize = 5_000;

/// Runs callers against the node; once they have this many acknowledgements, breaks it.
pub(crate) fn until_broken(
    node: &mut Node,
    token: &str,
    told: &Told,
    (round, enough): (usize, usize),
    break_it: impl FnOnce(&mut Node),
) {
    let acknowledged = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let call = |caller| {
            let mut client = node.client(token);
            let acknowledged = &acknowledged;
            scope.spawn(move || {
                for turn in 0..MOST_TURNS {
                    let name = format!("{round}-{caller}-{turn}");
                    let shared = format!("{round}-all-{turn}");
                    let worked = own(&mut client, told, &name, turn)
                        .and_then(|()| wanted_by_all(&mut client, told, &shared));
                    if worked.is_none() {
                        return;
                    }
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let callers: Vec<_> = (0..CALLERS).map(call).collect();
        until("enough is acknowledged", || {
            let given_up = callers
                .iter()
                .any(std::thread::ScopedJoinHandle::is_finished);
            assert!(!given_up, "a caller gave up before anything was broken");
            (acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
        });
        break_it(node);
    });
}

/// A key of one caller: every third stays open, every third fails first.
fn own(client: &mut Client, told: &Told, key: &str, turn: usize) -> Option<()> {
    let token = stranger();
    granted(client, told, key, &token)?;
    if turn.is_multiple_of(3) {
        return Some(());
    }
    if turn % 3 == 1 {
        settled(client, told, key, &token, "failed")?;
        let again = stranger();
        granted(client, told, key, &again)?;
        return settled(client, told, key, &again, "done");
    }
    settled(client, told, key, &token, "done")
}

/// A key that every caller claims: who gets it does it.
fn wanted_by_all(client: &mut Client, told: &Told, key: &str) -> Option<()> {
    let token = stranger();
    let answer = told.claim(client, key, &token)?;
    match answer.status {
        201 => settled(client, told, key, &token, "done"),
        200 | 409 => Some(()),
        503 => None,
        _ => panic!("{key}: {answer:?}"),
    }
}

fn granted(client: &mut Client, told: &Told, key: &str, token: &str) -> Option<()> {
    let answer = told.claim(client, key, token)?;
    accepted(key, &answer, 201)
}

fn settled(
    client: &mut Client,
    told: &Told,
    key: &str,
    token: &str,
    outcome: &'static str,
) -> Option<()> {
    let answer = told.settle(client, key, token, outcome)?;
    accepted(key, &answer, 200)
}

/// A server that is about to end may say so; anything else is wrong.
fn accepted(key: &str, answer: &crate::client::Answer, status: u16) -> Option<()> {
    assert!([status, 503].contains(&answer.status), "{key}: {answer:?}");
    (answer.status == status).then_some(())
}
