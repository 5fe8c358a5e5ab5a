//! Asking a person for leave: in review from the start, asked once, answered for exactly what was shown.

use semel_ledger::{Cause, Decision, Millis, State, Verdict};

use crate::fixture::World;
use crate::shared::{REMEMBER, Saying as _, claim, decide, request};

crate::cases![
    a_request_is_in_review_with_what_is_shown,
    the_same_request_again_is_still_asked,
    another_asking_for_the_same_is_refused_with_a_receipt,
    an_approval_is_found_again_for_exactly_what_was_shown,
    a_no_can_be_asked_again,
    an_open_request_is_never_swept,
];

async fn a_request_is_in_review_with_what_is_shown(world: World) {
    let asked = world.step(request("a", 1, "{\"ask\":1}").by("run")).await;
    assert_eq!((asked.verdict, asked.receipt), (Verdict::Asked, None));
    let record = world.record("a").await;
    assert_eq!(
        (record.entry.state, record.entry.attempt),
        (State::Review, 1)
    );
    assert_eq!(record.by.as_deref(), Some("run"));
    assert!(record.input.is_some());
    assert_eq!(world.turns("a").await, []);
}

async fn the_same_request_again_is_still_asked(world: World) {
    let first = world.step(request("a", 1, "1")).await;
    let again = world.step(request("a", 1, "1")).await;
    assert_eq!((again.verdict, again.receipt), (Verdict::Asked, None));
    assert_eq!(again.entry, first.entry);
}

async fn another_asking_for_the_same_is_refused_with_a_receipt(world: World) {
    world.step(request("a", 1, "1").by("one")).await;
    let other = world.step(request("a", 2, "1").by("two")).await;
    assert_eq!(other.verdict, Verdict::Unknown);
    assert!(other.receipt.is_some());
    let different = world.step(request("a", 3, "2")).await;
    assert_eq!(different.verdict, Verdict::Conflict);
    let act = world.step(claim("a", 4)).await;
    assert_eq!(act.verdict, Verdict::Unknown, "leave is not yet given");
    assert_eq!(world.record("a").await.by.as_deref(), Some("one"));
}

async fn an_approval_is_found_again_for_exactly_what_was_shown(world: World) {
    world.step(request("a", 1, "1")).await;
    let yes = decide("a", Decision::Happened)
        .by("ann")
        .result("{\"approved\":true}");
    assert_eq!(
        world.step(yes).await.verdict,
        Verdict::Decided { again: false }
    );
    let again = world.step(request("a", 2, "1")).await;
    assert_eq!(again.verdict, Verdict::Done);
    assert!(again.receipt.is_some());
    assert_eq!(
        world.result("a").await.as_deref(),
        Some("{\"approved\":true}")
    );
    let other = world.step(request("a", 3, "2")).await;
    assert_eq!(other.verdict, Verdict::Conflict);
    world.pass(REMEMBER);
    let anew = world.step(request("a", 4, "2")).await;
    assert_eq!(anew.verdict, Verdict::Asked, "it is forgotten as agreed");
}

async fn a_no_can_be_asked_again(world: World) {
    for (n, decision) in [(1, Decision::Failed), (3, Decision::Resend)] {
        let key = decision.name();
        world.step(request(key, n, "1")).await;
        world
            .step(decide(key, decision).by("ann").note("too much"))
            .await;
        let stale = world.step(request(key, n, "1")).await;
        assert_eq!(stale.verdict, Verdict::Stale);
        let again = world.step(request(key, n + 1, "2").by("run 2")).await;
        assert_eq!(again.verdict, Verdict::Asked);
        let record = world.record(key).await;
        assert_eq!(
            (record.entry.state, record.entry.attempt),
            (State::Review, 2)
        );
        assert_eq!((record.by.as_deref(), record.note), (Some("run 2"), None));
        let turns = world.turns(key).await;
        let causes: Vec<_> = turns.iter().map(|turn| turn.transition.cause).collect();
        assert_eq!(causes, [Cause::Decided(decision), Cause::Requested]);
        // A vote for the earlier asking says nothing of this one.
        let late = decide(key, Decision::Happened).of_attempt(1);
        assert_eq!(world.step(late).await.verdict, Verdict::NotOpen);
    }
}

async fn an_open_request_is_never_swept(world: World) {
    world.step(request("a", 1, "1")).await;
    world.pass(Millis(REMEMBER.0 * 3));
    world.store.sweep_bite(0).await.expect("a sweep");
    assert_eq!(world.state("a").await, State::Review);
}
