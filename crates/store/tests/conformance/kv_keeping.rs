//! How long values under keys are kept, how large they may be, and in which order they stand.

use semel_ledger::Millis;
use semel_store::kv::{KvFilter, KvOutcome};
use semel_store::{Answer, Change};

use crate::fixture::World;
use crate::kv::{add, does, entry, guarded, if_absent, operate, set, value};

crate::cases!(
    expired_counts_as_absent_at_once,
    sweeping_takes_only_what_has_expired,
    keys_are_listed_by_prefix_in_pages,
    long_values_are_kept_whole,
);

async fn expired_counts_as_absent_at_once(world: World) {
    let ttl = Some(Millis::seconds(10));
    does(&world, "seen", if_absent("1", ttl)).await;
    world.pass(Millis(9_999));
    let late = does(&world, "seen", if_absent("2", ttl)).await;
    assert_eq!(late, r#"{"before":1,"changed":false,"value":1}"#);
    world.pass(Millis(1));
    assert_eq!(entry(&world.store, "seen").await, None);
    let all = world
        .store
        .kv_list(&listed("", None))
        .await
        .expect("a list");
    assert!(all.items.is_empty());
    let anew = does(&world, "seen", if_absent("2", ttl)).await;
    assert_eq!(anew, r#"{"before":null,"changed":true,"value":2}"#);
    world.pass(Millis::seconds(10));
    assert_eq!(
        does(&world, "seen", add("1")).await,
        r#"{"before":null,"changed":true,"value":1}"#
    );
    let entry = entry(&world.store, "seen").await.expect("a value");
    assert_eq!(entry.expires_at, None);
}

async fn sweeping_takes_only_what_has_expired(world: World) {
    let store = &world.store;
    for n in 0..5 {
        let ttl = Some(Millis(100 + n));
        does(&world, &format!("k/{n}"), if_absent("1", ttl)).await;
    }
    does(&world, "k/5", set("1")).await;
    assert_eq!(store.sweep_kv_bite().await.expect("swept"), 0);
    world.pass(Millis(102));
    assert_eq!(store.sweep_kv_bite().await.expect("swept"), 3);
    assert_eq!(store.sweep_kv_bite().await.expect("swept"), 0);
    world.pass(Millis(1));
    let some = store.commit(vec![Change::SweepKv { limit: 1 }]).await;
    assert!(matches!(some.expect("swept")[..], [Answer::Counted(1)]));
    let left = store
        .kv_list(&listed("", None))
        .await
        .expect("a list")
        .items;
    let left: Vec<&str> = left.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(left, ["k/4", "k/5"]);
}

fn listed(prefix: &str, after: Option<&str>) -> KvFilter {
    KvFilter {
        prefix: prefix.to_owned(),
        after: after.map(ToOwned::to_owned),
        limit: 2,
    }
}

async fn keys_are_listed_by_prefix_in_pages(world: World) {
    for name in ["b/1", "B/1", "a", "b/é", "b/10", "b0", "b/2", "c"] {
        does(&world, name, set("1")).await;
    }
    let mut after = None;
    let mut pages = Vec::new();
    loop {
        let filter = listed("b/", after.as_deref());
        let page = world.store.kv_list(&filter).await.expect("a page");
        let keys = page.items.iter().map(|entry| entry.key.as_str().to_owned());
        pages.push(keys.collect::<Vec<_>>());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, [vec!["b/1", "b/10"], vec!["b/2", "b/é"]]);
    let first = world
        .store
        .kv_list(&listed("", None))
        .await
        .expect("a page");
    assert_eq!(first.next.as_deref(), Some("a"), "capitals come first");
}

async fn long_values_are_kept_whole(world: World) {
    let long = format!("\"{}\"", "é".repeat(32_000));
    let store = &world.store;
    let first = operate(store, guarded(1, if_absent(&long, None))).await;
    assert!(matches!(first.outcome, KvOutcome::Applied(result) if result.changed));
    assert_eq!(value(store, "count").await, long);
    let result = world.result("step").await.expect("a result");
    let expected = format!(r#"{{"before":null,"changed":true,"value":{long}}}"#);
    assert_eq!(*result, *expected);
}
