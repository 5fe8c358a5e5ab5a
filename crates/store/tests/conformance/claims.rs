//! Asking to act: who is granted, who is refused, and with what answer.

use semel_ledger::json::Canonical;
use semel_ledger::{Fingerprint, OnUnknown, Outcome, Owner, Process, State, Verdict};

use crate::fixture::World;
use crate::shared::{LEASE, REMEMBER, START, Saying as _, claim, fence, once, settle};

crate::cases![
    a_fresh_claim_is_granted,
    a_claim_keeps_all_that_it_brings,
    a_second_claim_is_busy,
    a_done_effect_answers_with_its_first_result,
    another_input_under_the_same_key_is_a_conflict,
    the_same_input_in_another_spelling_is_no_conflict,
    an_unstated_input_never_conflicts,
    a_failed_effect_is_granted_again_with_other_input,
    a_released_effect_is_granted_again,
    the_same_claim_again_is_granted_without_a_new_attempt,
    once_is_first_only_once,
    the_same_once_again_is_still_first,
    once_is_refused_while_claimed,
    the_same_key_in_another_scope_is_another_effect,
];

async fn a_fresh_claim_is_granted(world: World) {
    let answered = world.step(claim("a", 1)).await;
    assert_eq!(answered.verdict, Verdict::Granted);
    assert_eq!(answered.receipt, None);
    assert_eq!(answered.record, None, "nothing was there before");
    let entry = answered.entry.expect("an entry");
    assert_eq!((entry.state, entry.attempt), (State::Claimed, 1));
    assert_eq!(entry.fence, fence(1));
    assert_eq!(entry.lease_until, START.after(LEASE));
    let record = world.record("a").await;
    assert_eq!(record.entry, entry);
    assert!(record.seq > 0);
}

