//! Many callers share one sync, and a duplicate costs none.

use std::sync::Arc;

use semel_ledger::Verdict;
use tokio::task::JoinSet;

use crate::Rig;
use crate::shared::{claim, once};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_share_a_sync() {
    const CALLERS: u64 = 64;
    const ROUNDS: u64 = 20;
    let rig = Rig::new("share").await;
    let before = rig.disk.counts().syncs;
    let gate = Arc::new(tokio::sync::Barrier::new(64));
    let mut callers = JoinSet::new();
    for me in 0..CALLERS {
        let (store, gate) = (Arc::clone(&rig.store), Arc::clone(&gate));
        callers.spawn(async move {
            for round in 0..ROUNDS {
                gate.wait().await;
                let n = me * ROUNDS + round;
                let answered = store.step(claim(&format!("k{n}"), n)).await;
                assert_eq!(answered.expect("an answer").verdict, Verdict::Granted);
            }
        });
    }
    callers.join_all().await;
    let syncs = rig.disk.counts().syncs - before;
    let claims = CALLERS * ROUNDS;
    println!("{claims} claims in {syncs} syncs");
    assert!(syncs * 4 <= claims, "{syncs} syncs for {claims} claims");
    assert!(
        syncs >= ROUNDS,
        "each round was acknowledged before the next"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_duplicate_costs_no_sync_and_no_write() {
    let rig = Rig::new("duplicates").await;
    rig.store.step(once("done", 1)).await.expect("an answer");
    rig.store.step(claim("held", 2)).await.expect("an answer");
    let before = rig.disk.counts();
    for n in 10..510 {
        let (key, verdict) = match n % 2 {
            0 => ("done", Verdict::Done),
            _ => ("held", Verdict::Busy),
        };
        let refused = rig.store.step(claim(key, n)).await.expect("an answer");
        assert_eq!(refused.verdict, verdict);
        assert!(refused.receipt.is_some());
    }
    assert_eq!(rig.disk.counts(), before);
    // All their receipts then share one.
    rig.store.write_receipts().await.expect("receipts");
    let syncs = rig.disk.counts().syncs - before.syncs;
    assert!((1..=2).contains(&syncs), "{syncs} syncs");
}
