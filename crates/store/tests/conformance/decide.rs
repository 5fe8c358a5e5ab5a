//! What a person says, with who and why, and what was done before Semel was there.

use semel_ledger::{Cause, Decision, Millis, Outcome, State, Verdict};

use crate::fixture::World;
use crate::shared::{LEASE, START, Saying as _, claim, decide, import, once, settle, undo};

crate::cases![
    a_decision_is_kept_with_who_and_why,
    happened_answers_with_the_result_that_the_person_gave,
    the_same_decision_again_is_decided_again,
    there_is_nothing_to_decide_in_a_settled_effect,
    a_lapsed_claim_can_be_decided_at_once,
    undone_stays_refused_and_tells_who,
    only_what_is_done_can_be_undone,
    an_import_is_done_from_before,
    an_import_changes_nothing_that_exists,
];

const DECIDED: Verdict = Verdict::Decided { again: false };

async fn in_review(world: &World, key: &str, n: u64) {
    world.step(claim(key, n)).await;
    world.step(settle(key, n, Outcome::Unknown)).await;
    world.step(claim(key, n + 1000)).await;
    assert_eq!(world.state(key).await, State::Review);
}

async fn a_decision_is_kept_with_who_and_why(world: World) {
    let table = [
        ("h", Decision::Happened, State::Done),
        ("r", Decision::Resend, State::Released),
        ("f", Decision::Failed, State::Failed),
    ];
    for (n, (key, decision, state)) in (1..).zip(table) {
        in_review(&world, key, n).await;
        let said = decide(key, decision).by("ada").note("asked the customer");
        let answered = world.step(said).await;
        assert_eq!(answered.verdict, DECIDED);
        let record = world.record(key).await;
        assert_eq!(record.entry.state, state);
        assert_eq!(record.note.as_deref(), Some("asked the customer"));
        let turns = world.turns(key).await;
        let last = turns.last().expect("a turn");
        assert_eq!(last.transition.cause, Cause::Decided(decision));
        let (from, to) = (last.transition.from, last.transition.to);
        assert_eq!((from, to), (State::Review, state));
        assert_eq!(last.by.as_deref(), Some("ada"));
        assert_eq!(last.note.as_deref(), Some("asked the customer"));
    }
}

async fn happened_answers_with_the_result_that_the_person_gave(world: World) {
    in_review(&world, "a", 1).await;
    let said = decide("a", Decision::Happened).result("{\"seen\": 1}");
    world.step(said.external_id("m-7")).await;
    let refused = world.step(claim("a", 2)).await;
    assert_eq!(refused.verdict, Verdict::Done);
    let record = refused.record.expect("the record");
    assert_eq!(record.external_id.as_deref(), Some("m-7"));
    assert_eq!(world.result("a").await.as_deref(), Some("{\"seen\": 1}"));
}

async fn the_same_decision_again_is_decided_again(world: World) {
    in_review(&world, "a", 1).await;
    let said = || decide("a", Decision::Failed).note("no mail left");
    world.step(said()).await;
    let before = (world.record("a").await, world.turns("a").await);
    let again = world.step(said()).await;
    assert_eq!(again.verdict, Verdict::Decided { again: true });
    let other = world.step(said().note("another reason")).await;
    assert_eq!(other.verdict, Verdict::NotOpen);
    assert_eq!((world.record("a").await, world.turns("a").await), before);
}

async fn there_is_nothing_to_decide_in_a_settled_effect(world: World) {
    world.step(once("done", 1)).await;
    world.step(claim("claimed", 2)).await;
    for key in ["done", "claimed"] {
        let before = world.record(key).await;
        let answered = world.step(decide(key, Decision::Resend)).await;
        assert_eq!(answered.verdict, Verdict::NotOpen);
        assert_eq!(world.record(key).await, before);
    }
    let answered = world.step(decide("none", Decision::Happened)).await;
    assert_eq!(answered.verdict, Verdict::Missing);
    assert_eq!(world.find("none").await, None);
}

async fn a_lapsed_claim_can_be_decided_at_once(world: World) {
    world.step(claim("a", 1).by("one")).await;
    world.pass(LEASE);
    world.pass(Millis::seconds(3));
    let said = decide("a", Decision::Happened).by("ada").result("1");
    assert_eq!(world.step(said).await.verdict, DECIDED);
    let turns = world.turns("a").await;
    let told: Vec<_> = turns
        .iter()
        .map(|turn| (turn.transition.cause, turn.by.as_deref()))
        .collect();
    let decided = Cause::Decided(Decision::Happened);
    assert_eq!(told, [(Cause::LeaseRanOut, None), (decided, Some("ada"))]);
    assert_eq!(turns[0].transition.at, START.after(LEASE));
    assert_eq!(world.record("a").await.by.as_deref(), Some("one"));
}

async fn undone_stays_refused_and_tells_who(world: World) {
    world.step(once("a", 1).result("1")).await;
    let said = || undo("a").by("ada").note("refunded");
    let answered = world.step(said()).await;
    assert_eq!(answered.verdict, Verdict::Settled { again: false });
    assert_eq!(world.state("a").await, State::Undone);
    let again = world.step(said()).await;
    assert_eq!(again.verdict, Verdict::Settled { again: true });
    let turns = world.turns("a").await;
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].transition.cause, Cause::Undone);
    assert_eq!(turns[0].by.as_deref(), Some("ada"));
    assert_eq!(turns[0].note.as_deref(), Some("refunded"));
    assert_eq!(world.step(claim("a", 2)).await.verdict, Verdict::Done);
    assert_eq!(world.result("a").await.as_deref(), Some("1"));
}

async fn only_what_is_done_can_be_undone(world: World) {
    world.step(claim("a", 1)).await;
    assert_eq!(world.step(undo("a")).await.verdict, Verdict::NotOpen);
    assert_eq!(world.step(undo("none")).await.verdict, Verdict::Missing);
    assert_eq!(world.state("a").await, State::Claimed);
}

async fn an_import_is_done_from_before(world: World) {
    let long_ago = semel_ledger::Time(START.0 - 1_000_000_000_000);
    let imported = import("a", long_ago).result("1").external_id("old-1");
    let answered = world.step(imported.by("import")).await;
    assert_eq!(answered.verdict, Verdict::Imported);
    let refused = world.step(claim("a", 1)).await;
    assert_eq!(refused.verdict, Verdict::Done);
    let record = refused.record.expect("the record");
    assert_eq!(record.entry.created_at, long_ago);
    assert_eq!(record.entry.attempt, 0);
    assert_eq!(record.external_id.as_deref(), Some("old-1"));
    assert_eq!(world.result("a").await.as_deref(), Some("1"));
}

async fn an_import_changes_nothing_that_exists(world: World) {
    world.step(claim("a", 1)).await;
    world.step(import("b", START).result("1")).await;
    for key in ["a", "b"] {
        let before = world.record(key).await;
        let again = import(key, START).result("2").external_id("x");
        assert_eq!(world.step(again).await.verdict, Verdict::Exists);
        assert_eq!(world.record(key).await, before);
    }
}
