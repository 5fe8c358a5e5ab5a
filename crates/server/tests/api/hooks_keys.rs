//! Identities of events at the front door: what is told apart, and what becomes of events without.

use axum::http::StatusCode;
use semel_store::run::RunState;
use serde_json::json;

use crate::common::{START, World};
use crate::hooks::PLAIN;
use crate::hooks_signed::signature;
use crate::working::run_of;

#[tokio::test]
async fn values_never_run_into_each_other_and_spellings_are_told_apart() {
    let world = World::new().await;
    world
        .deploy(
            "\
name: parts
on:
  webhook: {path: /hooks/parts, verify: none}
key: p/${{ event.a }}/${{ event.b }}
steps:
  - {id: note, set: {n: 1}}
",
        )
        .await;
    let events = [
        json!({"a":"a:b","b":"c"}),
        json!({"a":"a","b":"b:c"}),
        json!({"a":"a/b","b":"c"}),
        json!({"a":"a","b":"b/c"}),
        json!({"a":"a%2Fb","b":"c"}),
        json!({"a":"\u{e9}","b":"c"}),
        json!({"a":"e\u{301}","b":"c"}),
        json!({"a":"${7*7}","b":"${{ 7*7 }}"}),
        json!({"a":1,"b":-1}),
        json!({"a":"-rf","b":"\u{202e}\u{1f389}"}),
    ];
    for event in &events {
        let answer = world.hook("/hooks/parts", event).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{event}");
    }
    for event in &events {
        let answer = world.hook("/hooks/parts", event).await;
        assert_eq!(answer.json()["status"], "duplicate", "{event}");
    }
    let runs = world.runs().await;
    assert_eq!(runs.len(), events.len());
    let rendered_once = "p/${7*7}/${{ 7*7 }}";
    assert!(runs.iter().any(|run| run.key.as_str() == rendered_once));
}

/// A refusal would only make the sender repeat it.
#[tokio::test]
async fn an_event_without_any_identity_waits_for_a_person_once() {
    let world = World::new().await;
    world.deploy(PLAIN).await;
    let first = world.hook("/hooks/plain", r#"{"id":1}"#).await;
    assert_eq!(first.status, StatusCode::ACCEPTED, "{}", first.text());
    let again = world.hook("/hooks/plain", r#"{"id":1}"#).await;
    assert_eq!(again.json()["status"], "duplicate");
    assert_eq!(run_of(&again), run_of(&first));
    let runs = world.runs().await;
    assert_eq!((runs.len(), runs[0].state), (1, RunState::Parked));
    assert!(runs[0].why.contains("no key"), "{}", runs[0].why);
}

/// Senders sign by the time on the wall; leases do not follow it.
#[tokio::test]
async fn somebody_who_sets_the_clock_shuts_no_sender_out() {
    let hour = 3_600;
    for moved in [hour, -hour, 366 * 24 * hour, -366 * 24 * hour] {
        let world = World::new().await;
        world.environment.put("STRIPE", "hush");
        world.deploy(crate::hooks_signed::SIGNED).await;
        let lease = json!({"lease":"10m"});
        world.granted("/v1/guard/s/k", lease).await;
        world.clock.set_wall(moved * 1_000);
        let body = r#"{"id":"evt_1"}"#;
        for (time, status) in [(START.0 / 1_000, 401), (START.0 / 1_000 + moved, 202)] {
            let signature = signature("hush", time, body);
            let headers = [
                ("content-type", "application/json"),
                ("stripe-signature", &*signature),
            ];
            let answer = world.deliver("/hooks/stripe", &headers, body).await;
            assert_eq!(answer.status, status, "{moved}: {}", answer.text());
        }
        let busy = world.call("POST", "/v1/guard/s/k", "").await;
        assert_eq!(busy.gist(), "409 busy", "{moved}");
        let page = world.call("GET", "/metrics", "").await;
        let drift = page
            .text()
            .lines()
            .find(|line| !line.starts_with('#') && line.contains("drift"));
        assert!(!drift.unwrap().ends_with(" 0"), "{drift:?}");
    }
}
