//! What the holder of a grant may say, and what becomes of those who hold none.

use semel_ledger::{Cause, Millis, Outcome, State, Verdict};

use crate::fixture::World;
use crate::shared::{LEASE, START, Saying as _, abandon, claim, heartbeat, settle};

crate::cases![
    done_keeps_its_result,
    the_same_settlement_again_is_settled_again,
    another_settlement_of_the_same_grant_is_stale,
    a_heartbeat_extends_the_lease,
    a_heartbeat_never_shortens_the_lease,
    a_stale_fence_changes_nothing,
    a_settlement_after_the_lease_is_stale_and_the_effect_unknown,
    the_holder_of_an_earlier_attempt_changes_nothing,
    nothing_can_be_said_of_what_is_not_there,
    an_abandoned_claim_is_unknown,
];

const AGAIN: Verdict = Verdict::Settled { again: true };
const SETTLED: Verdict = Verdict::Settled { again: false };

async fn done_keeps_its_result(world: World) {
    world.step(claim("a", 1).input("1")).await;
    world.pass(Millis::seconds(5));
    let done = settle("a", 1, Outcome::Done).result("[ 1 ]").note("sent");
    let answered = world.step(done).await;
    assert_eq!(answered.verdict, SETTLED);
    let record = world.record("a").await;
    assert_eq!(answered.record.as_deref(), Some(&record));
    assert_eq!(record.entry.state, State::Done);
    assert_eq!(record.entry.changed_at, START.after(Millis::seconds(5)));
    assert_eq!(record.entry.claimed_at, START);
    assert_eq!(record.note.as_deref(), Some("sent"));
    assert!(record.input.is_some());
    assert_eq!(world.result("a").await.as_deref(), Some("[ 1 ]"));
    assert_eq!(world.turns("a").await, [], "the row itself tells of these");
}

async fn the_same_settlement_again_is_settled_again(world: World) {
    world.step(claim("a", 1)).await;
    let done = || settle("a", 1, Outcome::Done).result("1").external_id("x");
    world.step(done()).await;
    let before = world.record("a").await;
    world.pass(Millis::seconds(5));
    assert_eq!(world.step(done()).await.verdict, AGAIN);
    assert_eq!(world.record("a").await, before);
}

async fn another_settlement_of_the_same_grant_is_stale(world: World) {
    world.step(claim("a", 1)).await;
    world.step(settle("a", 1, Outcome::Done).result("1")).await;
    let before = world.record("a").await;
    for other in [
        settle("a", 1, Outcome::Done).result("2"),
        settle("a", 1, Outcome::Failed).result("1"),
        settle("a", 1, Outcome::Done).result("1").external_id("x"),
    ] {
        assert_eq!(world.step(other).await.verdict, Verdict::Stale);
        assert_eq!(world.record("a").await, before);
    }
}

async fn a_heartbeat_extends_the_lease(world: World) {
    world.step(claim("a", 1)).await;
    world.pass(Millis::seconds(50));
    let answered = world.step(heartbeat("a", 1, LEASE)).await;
    assert_eq!(answered.verdict, Verdict::Extended);
    let until = START.after(Millis::seconds(110));
    assert_eq!(world.record("a").await.entry.lease_until, until);
    world.pass(Millis::seconds(50));
    assert_eq!(world.state("a").await, State::Claimed);
    let answered = world.step(settle("a", 1, Outcome::Done)).await;
    assert_eq!(answered.verdict, SETTLED);
}

async fn a_heartbeat_never_shortens_the_lease(world: World) {
    world.step(claim("a", 1)).await;
    let answered = world.step(heartbeat("a", 1, Millis::seconds(1))).await;
    assert_eq!(answered.verdict, Verdict::Extended);
    assert_eq!(
        world.record("a").await.entry.lease_until,
        START.after(LEASE)
    );
}

async fn a_stale_fence_changes_nothing(world: World) {
    world.step(claim("a", 1).input("1").by("holder")).await;
    let before = world.record("a").await;
    for stale in [
        settle("a", 2, Outcome::Done).result("2").external_id("x"),
        settle("a", 2, Outcome::Failed).note("no"),
        settle("a", 2, Outcome::Unknown),
        settle("a", 2, Outcome::Released),
        heartbeat("a", 2, Millis::days(1)),
        abandon("a", 2),
    ] {
        let answered = world.step(stale).await;
        assert_eq!(answered.verdict, Verdict::Stale);
        assert_eq!(world.record("a").await, before);
    }
    assert_eq!(world.turns("a").await, []);
}

async fn a_settlement_after_the_lease_is_stale_and_the_effect_unknown(world: World) {
    world.step(claim("a", 1)).await;
    world.pass(LEASE);
    let late = settle("a", 1, Outcome::Done).result("1").external_id("x");
    assert_eq!(world.step(late).await.verdict, Verdict::Stale);
    let record = world.record("a").await;
    assert_eq!(record.entry.state, State::Unknown);
    assert_eq!(record.entry.changed_at, START.after(LEASE));
    assert_eq!((record.result, record.external_id), (None, None));
    let turns = world.turns("a").await;
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].transition.cause, Cause::LeaseRanOut);
    let beat = world.step(heartbeat("a", 1, LEASE)).await;
    assert_eq!(beat.verdict, Verdict::Stale);
}

async fn the_holder_of_an_earlier_attempt_changes_nothing(world: World) {
    world.step(claim("a", 1)).await;
    world.step(settle("a", 1, Outcome::Released)).await;
    world.step(claim("a", 2)).await;
    let before = world.record("a").await;
    let late = settle("a", 1, Outcome::Done).result("1");
    assert_eq!(world.step(late).await.verdict, Verdict::Stale);
    assert_eq!(world.record("a").await, before);
}

async fn nothing_can_be_said_of_what_is_not_there(world: World) {
    for change in [
        settle("a", 1, Outcome::Done).result("1"),
        heartbeat("a", 1, LEASE),
        abandon("a", 1),
    ] {
        let answered = world.step(change).await;
        assert_eq!(answered.verdict, Verdict::Missing);
        assert_eq!(answered.entry, None);
    }
    assert_eq!(world.find("a").await, None);
}

async fn an_abandoned_claim_is_unknown(world: World) {
    world.step(claim("a", 1)).await;
    world.pass(Millis::seconds(1));
    let answered = world.step(abandon("a", 1)).await;
    assert_eq!(answered.verdict, Verdict::Swept);
    assert_eq!(world.state("a").await, State::Unknown);
    let turns = world.turns("a").await;
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].transition.cause, Cause::OwnerDied);
    assert_eq!(turns[0].transition.at, START.after(Millis::seconds(1)));
    let late = world.step(settle("a", 1, Outcome::Done)).await;
    assert_eq!(late.verdict, Verdict::Stale);
}
