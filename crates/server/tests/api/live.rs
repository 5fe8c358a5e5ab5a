//! Following everything that changes.

use axum::body::Body;
use semel_server::Settings;
use serde_json::{Value, json};

use crate::common::Socket;
use crate::runs::ORDER;
use crate::watching::Stream;

/// The next event of that name; others are passed over.
async fn next(stream: &mut Stream, name: &str) -> Value {
    loop {
        let (found, data) = stream.next().await.unwrap();
        if found == name {
            return data;
        }
    }
}

/// What is told of a run until it is in that state.
async fn until(stream: &mut Stream, run: &str, state: &str) {
    loop {
        let it = next(stream, "run").await;
        if it["run"] == run && it["state"] == state {
            return;
        }
    }
}

#[tokio::test]
async fn runs_counts_and_releases_are_told_as_they_change() {
    let socket = Socket::with(Settings::default()).await;
    let world = &socket.world;
    let mut all = Stream::get(world, "/v1/live", None).await;
    let mut other = Stream::get(world, "/v1/live?flow=other", None).await;
    assert_eq!(next(&mut all, "tally").await["totals"]["events"], 0);
    let release = world.deploy(ORDER).await;
    let told = next(&mut all, "release").await;
    assert_eq!(told, json!({"flow":"order","release":release}));
    let run = world
        .held("/hooks/order", json!({"id":"a","amount":1}))
        .await;
    until(&mut all, &run, "running").await;
    world.sink.holds.send_replace(false);
    until(&mut all, &run, "done").await;
    while next(&mut all, "tally").await["totals"]["done"] != 1 {}
    // Of another flow only what is counted is told.
    let renamed = ORDER.replace("name: order", "name: other");
    world
        .deploy(&renamed.replace("/hooks/order", "/hooks/other"))
        .await;
    loop {
        match other.next().await.unwrap() {
            (name, data) if name == "release" => {
                assert_eq!(data["flow"], "other");
                break;
            }
            (name, data) => assert_eq!(name, "tally", "{data}"),
        }
    }
    socket.stop().await.unwrap();
    while all.next().await.is_some() {}
}

#[tokio::test]
async fn whoever_cannot_keep_up_is_told_that_something_was_lost() {
    let socket = Socket::with(Settings::default()).await;
    let world = &socket.world;
    world.deploy(ORDER).await;
    let mut slow = Stream::get(world, "/v1/live", None).await;
    next(&mut slow, "tally").await;
    // More runs at once than are told at once.
    let (engine, live) = (world.app.engine(), world.app.engine().flows().live());
    for _ in 0..300 {
        engine.run_started(&live.flows["order"], world.store.new_run_id());
    }
    next(&mut slow, "lost").await;
    let wrong = world.request("GET", "/v1/live?flows=x");
    let wrong = world.send(wrong.body(Body::empty()).unwrap()).await;
    assert_eq!(wrong.gist(), "400 parameter_unknown");
}
