//! Proof of what was blocked: in full at first, then counted, and gone with its effect.

use semel_ledger::{Millis, Outcome, Scope, State, Time, Verdict};
use semel_store::receipt::FULL_RECEIPTS;
use semel_store::{ReceiptFilter, Tally};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::{LEASE, START, Saying as _, claim, effect, once, settle, sweep, undo};

crate::cases![
    a_refusal_is_on_record_as_it_was_answered,
    receipts_are_not_written_before_they_are_due,
    whoever_asks_for_receipts_waits_for_those_under_way,
    the_first_hundred_are_kept_in_full_and_the_rest_counted,
    counting_goes_on_where_it_stood,
    refusals_are_tallied_by_hour,
    filters_pick_receipts,
    receipts_are_paged_newest_first,
    receipts_go_with_a_tombstone_and_their_count_stays,
    receipts_of_a_tombstone_stay_whatever_is_tried_on_it,
    receipts_go_with_a_tombstone_that_is_claimed_again_at_once,
    receipts_go_with_their_effect,
    a_receipt_of_nothing_on_record_is_only_tallied,
    a_node_that_remembers_counts_and_notices_changes_as_any_other,
];

async fn all(world: &World) -> Vec<semel_store::Receipt> {
    world.receipts(ReceiptFilter::default()).await
}

async fn a_refusal_is_on_record_as_it_was_answered(world: World) {
    world.step(claim("a", 1)).await;
    world.step(settle("a", 1, Outcome::Failed)).await;
    world.step(claim("a", 2)).await;
    world.pass(Millis::seconds(5));
    let refused = world.step(claim("a", 3).by("cron")).await;
    let receipts = all(&world).await;
    assert_eq!(receipts.len(), 1);
    let receipt = &receipts[0];
    assert_eq!(Some(receipt.id), refused.receipt);
    assert_eq!(receipt.effect, effect("a"));
    assert_eq!(receipt.verdict, Verdict::Busy);
    assert_eq!(receipt.at, START.after(Millis::seconds(5)));
    assert_eq!(receipt.by.as_deref(), Some("cron"));
    assert_eq!((receipt.attempt, receipt.count), (2, 1));
    assert_eq!(world.record("a").await.blocked, 1);
}

async fn receipts_are_not_written_before_they_are_due(world: World) {
    world.step(once("a", 1)).await;
    world.step(once("a", 2)).await;
    let filter = ReceiptFilter {
        limit: 9,
        ..ReceiptFilter::default()
    };
    let page = world.store.receipts(&filter).await.expect("a page");
    assert!(page.items.is_empty(), "the answer did not wait for it");
    assert_eq!(world.store.write_receipts().await.expect("a count"), 1);
    assert_eq!(world.store.write_receipts().await.expect("a count"), 0);
    let page = world.store.receipts(&filter).await.expect("a page");
    assert_eq!(page.items.len(), 1);
}

async fn whoever_asks_for_receipts_waits_for_those_under_way(world: World) {
    world.step(once("a", 1)).await;
    world.step(once("a", 2)).await;
    let (written, seen) = tokio::join!(
        biased;
        world.store.write_receipts(),
        world.receipts(ReceiptFilter::default()),
    );
    assert_eq!((written.expect("a count"), seen.len()), (1, 1));
}

async fn the_first_hundred_are_kept_in_full_and_the_rest_counted(world: World) {
    world.step(once("a", 1)).await;
    let mut ids = Vec::new();
    for n in 2..252 {
        let refused = world.step(once("a", n)).await;
        ids.push(refused.receipt.expect("a receipt"));
    }
    let receipts = all(&world).await;
    assert_eq!(receipts.len() as u64, FULL_RECEIPTS);
    let mut kept: Vec<_> = receipts.iter().map(|receipt| receipt.id).collect();
    kept.reverse();
    assert_eq!(kept, ids[..100], "newest first");
    assert!(ids[100..].iter().all(|id| *id == ids[100]), "one count");
    assert_eq!(world.record("a").await.blocked, 250);
}