async fn a_claim_keeps_all_that_it_brings(world: World) {
    let process = Process {
        machine: [7; 16],
        pid: u32::MAX,
        started: u64::MAX,
    };
    let owners = [
        ("client", Owner::Client),
        ("process", Owner::Process(process)),
        ("node", Owner::Node { node: 3, epoch: 9 }),
    ];
    for (n, (key, owner)) in (1..).zip(owners) {
        let asked = claim(key, n)
            .owner(owner)
            .rule(OnUnknown::Skip)
            .input(r#"{"to":"ä"}"#)
            .by("night shift");
        let answered = world.step(asked).await;
        let record = world.record(key).await;
        assert_eq!(Some(record.entry), answered.entry);
        assert_eq!(record.entry.owner, owner);
        assert_eq!(record.entry.on_unknown, Some(OnUnknown::Skip));
        assert_eq!(record.entry.remember, REMEMBER);
        assert_eq!(record.by.as_deref(), Some("night shift"));
        let input = record.input.expect("an input");
        let text = world.store.text(&input).await.expect("a text");
        assert_eq!(text.as_deref(), Some(r#"{"to":"ä"}"#));
        let canonical = Canonical::read(r#"{"to":"ä"}"#.as_bytes()).expect("JSON");
        let fingerprint = Fingerprint::of(&canonical);
        assert_eq!(record.entry.fingerprint, Some(fingerprint));
    }
}

async fn a_second_claim_is_busy(world: World) {
    world.step(claim("a", 1)).await;
    let before = world.record("a").await;
    let answered = world.step(claim("a", 2).by("late")).await;
    assert_eq!(answered.verdict, Verdict::Busy);
    assert!(answered.receipt.is_some());
    assert_eq!(answered.entry, Some(before.entry));
    assert_eq!(answered.record.as_deref(), Some(&before));
    assert_eq!(world.record("a").await, before);
}

async fn a_done_effect_answers_with_its_first_result(world: World) {
    // Neither the order of the fields nor the spelling of the number may change.
    let result = "{\"z\": 1.0,\n \"a\": 18446744073709551617}";
    world.step(claim("a", 1).by("first")).await;
    let done = settle("a", 1, Outcome::Done)
        .result(result)
        .external_id("m-1");
    world.step(done).await;
    let answered = world.step(claim("a", 2).by("second")).await;
    assert_eq!(answered.verdict, Verdict::Done);
    assert!(answered.receipt.is_some());
    let record = answered.record.expect("the first record");
    assert_eq!(record.by.as_deref(), Some("first"));
    assert_eq!(record.external_id.as_deref(), Some("m-1"));
    let stored = record.result.expect("a result");
    let text = world.store.text(&stored).await.expect("a text");
    assert_eq!(text.as_deref(), Some(result));
}

async fn another_input_under_the_same_key_is_a_conflict(world: World) {
    world.step(claim("a", 1).input(r#"{"n":1}"#)).await;
    let other = || claim("a", 2).input(r#"{"n":2}"#);
    assert_eq!(world.step(other()).await.verdict, Verdict::Conflict);
    world.step(settle("a", 1, Outcome::Done)).await;
    let answered = world.step(other()).await;
    assert_eq!(answered.verdict, Verdict::Conflict);
    assert!(answered.receipt.is_some());
    assert_eq!(world.state("a").await, State::Done);
}

async fn the_same_input_in_another_spelling_is_no_conflict(world: World) {
    world.step(claim("a", 1).input(r#"{"n":1,"m":"x"}"#)).await;
    let same = claim("a", 2).input("{ \"m\": \"\\u0078\", \"n\": 1 }");
    assert_eq!(world.step(same).await.verdict, Verdict::Busy);
}

async fn an_unstated_input_never_conflicts(world: World) {
    world.step(claim("stated", 1).input("1")).await;
    assert_eq!(world.step(claim("stated", 2)).await.verdict, Verdict::Busy);
    world.step(claim("unstated", 3)).await;
    let stating = claim("unstated", 4).input("1");
    assert_eq!(world.step(stating).await.verdict, Verdict::Busy);
}

async fn a_failed_effect_is_granted_again_with_other_input(world: World) {
    world.step(claim("a", 1).input("1").by("one")).await;
    let failed = settle("a", 1, Outcome::Failed).note("no route").result("0");
    world.step(failed).await;
    assert_eq!(world.record("a").await.note.as_deref(), Some("no route"));
    let answered = world.step(claim("a", 2).input("2").by("two")).await;
    assert_eq!(answered.verdict, Verdict::Granted);
    let record = world.record("a").await;
    assert_eq!(
        (record.entry.state, record.entry.attempt),
        (State::Claimed, 2)
    );
    assert_eq!(record.entry.fence, fence(2));
    assert_eq!(record.by.as_deref(), Some("two"));
    assert_eq!((record.note, record.result), (None, None));
    let input = world.store.text(&record.input.expect("an input")).await;
    assert_eq!(input.expect("a text").as_deref(), Some("2"));
}

async fn a_released_effect_is_granted_again(world: World) {
    world.step(claim("a", 1)).await;
    world.step(settle("a", 1, Outcome::Released)).await;
    assert_eq!(world.state("a").await, State::Released);
    let answered = world.step(claim("a", 2)).await;
    assert_eq!(answered.verdict, Verdict::Granted);
    assert_eq!(answered.entry.expect("an entry").attempt, 2);
}

async fn the_same_claim_again_is_granted_without_a_new_attempt(world: World) {
    let asked = || claim("a", 1).input("1");
    let first = world.step(asked()).await;
    let again = world.step(asked()).await;
    assert_eq!(again.verdict, Verdict::Granted);
    assert_eq!((again.entry, again.receipt), (first.entry, None));
    let committed = world.commit(vec![asked()]).await;
    assert_eq!(committed[0].verdict, Verdict::Granted);
    assert_eq!(committed[0].entry, first.entry);
    assert_eq!(world.turns("a").await, []);
}

async fn once_is_first_only_once(world: World) {
    let first = world.step(once("a", 1).by("one").result("7")).await;
    assert_eq!((first.verdict, first.receipt), (Verdict::First, None));
    assert_eq!(world.state("a").await, State::Done);
    let second = world.step(once("a", 2).by("two")).await;
    assert_eq!(second.verdict, Verdict::Done);
    assert!(second.receipt.is_some());
    let record = second.record.expect("the first");
    assert_eq!(record.by.as_deref(), Some("one"));
    assert_eq!(record.entry.created_at, START);
    assert_eq!(world.result("a").await.as_deref(), Some("7"));
}

async fn the_same_once_again_is_still_first(world: World) {
    let first = world.step(once("a", 1)).await;
    let again = world.step(once("a", 1)).await;
    assert_eq!(again.verdict, Verdict::First);
    assert_eq!(again.entry, first.entry);
}

async fn once_is_refused_while_claimed(world: World) {
    world.step(claim("a", 1)).await;
    let answered = world.step(once("a", 2)).await;
    assert_eq!(answered.verdict, Verdict::Busy);
    assert_eq!(world.state("a").await, State::Claimed);
}

async fn the_same_key_in_another_scope_is_another_effect(world: World) {
    for scope in ["mail", "mai", "mail/x"] {
        let answered = world.step(claim("a", 1).of_scope(scope)).await;
        assert_eq!(answered.verdict, Verdict::Granted, "{scope}");
    }
}
