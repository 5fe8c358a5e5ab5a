//! Many callers at the same moment: one grant, whoever they are.

use std::collections::HashMap;
use std::sync::Arc;

use semel_ledger::Verdict;
use semel_store::{EffectChange, ReceiptFilter, Store};
use tokio::task::JoinSet;

use crate::fixture::World;
use crate::shared::{claim, fence, once};

crate::cases![
    of_200_claims_on_one_key_one_is_granted,
    of_20_claims_on_each_of_50_keys_one_is_granted,
    of_many_onces_one_is_first,
    claims_in_one_commit_are_granted_once,
    two_stores_on_one_ledger_grant_once,
];

/// Makes all calls at once; gives each verdict with the number of its call.
async fn all_at_once(calls: Vec<(Arc<Store>, u64, EffectChange)>) -> Vec<(u64, String, Verdict)> {
    let gate = Arc::new(tokio::sync::Barrier::new(calls.len()));
    let mut tasks = JoinSet::new();
    for (store, n, change) in calls {
        let gate = Arc::clone(&gate);
        tasks.spawn(async move {
            let key = change.effect.key.as_str().to_owned();
            gate.wait().await;
            let answered = store.step(change).await.expect("an answer");
            (n, key, answered.verdict)
        });
    }
    tasks.join_all().await
}

fn winners(answers: &[(u64, String, Verdict)], won: Verdict, lost: Verdict) -> HashMap<&str, u64> {
    let mut winners = HashMap::new();
    for (n, key, verdict) in answers {
        if *verdict == won {
            let earlier = winners.insert(key.as_str(), *n);
            assert_eq!(earlier, None, "{key} was granted twice");
        } else {
            assert_eq!(*verdict, lost);
        }
    }
    winners
}

async fn of_200_claims_on_one_key_one_is_granted(world: World) {
    let call = |n| (Arc::clone(&world.store), n, claim("a", n));
    let answers = all_at_once((1..=200).map(call).collect()).await;
    let winners = winners(&answers, Verdict::Granted, Verdict::Busy);
    let record = world.record("a").await;
    assert_eq!(record.entry.attempt, 1);
    assert_eq!(record.entry.fence, fence(winners["a"]));
    assert_eq!(world.receipts(ReceiptFilter::default()).await.len(), 100);
    assert_eq!(world.record("a").await.blocked, 199);
}

async fn of_20_claims_on_each_of_50_keys_one_is_granted(world: World) {
    let call = |n| {
        let key = format!("k{}", n % 50);
        (Arc::clone(&world.store), n, claim(&key, n))
    };
    let answers = all_at_once((1..=1000).map(call).collect()).await;
    let winners = winners(&answers, Verdict::Granted, Verdict::Busy);
    assert_eq!(winners.len(), 50);
    for (key, n) in winners {
        assert_eq!(world.record(key).await.entry.fence, fence(n));
    }
}

async fn of_many_onces_one_is_first(world: World) {
    let call = |n| (Arc::clone(&world.store), n, once("a", n));
    let answers = all_at_once((1..=100).map(call).collect()).await;
    let winners = winners(&answers, Verdict::First, Verdict::Done);
    assert_eq!(world.record("a").await.entry.fence, fence(winners["a"]));
}

async fn claims_in_one_commit_are_granted_once(world: World) {
    let answers = world
        .commit((1..=20).map(|n| claim("a", n)).collect())
        .await;
    assert_eq!(answers[0].verdict, Verdict::Granted);
    assert!(answers[1..].iter().all(|it| it.verdict == Verdict::Busy));
    assert_eq!(world.record("a").await.entry.fence, fence(1));
}

async fn two_stores_on_one_ledger_grant_once(world: World) {
    let Some(neighbour) = world.neighbour().await else {
        return;
    };
    let call = |n: u64| {
        let store = [&world.store, &neighbour][usize::from(n.is_multiple_of(2))];
        let key = format!("k{}", n / 8);
        (Arc::clone(store), n, claim(&key, n))
    };
    let answers = all_at_once((0..320).map(call).collect()).await;
    let winners = winners(&answers, Verdict::Granted, Verdict::Busy);
    assert_eq!(winners.len(), 40);
    for (key, n) in winners {
        assert_eq!(world.record(key).await.entry.fence, fence(n));
    }
}
