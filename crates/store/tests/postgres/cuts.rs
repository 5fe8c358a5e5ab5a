//! Connections that are cut at COMMIT in the middle of load.

use std::sync::Arc;

use semel_store::{Location, Options, Store};

use crate::cluster::Place;
use crate::load::{Load, all_definite, check};
use crate::proxy::{Cut, Proxy};

async fn every_answer_is_true(cut: Cut) {
    const CUTS: u64 = 30;
    let place = Place::new();
    let mut proxy = Proxy::start(place.address(), cut).await;
    let url = Location::Postgres(place.url_through(proxy.port));
    let store = Arc::new(Store::open(&url, Options::default()).await.unwrap());
    let mut load = Load::start(&store, 16);
    load.answered(20).await;
    for _ in 0..CUTS {
        proxy.cut_next().await;
        load.answered(5).await;
    }
    let told = load.stop().await;
    // The server is there all the time, so nobody may be left without a definite answer.
    all_definite(&told);
    check(&place, &told).await;
    place.drop_schema().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_read_back() {
    every_answer_is_true(Cut::AfterCommit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_never_arrived_is_done_again() {
    every_answer_is_true(Cut::BeforeCommit).await;
}
