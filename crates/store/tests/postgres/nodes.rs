//! Several nodes on one database.

use std::collections::HashMap;
use std::sync::Arc;

use semel_ledger::{Millis, Owner, State, Time, Verdict};
use semel_store::node::{NODE_LEASE, NodeChange};
use semel_store::{Change, ManualClock, Options, Store, StoreError};
use tokio::task::JoinSet;

use crate::cluster::Place;
use crate::load::{claim, effect, fence};

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_grant_each_key_once() {
    const KEYS: usize = 200;
    const CALLERS: usize = 4;
    let place = Place::new();
    let stores = [
        Arc::new(place.open(Options::default()).await),
        Arc::new(place.open(Options::default()).await),
    ];
    let mut callers = JoinSet::new();
    for key in 0..KEYS {
        for store in stores.iter().cycle().take(2 * CALLERS) {
            let store = Arc::clone(store);
            callers.spawn(async move {
                let change = claim(&key.to_string(), fence(), Owner::Client);
                (key, store.step(change).await.unwrap())
            });
        }
    }
    let mut grants: HashMap<usize, usize> = HashMap::new();
    let mut refused = 0;
    for (key, answered) in callers.join_all().await {
        if answered.verdict == Verdict::Granted {
            *grants.entry(key).or_default() += 1;
        } else {
            assert_eq!(answered.verdict, Verdict::Busy);
            assert!(answered.receipt.is_some());
            refused += 1;
        }
    }
    assert_eq!(grants.len(), KEYS);
    assert!(grants.values().all(|grants| *grants == 1), "{grants:?}");
    for store in &stores {
        store.write_receipts().await.unwrap();
    }
    let tallies = stores[0].tallies(Time(0)).await.unwrap();
    assert_eq!(
        tallies.iter().map(|tally| tally.count).sum::<u64>(),
        refused
    );
    let record = stores[1].load(&effect("0")).await.unwrap().unwrap();
    assert_eq!(record.blocked, 2 * CALLERS as u64 - 1);
    place.drop_schema().await;
}

fn options(clock: &Arc<ManualClock>) -> Options {
    Options {
        clock: Some(Arc::clone(clock) as _),
        ..Options::default()
    }
}

async fn claim_as_node(store: &Store, key: &str) -> Result<Verdict, StoreError> {
    let member = store.member().unwrap();
    let owner = Owner::Node {
        node: member.node,
        epoch: member.epoch,
    };
    let answered = store.step(claim(key, fence(), owner)).await?;
    Ok(answered.verdict)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_node_is_taken_over_and_can_write_no_more() {
    let place = Place::new();
    let clock = Arc::new(ManualClock::at(Time(1_000_000)));
    let (a, b) = (
        place.open(options(&clock)).await,
        place.open(options(&clock)).await,
    );
    a.join("a").await.unwrap();
    b.join("b").await.unwrap();
    assert_eq!(claim_as_node(&a, "held").await.unwrap(), Verdict::Granted);
    assert_eq!(b.take_over(false).await.unwrap(), 0, "a is alive");

    clock.advance(NODE_LEASE);
    clock.advance(Millis(1));
    b.renew().await.unwrap();
    assert_eq!(b.take_over(false).await.unwrap(), 1);
    let record = b.load(&effect("held")).await.unwrap().unwrap();
    assert_eq!(record.entry.state, State::Unknown);

    let refused = claim_as_node(&a, "late").await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    assert!(b.load(&effect("late")).await.unwrap().is_none());
    assert!(matches!(a.renew().await, Err(StoreError::Fenced)));
    a.join("a again").await.unwrap();
    assert_eq!(claim_as_node(&a, "late").await.unwrap(), Verdict::Granted);
    place.drop_schema().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fencing_waits_for_a_commit_under_way() {
    let place = Place::new();
    let clock = Arc::new(ManualClock::at(Time(1_000_000)));
    let (a, b) = (
        place.open(options(&clock)).await,
        place.open(options(&clock)).await,
    );
    let node = a.join("a").await.unwrap();
    clock.advance(NODE_LEASE);

    // Stands for a commit of node a that has passed its check and is not yet done.
    let mut commit = place.client().await;
    let commit = commit.transaction().await.unwrap();
    let hold = "SELECT FROM nodes WHERE node = $1 AND NOT fenced FOR KEY SHARE";
    let found = commit
        .query(hold, &[&node.node.cast_signed()])
        .await
        .unwrap();
    assert_eq!(found.len(), 1);

    let member = a.member().unwrap();
    let fence = Change::Node(NodeChange::Fence {
        member,
        force: false,
    });
    let fencing = tokio::spawn(async move { b.commit(vec![fence]).await.map(|_| b) });
    let watcher = place.client().await;
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE application_name = $1 AND wait_event_type = 'Lock'";
    while watcher
        .query_one(waiting, &[&place.schema])
        .await
        .unwrap()
        .get::<_, i64>(0)
        == 0
    {
        assert!(!fencing.is_finished(), "it did not wait");
        tokio::task::yield_now().await;
    }
    commit.commit().await.unwrap();
    let b = fencing.await.unwrap().unwrap();
    assert!(b.nodes().await.unwrap()[0].fenced);
    assert!(matches!(a.renew().await, Err(StoreError::Fenced)));
    place.drop_schema().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn renewing_does_not_wait_for_commits_under_way() {
    let place = Place::new();
    let store = place.open(Options::default()).await;
    let node = store.join("a").await.unwrap();
    let mut commit = place.client().await;
    let commit = commit.transaction().await.unwrap();
    let hold = "SELECT FROM nodes WHERE node = $1 AND NOT fenced FOR KEY SHARE";
    commit
        .query(hold, &[&node.node.cast_signed()])
        .await
        .unwrap();
    store.renew().await.unwrap();
    commit.rollback().await.unwrap();
    place.drop_schema().await;
}
