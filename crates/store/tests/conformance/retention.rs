//! Giving back what is no longer needed, and never what still is.

use semel_ledger::{Millis, Outcome, State, Verdict};
use semel_store::ReceiptFilter;

use crate::fixture::World;
use crate::shared::{
    LEASE, REMEMBER, START, Saying as _, claim, import, once, settle, sweep, undo,
};

crate::cases![
    a_tombstone_still_refuses_but_its_texts_are_gone,
    a_failed_tombstone_can_be_claimed_again,
    nothing_open_is_ever_swept,
    what_is_no_longer_remembered_is_absent,
    a_claim_after_it_was_forgotten_starts_anew,
    an_import_is_remembered_from_the_import_on,
    the_sweeper_walks_in_bites_and_ends,
];

async fn swept(world: &World) -> usize {
    world.store.sweep_bite(0).await.expect("a sweep").swept
}

async fn a_tombstone_still_refuses_but_its_texts_are_gone(world: World) {
    world.step(claim("a", 1).input("1").by("one")).await;
    let done = settle("a", 1, Outcome::Done).result("7").note("sent");
    world.step(done.external_id("m-1")).await;
    world.pass(Millis(world.store.keep().0 - 1));
    assert_eq!(swept(&world).await, 0);
    world.pass(Millis(1));
    assert_eq!(swept(&world).await, 1);
    let record = world.record("a").await;
    assert!(record.entry.tombstone);
    assert_eq!(record.entry.state, State::Done);
    assert_eq!((record.input, record.result), (None, None));
    assert_eq!((record.note, record.by), (None, None));
    assert_eq!(record.external_id.as_deref(), Some("m-1"));
    assert_eq!(swept(&world).await, 0);

    let refused = world.step(claim("a", 2).input("1")).await;
    assert_eq!(refused.verdict, Verdict::Done);
    let other = world.step(claim("a", 2).input("2")).await;
    assert_eq!(other.verdict, Verdict::Conflict, "the fingerprint is kept");
    let again = settle("a", 1, Outcome::Done).result("7").note("sent");
    let again = world.step(again.external_id("m-1")).await;
    assert_eq!(again.verdict, Verdict::Settled { again: true });
}

async fn a_failed_tombstone_can_be_claimed_again(world: World) {
    world.step(claim("a", 1).input("1")).await;
    world.step(settle("a", 1, Outcome::Failed).note("no")).await;
    world.pass(world.store.keep());
    assert_eq!(swept(&world).await, 1);
    let granted = world.step(claim("a", 2).input("2").by("two")).await;
    assert_eq!(granted.verdict, Verdict::Granted);
    let record = world.record("a").await;
    assert_eq!(record.entry.attempt, 2);
    assert!(!record.entry.tombstone);
    assert!(record.input.is_some());
}

async fn nothing_open_is_ever_swept(world: World) {
    world
        .step(claim("claimed", 1).lease(Millis::days(3000)))
        .await;
    world.step(claim("lapsed", 2)).await;
    world.step(claim("unknown", 3)).await;
    world
        .step(settle("unknown", 3, Outcome::Unknown).result("3"))
        .await;
    world.step(claim("review", 4)).await;
    world.step(settle("review", 4, Outcome::Unknown)).await;
    world.step(claim("review", 5)).await;
    world.pass(REMEMBER);
    world.pass(REMEMBER);
    let keys = ["claimed", "lapsed", "unknown", "review"];
    let mut before = Vec::new();
    for key in keys {
        before.push(world.record(key).await);
    }
    world.store.sweep_bite(0).await.expect("a sweep");
    for (key, before) in keys.into_iter().zip(before) {
        let swept = world.step(sweep(key, Millis(0))).await;
        let after = world.record(key).await;
        if key == "lapsed" {
            // The sweeper may be the one who finds the lease run out; it takes nothing away.
            assert_eq!(after.entry.state, State::Unknown);
            assert_eq!(after.entry.changed_at, START.after(LEASE));
        } else {
            assert_eq!(swept.verdict, Verdict::Kept, "{key}");
            assert_eq!(after, before);
        }
        assert!(!after.entry.tombstone);
    }
}

async fn what_is_no_longer_remembered_is_absent(world: World) {
    let brief = Millis::seconds(10);
    world.step(once("a", 1).remember(brief).result("1")).await;
    world.step(once("b", 2)).await;
    world.pass(Millis(brief.0 - 1));
    assert_eq!(swept(&world).await, 0);
    assert_eq!(world.step(once("a", 3)).await.verdict, Verdict::Done);
    world.pass(Millis(1));
    assert_eq!(swept(&world).await, 1);
    assert_eq!(world.find("a").await, None);
    assert_eq!(world.state("b").await, State::Done);
    let missing = world.step(settle("a", 1, Outcome::Done)).await;
    assert_eq!(missing.verdict, Verdict::Missing);
}

async fn a_claim_after_it_was_forgotten_starts_anew(world: World) {
    for swept_first in [false, true] {
        let key = if swept_first { "swept" } else { "left" };
        world.step(claim(key, 1).remember(LEASE).input("1")).await;
        world.step(settle(key, 1, Outcome::Failed)).await;
        world.step(once(key, 2).remember(LEASE).result("2")).await;
        world.step(undo(key).external_id("x")).await;
        world.step(once(key, 3)).await;
        assert_eq!(world.receipts(ReceiptFilter::default()).await.len(), 1);
        assert_eq!(world.turns(key).await.len(), 3);
        world.pass(LEASE);
        if swept_first {
            world.step(sweep(key, REMEMBER)).await;
        }
        let granted = world.step(claim(key, 4).input("4")).await;
        assert_eq!(granted.verdict, Verdict::Granted);
        let record = world.record(key).await;
        assert_eq!(record.entry.attempt, 1);
        assert_eq!(record.entry.created_at, world.store.now());
        assert_eq!((record.result, record.external_id), (None, None));
        assert_eq!(record.blocked, 0);
        assert_eq!(world.turns(key).await, []);
        assert_eq!(world.receipts(ReceiptFilter::default()).await, []);
    }
}

async fn an_import_is_remembered_from_the_import_on(world: World) {
    let long_ago = semel_ledger::Time(1);
    world.step(import("a", long_ago)).await;
    world.pass(Millis(REMEMBER.0 - 1));
    assert_eq!(world.step(claim("a", 1)).await.verdict, Verdict::Done);
    world.pass(Millis(1));
    assert_eq!(world.step(claim("a", 1)).await.verdict, Verdict::Granted);
}

async fn the_sweeper_walks_in_bites_and_ends(world: World) {
    let bite = semel_store::duty::BITE as u64;
    let all = (0..=bite).map(|n| once(&format!("k{n}"), n).remember(LEASE));
    world.commit(all.collect()).await;
    world.pass(LEASE);
    let first = world.store.sweep_bite(0).await.expect("a sweep");
    assert_eq!((first.seen, first.swept), (500, 500));
    assert!(first.next > 0);
    let rest = world.store.sweep_bite(first.next).await.expect("a sweep");
    assert_eq!((rest.seen, rest.swept, rest.next), (1, 1, 0));
}
