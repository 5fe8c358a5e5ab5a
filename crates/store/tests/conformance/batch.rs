//! One commit, many changes: each under its own precondition, all durable together.

use std::sync::Arc;

use semel_ledger::{Outcome, State, Verdict};
use semel_store::{Answer, BlobRef, Change};
use tokio::task::JoinSet;

use crate::fixture::World;
use crate::shared::{Saying as _, claim, once, settle};

crate::cases![
    the_steps_of_two_effects_share_a_commit,
    later_changes_of_a_commit_see_the_earlier_ones,
    a_refused_precondition_does_not_fail_its_neighbours,
    neighbours_of_other_callers_do_not_fail_either,
    a_commit_may_mix_kinds_of_changes,
    a_commit_of_nothing_is_answered,
];

async fn the_steps_of_two_effects_share_a_commit(world: World) {
    world.step(claim("one", 1)).await;
    let done = settle("one", 1, Outcome::Done).result("1");
    let answers = world.commit(vec![done, claim("two", 2).input("2")]).await;
    assert_eq!(answers[0].verdict, Verdict::Settled { again: false });
    assert_eq!(answers[1].verdict, Verdict::Granted);
    assert_eq!(world.state("one").await, State::Done);
    assert_eq!(world.state("two").await, State::Claimed);
}

async fn later_changes_of_a_commit_see_the_earlier_ones(world: World) {
    let done = settle("a", 1, Outcome::Done).result("1");
    let answers = world.commit(vec![claim("a", 1), done, claim("a", 2)]).await;
    let verdicts: Vec<_> = answers.iter().map(|it| it.verdict).collect();
    let settled = Verdict::Settled { again: false };
    assert_eq!(verdicts, [Verdict::Granted, settled, Verdict::Done]);
    let record = answers[2].record.as_ref().expect("a record");
    assert!(record.result.is_some());
}

async fn a_refused_precondition_does_not_fail_its_neighbours(world: World) {
    world.step(claim("held", 1)).await;
    let before = world.record("held").await;
    let answers = world
        .commit(vec![
            claim("a", 2),
            settle("held", 9, Outcome::Done).result("9"),
            claim("held", 3),
            settle("none", 4, Outcome::Done),
            once("b", 5),
        ])
        .await;
    let verdicts: Vec<_> = answers.iter().map(|it| it.verdict).collect();
    let expected = [
        Verdict::Granted,
        Verdict::Stale,
        Verdict::Busy,
        Verdict::Missing,
        Verdict::First,
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(world.record("held").await, before);
    assert_eq!(world.state("a").await, State::Claimed);
    assert_eq!(world.state("b").await, State::Done);
}

async fn neighbours_of_other_callers_do_not_fail_either(world: World) {
    world.step(claim("held", 1)).await;
    let mut callers = JoinSet::new();
    for n in 100..200 {
        let store = Arc::clone(&world.store);
        callers.spawn(async move {
            let (change, expected) = match n % 2 {
                0 => (claim(&format!("k{n}"), n), Verdict::Granted),
                _ => (settle("held", n, Outcome::Done), Verdict::Stale),
            };
            let mut answers = store.commit(vec![change.into()]).await.expect("answers");
            let Some(Answer::Effect(answered)) = answers.pop() else {
                panic!("no answer of an effect");
            };
            assert_eq!(answered.verdict, expected, "{n}");
        });
    }
    callers.join_all().await;
    assert_eq!(world.state("held").await, State::Claimed);
    for n in (100..200).step_by(2) {
        assert_eq!(world.state(&format!("k{n}")).await, State::Claimed);
    }
}

async fn a_commit_may_mix_kinds_of_changes(world: World) {
    let bytes = b"attachment".to_vec();
    let blob = BlobRef::of(&bytes);
    let done = settle("a", 1, Outcome::Done).blobs(&[blob.hash]);
    let changes: Vec<Change> = vec![Change::Blob(bytes), claim("a", 1).into(), done.into()];
    let answers = world.store.commit(changes).await.expect("answers");
    assert!(matches!(answers[0], Answer::Written));
    assert!(matches!(answers[2], Answer::Effect(_)));
    assert_eq!(world.record("a").await.blobs, [blob.hash]);
    let kept = world.store.blob(blob.hash).await.expect("an answer");
    assert_eq!(kept.as_deref(), Some(&b"attachment"[..]));
}

async fn a_commit_of_nothing_is_answered(world: World) {
    let answers = world.store.commit(Vec::new()).await.expect("answers");
    assert!(answers.is_empty());
}
