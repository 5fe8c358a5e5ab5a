//! A database that goes away in the middle of load and comes back.

use std::sync::Arc;

use semel_store::Options;

use crate::cluster::{Cluster, Place};
use crate::load::{Load, all_definite, check};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_when_postgresql_crashes_under_load() {
    let cluster = Arc::new(Cluster::start(""));
    let place = cluster.place();
    let store = Arc::new(place.open(Options::default()).await);
    let mut load = Load::start(&store, 16);
    let before = load.answered(200).await;
    assert!(
        load.under_way() > 0,
        "the crash must come in the middle of load"
    );
    let crash = Arc::clone(&cluster);
    tokio::task::spawn_blocking(move || {
        crash.crash();
        crash.resume();
    })
    .await
    .unwrap();
    let after = load.answered(200).await;
    assert!(after >= before + 200);
    let told = load.stop().await;
    check(&place, &told).await;
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminated_backend_is_noticed_by_nobody() {
    let place = Place::new();
    let store = Arc::new(place.open(Options::default()).await);
    let client = place.client().await;
    let mut load = Load::start(&store, 16);
    let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE application_name = $1";
    let mut terminated = 0;
    for _ in 0..20 {
        load.answered(20).await;
        terminated += client
            .query(terminate, &[&place.schema])
            .await
            .unwrap()
            .len();
    }
    load.answered(50).await;
    assert!(terminated >= 20, "{terminated}");
    let told = load.stop().await;
    all_definite(&told);
    check(&place, &told).await;
    place.drop_schema().await;
}