async fn counting_goes_on_where_it_stood(world: World) {
    world.step(once("a", 1)).await;
    for (round, full) in [60_u64, 100, 100].into_iter().enumerate() {
        for n in 0..60 {
            world.step(once("a", 100 + n)).await;
        }
        assert_eq!(all(&world).await.len() as u64, full);
        let blocked = 60 * (round as u64 + 1);
        assert_eq!(world.record("a").await.blocked, blocked);
    }
}

async fn refusals_are_tallied_by_hour(world: World) {
    let hour = Time(START.0 - START.0 % 3_600_000);
    world.step(once("a", 1)).await;
    world
        .step(claim("b", 2).of_scope("sms").lease(Millis::days(1)))
        .await;
    for n in 0..120 {
        world.step(once("a", 10 + n)).await;
    }
    world.step(claim("b", 3).of_scope("sms")).await;
    world.store.write_receipts().await.expect("receipts");
    world.pass(Millis::seconds(3600));
    world.step(once("a", 5)).await;
    world.store.write_receipts().await.expect("receipts");
    world.step(once("a", 6)).await;
    world.store.write_receipts().await.expect("receipts");
    let tally = |scope: &str, hour, verdict, count| Tally {
        scope: scope.to_owned(),
        hour,
        verdict,
        count,
    };
    let next = hour.after(Millis::seconds(3600));
    let expected = [
        tally("mail", hour, Verdict::Done, 120),
        tally("sms", hour, Verdict::Busy, 1),
        tally("mail", next, Verdict::Done, 2),
    ];
    let tallies = world.store.tallies(Time(0)).await.expect("tallies");
    assert_eq!(tallies, expected);
    let later = world.store.tallies(next).await.expect("tallies");
    assert_eq!(later, expected[2..]);
}

async fn filters_pick_receipts(world: World) {
    world.step(once("a", 1)).await;
    world
        .step(
            claim("b", 2)
                .of_scope("sms")
                .input("1")
                .lease(Millis::days(1)),
        )
        .await;
    world.step(once("a", 3).by("1")).await;
    world.step(claim("b", 4).of_scope("sms").by("2")).await;
    world.pass(Millis::seconds(1));
    world
        .step(claim("b", 5).of_scope("sms").input("2").by("3"))
        .await;
    let whose = async |filter: ReceiptFilter| -> Vec<String> {
        let receipts = world.receipts(filter).await;
        let by = receipts.iter().map(|receipt| receipt.by.as_deref());
        by.map(|by| by.unwrap_or("nobody").to_owned()).collect()
    };
    let any = ReceiptFilter::default;
    assert_eq!(whose(any()).await, ["3", "2", "1"]);
    let scope = Some(Scope::new("sms").expect("a scope"));
    assert_eq!(whose(ReceiptFilter { scope, ..any() }).await, ["3", "2"]);
    let effect = Some(effect("a").hash());
    assert_eq!(whose(ReceiptFilter { effect, ..any() }).await, ["1"]);
    let verdict = Some(Verdict::Conflict);
    assert_eq!(whose(ReceiptFilter { verdict, ..any() }).await, ["3"]);
    let since = Some(START.after(Millis(1000)));
    assert_eq!(whose(ReceiptFilter { since, ..any() }).await, ["3"]);
    let since = Some(START.after(Millis(1001)));
    assert_eq!(whose(ReceiptFilter { since, ..any() }).await, [""; 0]);
}

async fn receipts_are_paged_newest_first(world: World) {
    world.step(once("a", 1)).await;
    for n in 0..10 {
        world.step(once("a", 10 + n).by(&n.to_string())).await;
    }
    world.store.write_receipts().await.expect("receipts");
    let mut filter = ReceiptFilter {
        limit: 3,
        ..ReceiptFilter::default()
    };
    let mut seen = Vec::new();
    loop {
        let page = world.store.receipts(&filter).await.expect("a page");
        seen.extend(page.items.into_iter().filter_map(|receipt| receipt.by));
        filter.after = page.next;
        if page.next.is_none() {
            break;
        }
        world.step(once("a", 99)).await;
        world.store.write_receipts().await.expect("receipts");
    }
    let expected: Vec<Box<str>> = (0..10).rev().map(|n| n.to_string().into()).collect();
    assert_eq!(seen, expected);
}

