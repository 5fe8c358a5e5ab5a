//! When nobody knows whether it happened: decide, never run again unasked.

use semel_ledger::{Cause, Decision, OnUnknown, Outcome, State, Verdict};

use crate::fixture::World;
use crate::shared::{LEASE, REMEMBER, START, Saying as _, claim, decide, lapse, settle};

crate::cases![
    a_lost_answer_is_unknown,
    asked_it_goes_to_review_and_only_a_person_lifts_it,
    the_rule_retry_grants_again,
    the_rule_skip_takes_it_as_done,
    the_rule_of_the_earlier_claim_holds_if_none_is_given,
    another_input_is_a_conflict_although_unknown,
    a_claim_finds_the_lease_run_out,
    lapse_due_notices_leases_that_ran_out,
    lapse_due_leaves_the_others_alone,
];

async fn unknown(world: &World, key: &str, n: u64) {
    world.step(claim(key, n)).await;
    let lost = settle(key, n, Outcome::Unknown).note("connection reset");
    let answered = world.step(lost).await;
    assert_eq!(answered.verdict, Verdict::Settled { again: false });
}

async fn a_lost_answer_is_unknown(world: World) {
    unknown(&world, "a", 1).await;
    let record = world.record("a").await;
    assert_eq!(record.entry.state, State::Unknown);
    assert_eq!(record.note.as_deref(), Some("connection reset"));
    let turns = world.turns("a").await;
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].transition.cause, Cause::AnswerLost);
    assert_eq!(turns[0].note.as_deref(), Some("connection reset"));
}

async fn asked_it_goes_to_review_and_only_a_person_lifts_it(world: World) {
    unknown(&world, "a", 1).await;
    let refused = world.step(claim("a", 2).rule(OnUnknown::Ask)).await;
    assert_eq!(refused.verdict, Verdict::Unknown);
    assert!(refused.receipt.is_some());
    assert_eq!(world.state("a").await, State::Review);
    for rule in [OnUnknown::Ask, OnUnknown::Retry, OnUnknown::Skip] {
        world.pass(REMEMBER);
        let refused = world.step(claim("a", 3).rule(rule)).await;
        assert_eq!(refused.verdict, Verdict::Unknown, "{rule:?}");
        assert_eq!(world.state("a").await, State::Review);
    }
    world.step(decide("a", Decision::Resend).by("ada")).await;
    let granted = world.step(claim("a", 4)).await;
    assert_eq!(granted.verdict, Verdict::Granted);
    assert_eq!(granted.entry.expect("an entry").attempt, 2);
}

async fn the_rule_retry_grants_again(world: World) {
    unknown(&world, "a", 1).await;
    let granted = world.step(claim("a", 2).rule(OnUnknown::Retry)).await;
    assert_eq!(granted.verdict, Verdict::Granted);
    assert_eq!(granted.entry.expect("an entry").attempt, 2);
    let causes: Vec<_> = world.turns("a").await;
    let causes: Vec<_> = causes.iter().map(|turn| turn.transition.cause).collect();
    assert_eq!(causes, [Cause::AnswerLost, Cause::ClaimedAgain]);
}

async fn the_rule_skip_takes_it_as_done(world: World) {
    unknown(&world, "a", 1).await;
    let skipped = world
        .step(claim("a", 2).rule(OnUnknown::Skip).by("bo"))
        .await;
    assert_eq!(skipped.verdict, Verdict::Done);
    assert!(skipped.receipt.is_some());
    assert_eq!(world.state("a").await, State::Done);
    let turns = world.turns("a").await;
    let last = turns.last().expect("a turn");
    assert_eq!(last.transition.cause, Cause::Skipped);
    assert_eq!(last.by.as_deref(), Some("bo"));
}

async fn the_rule_of_the_earlier_claim_holds_if_none_is_given(world: World) {
    world.step(claim("a", 1).rule(OnUnknown::Retry)).await;
    world.pass(LEASE);
    let granted = world.step(claim("a", 2)).await;
    assert_eq!(granted.verdict, Verdict::Granted);
    world.pass(LEASE);
    let again = world.step(claim("a", 3)).await;
    assert_eq!(
        again.verdict,
        Verdict::Granted,
        "it holds until another is given"
    );
    world.pass(LEASE);
    let asked = world.step(claim("a", 4).rule(OnUnknown::Ask)).await;
    assert_eq!(asked.verdict, Verdict::Unknown);
}

async fn another_input_is_a_conflict_although_unknown(world: World) {
    world.step(claim("a", 1).input("1")).await;
    world.pass(LEASE);
    let other = claim("a", 2).input("2").rule(OnUnknown::Retry);
    assert_eq!(world.step(other).await.verdict, Verdict::Conflict);
    assert_eq!(world.state("a").await, State::Unknown);
}

async fn a_claim_finds_the_lease_run_out(world: World) {
    world.step(claim("a", 1).by("one")).await;
    world.pass(LEASE);
    let refused = world.step(claim("a", 2).by("two")).await;
    assert_eq!(refused.verdict, Verdict::Unknown);
    assert_eq!(refused.entry.expect("an entry").state, State::Review);
    let turns = world.turns("a").await;
    let told: Vec<_> = turns
        .iter()
        .map(|turn| (turn.transition.cause, turn.by.as_deref()))
        .collect();
    assert_eq!(
        told,
        [(Cause::LeaseRanOut, None), (Cause::Asked, Some("two"))]
    );
    assert_eq!(turns[0].transition.at, START.after(LEASE));
}

async fn lapse_due_notices_leases_that_ran_out(world: World) {
    for n in 1..=7 {
        world.step(claim(&format!("k{n}"), n)).await;
    }
    assert_eq!(world.store.lapse_due().await.expect("a count"), 0);
    world.pass(LEASE);
    assert_eq!(world.store.lapse_due().await.expect("a count"), 7);
    for n in 1..=7 {
        let record = world.record(&format!("k{n}")).await;
        assert_eq!(record.entry.state, State::Unknown);
    }
    assert_eq!(world.store.lapse_due().await.expect("a count"), 0);
    let again = world.step(lapse("k1")).await;
    assert_eq!(again.verdict, Verdict::Kept);
}

async fn lapse_due_leaves_the_others_alone(world: World) {
    world.step(claim("short", 1)).await;
    world.step(claim("long", 2).lease(REMEMBER)).await;
    world.step(claim("done", 3)).await;
    world.step(settle("done", 3, Outcome::Done)).await;
    let before = (world.record("long").await, world.record("done").await);
    world.pass(LEASE);
    assert_eq!(world.store.lapse_due().await.expect("a count"), 1);
    let after = (world.record("long").await, world.record("done").await);
    assert_eq!(after, before);
}