async fn tombstone_with_receipts(world: &World) {
    world.step(once("a", 1)).await;
    world.step(once("b", 2)).await;
    for n in 10..15 {
        world.step(once("a", n)).await;
        world.step(once("b", n)).await;
    }
    assert_eq!(all(world).await.len(), 10);
    world.pass(world.store.keep());
    let keep = world.store.keep();
    world.step(crate::shared::sweep("a", keep)).await;
}

async fn receipts_go_with_a_tombstone_and_their_count_stays(world: World) {
    tombstone_with_receipts(&world).await;
    let left = all(&world).await;
    assert_eq!(left.len(), 5);
    assert!(left.iter().all(|receipt| receipt.effect == effect("b")));
    assert_eq!(world.record("a").await.blocked, 5);
}

async fn receipts_of_a_tombstone_stay_whatever_is_tried_on_it(world: World) {
    tombstone_with_receipts(&world).await;
    world.step(once("a", 20)).await;
    assert_eq!(all(&world).await.len(), 6);
    let stale = world.step(settle("a", 99, Outcome::Done)).await;
    assert_eq!(stale.verdict, Verdict::Stale);
    world.commit(vec![claim("a", 21)]).await;
    assert_eq!(all(&world).await.len(), 6);
}

async fn receipts_go_with_their_effect(world: World) {
    world.step(once("a", 1).remember(LEASE)).await;
    world.step(once("b", 2).remember(LEASE)).await;
    world.step(once("a", 3)).await;
    world.step(once("b", 3)).await;
    assert_eq!(all(&world).await.len(), 2);
    world.pass(LEASE);
    // One is claimed anew, the other is swept.
    let anew = world.step(claim("a", 4)).await;
    assert_eq!(anew.verdict, Verdict::Granted);
    assert_eq!(all(&world).await.len(), 1);
    assert_eq!(world.record("a").await.blocked, 0);
    world.store.sweep_bite(0).await.expect("a sweep");
    assert_eq!(all(&world).await.len(), 0);
    let tallies = world.store.tallies(Time(0)).await.expect("tallies");
    assert_eq!(tallies.iter().map(|tally| tally.count).sum::<u64>(), 2);
}

async fn a_receipt_of_nothing_on_record_is_only_tallied(world: World) {
    world.step(once("a", 1).remember(LEASE)).await;
    world.step(once("a", 2)).await;
    world.pass(LEASE);
    world.store.sweep_bite(0).await.expect("a sweep");
    assert_eq!(world.find("a").await, None);
    assert_eq!(all(&world).await.len(), 0);
    let tallies = world.store.tallies(Time(0)).await.expect("tallies");
    assert_eq!(tallies.len(), 1);
}

/// Whoever serves alone may answer a repeat from memory.
async fn a_node_that_remembers_counts_and_notices_changes_as_any_other(world: World) {
    let Crew { world, .. } = Crew::join(world).await;
    world.step(once("a", 1).result("1")).await;
    let repeats = FULL_RECEIPTS + 50;
    for number in 0..repeats {
        let again = world.step(once("a", 2)).await;
        assert_eq!(again.verdict, Verdict::Done);
        let record = again.record.expect("it is on record");
        assert_eq!(record.result, world.record("a").await.result);
        if number % 20 == 0 {
            world.store.write_receipts().await.expect("written");
        }
    }
    assert_eq!(all(&world).await.len() as u64, FULL_RECEIPTS);
    assert_eq!(world.record("a").await.blocked, repeats);
    world.step(undo("a").by("ada")).await;
    let after = world.step(once("a", 3)).await;
    let state = after.entry.expect("it is on record").state;
    assert_eq!((after.verdict, state), (Verdict::Done, State::Undone));
}

async fn receipts_go_with_a_tombstone_that_is_claimed_again_at_once(world: World) {
    world.step(claim("a", 1)).await;
    world.step(settle("a", 1, Outcome::Failed)).await;
    world.step(claim("a", 1)).await;
    assert_eq!(all(&world).await.len(), 1, "a stale claim is refused");
    let keep = world.store.keep();
    world.pass(keep);
    let both = vec![sweep("a", keep).into(), once("a", 2).into()];
    world.store.commit(both).await.expect("answers");
    assert_eq!(world.record("a").await.entry.state, State::Done);
    assert_eq!(all(&world).await, []);
}
