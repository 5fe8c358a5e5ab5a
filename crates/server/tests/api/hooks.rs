//! Deliveries that must be taken: once each, in whatever order and number they come.

use std::sync::Arc;

use axum::http::StatusCode;
use semel_store::Location;
use semel_store::run::RunState;
use serde_json::json;

use crate::common::World;
use crate::working::{Working, run_of};

const SIGNUP: &str = "\
name: signup
on:
  webhook: {path: /hooks/signup, verify: none}
key: signup/${{ event.id }}
steps:
  - id: tell
    http: {post: https://sink.example/tell, json: {name: \"${{ event.name }}\"}}
";

/// A flow without a key of its own.
pub(crate) const PLAIN: &str = "\
name: plain
on:
  webhook: {path: /hooks/plain, verify: none}
steps:
  - {id: note, set: {n: 1}}
";

#[tokio::test]
async fn an_event_is_accepted_and_its_run_is_done() {
    let world = Working::new().await;
    world.deploy(SIGNUP).await;
    let answer = world
        .hook("/hooks/signup", json!({"id":"a","name":"Ada"}))
        .await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text());
    let run = run_of(&answer);
    let event = run.replace("run_", "evt_");
    assert_eq!(
        answer.json(),
        json!({"status":"accepted","run":run,"event":event})
    );
    assert_eq!(world.settled(&run).await, RunState::Done);
    assert_eq!(world.sink.seen(), ["https://sink.example/tell"]);

    let resend = r#"{ "name":"Ada", "id": "a" }"#;
    let again = world.hook("/hooks/signup", resend).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(
        again.json(),
        json!({"status":"duplicate","run":run,"event":event}),
        "spelling does not matter"
    );
    assert_eq!(world.runs().await.len(), 1);
    assert_eq!(world.sink.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_storm_of_one_event_starts_one_run() {
    storm(&Location::Memory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_storm_of_one_event_starts_one_run_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    storm(&Location::Sqlite(directory.path().join("semel.db"))).await;
}

async fn storm(location: &Location) {
    let world = Arc::new(Working::on(location).await);
    world.deploy(SIGNUP).await;
    let deliveries = (0..200).map(|_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            world
                .hook("/hooks/signup", json!({"id":"a","name":"x"}))
                .await
        })
    });
    let mut accepted = Vec::new();
    let mut duplicates = Vec::new();
    for delivery in deliveries.collect::<Vec<_>>() {
        let answer = delivery.await.unwrap();
        match answer.status {
            StatusCode::ACCEPTED => accepted.push(run_of(&answer)),
            status => {
                assert_eq!(status, StatusCode::OK, "{}", answer.text());
                assert_eq!(answer.json()["status"], "duplicate");
                duplicates.push(run_of(&answer));
            }
        }
    }
    assert_eq!((accepted.len(), duplicates.len()), (1, 199));
    assert!(duplicates.iter().all(|run| *run == accepted[0]));
    assert_eq!(world.settled(&accepted[0]).await, RunState::Done);
    assert_eq!(world.runs().await.len(), 1);
    assert_eq!(world.sink.seen().len(), 1);
}

#[tokio::test]
async fn what_is_not_served_waits_for_a_server() {
    let world = World::new().await;
    world.deploy(SIGNUP).await;
    let answer = world
        .hook("/hooks/signup", json!({"id":"a","name":"x"}))
        .await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert_eq!(world.runs().await[0].state, RunState::Queued);
    assert!(world.sink.seen().is_empty());
    let page = world.call("GET", "/metrics", "").await;
    let counted = r#"semel_events_total{flow="signup",status="accepted"} 1"#;
    assert!(page.text().contains(counted), "{}", page.text());
}

#[tokio::test]
async fn the_same_id_with_another_payload_is_kept_for_a_person_once() {
    let world = World::new().await;
    world.deploy(SIGNUP).await;
    let first = world
        .hook("/hooks/signup", json!({"id":"a","name":"Ada"}))
        .await;
    let other = json!({"id":"a","name":"Eve"});
    for _ in 0..2 {
        let answer = world.hook("/hooks/signup", &other).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        assert_eq!(answer.json()["status"], "conflict");
        assert_eq!(run_of(&answer), run_of(&first));
    }
    let third = json!({"id":"a","name":"Bob"});
    world.hook("/hooks/signup", &third).await;
    let runs = world.runs().await;
    let parked: Vec<_> = runs
        .iter()
        .filter(|run| run.state == RunState::Parked)
        .collect();
    assert_eq!((runs.len(), parked.len()), (3, 2), "once for each content");
    let key = parked[0].key.as_str();
    assert!(key.starts_with("signup/a/conflict/"), "{key}");
    let why = format!(
        "the same key as {}, with another payload: it differs in /name",
        run_of(&first)
    );
    assert_eq!(&*parked[0].why, why);
}

#[tokio::test]
async fn what_is_older_than_what_was_applied_starts_nothing() {
    let world = World::new().await;
    world
        .deploy(
            "\
name: stock
on:
  webhook:
    path: /hooks/stock
    verify: none
    latest: {of: \"item/${{ event.item }}\", version: event.at}
key: stock/${{ event.id }}
steps:
  - {id: note, set: {n: 1}}
",
        )
        .await;
    for (id, item, at, status) in [
        ("1", "a", json!(10), "accepted"),
        ("2", "a", json!(9), "stale"),
        ("2", "a", json!(9), "stale"),
        ("3", "a", json!(10), "accepted"),
        ("4", "b", json!(1), "accepted"),
        ("5", "a", json!("1970-01-01T00:00:00.011Z"), "accepted"),
        ("6", "a", json!(10), "stale"),
    ] {
        let event = json!({"id":id,"item":item,"at":at});
        let answer = world.hook("/hooks/stock", &event).await;
        assert_eq!(answer.json()["status"], status, "{event}");
        let code = if status == "accepted" { 202 } else { 200 };
        assert_eq!(answer.status, code, "{event}");
    }
    assert_eq!(world.runs().await.len(), 4);
}

#[tokio::test]
async fn a_filter_lets_through_what_it_wants_and_drops_nothing_it_cannot_judge() {
    let world = World::new().await;
    world
        .deploy(
            "\
name: paid
on:
  webhook: {path: /hooks/paid, verify: none, filter: event.type == \"paid\" && event.amount > 0}
key: paid/${{ event.id }}
steps:
  - {id: note, set: {n: 1}}
",
        )
        .await;
    let ignored = world
        .hook("/hooks/paid", json!({"id":1,"type":"other"}))
        .await;
    assert_eq!(ignored.status, StatusCode::OK);
    assert_eq!(ignored.json(), json!({"status":"ignored"}));
    assert!(world.runs().await.is_empty());

    let unclear = json!({"id":2,"type":"paid","amount":"much"});
    let parked = world.hook("/hooks/paid", &unclear).await;
    assert_eq!(parked.status, StatusCode::ACCEPTED, "{}", parked.text());
    let runs = world.runs().await;
    assert_eq!(runs[0].state, RunState::Parked);
    assert!(runs[0].why.starts_with("filter: "), "{}", runs[0].why);
    assert_eq!(runs[0].key.as_str(), "paid/2");
    let again = world.hook("/hooks/paid", &unclear).await;
    assert_eq!(again.json()["status"], "duplicate");
    assert_eq!(run_of(&again), run_of(&parked));
}

#[tokio::test]
async fn an_event_without_a_key_is_filed_and_acknowledged() {
    let world = World::new().await;
    world.deploy(SIGNUP).await;
    for (event, why) in [
        (json!({"name":"x"}), "id"),
        (json!({"id":null,"name":"x"}), "null"),
        (json!({"id":{"a":1},"name":"x"}), "an object"),
        (json!({"id":1.5,"name":"x"}), "a number"),
        (json!({"id":"","name":"x"}), "empty"),
        (json!({"id":"a\nb","name":"x"}), "control"),
        (json!({"id":"k".repeat(300),"name":"x"}), "limit"),
    ] {
        let answer = world.hook("/hooks/signup", &event).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{event}");
        let runs = world.runs().await;
        let run = runs.iter().find(|run| run.id.text() == run_of(&answer));
        let run = run.unwrap();
        assert_eq!(run.state, RunState::Parked, "{event}");
        assert!(run.why.contains(why), "{event}: {}", run.why);
        assert!(run.key.as_str().starts_with("unkeyed/"), "{event}");
        let again = world.hook("/hooks/signup", &event).await;
        assert_eq!(run_of(&again), run_of(&answer), "{event}");
    }
}

#[tokio::test]
async fn without_a_key_of_its_own_a_flow_goes_by_the_senders_id() {
    let world = World::new().await;
    world.deploy(PLAIN).await;
    let json = ("content-type", "application/json");
    let first = world
        .deliver("/hooks/plain", &[json, ("x-event-id", "e/1")], r#"{"a":1}"#)
        .await;
    assert_eq!(first.status, StatusCode::ACCEPTED, "{}", first.text());
    assert_eq!(world.runs().await[0].key.as_str(), "none/e%2F1");
    let again = world
        .deliver("/hooks/plain", &[json, ("x-event-id", "e/1")], r#"{"a":1}"#)
        .await;
    assert_eq!(again.json()["status"], "duplicate");
    for headers in [
        &[json, ("x-event-id", "a"), ("x-event-id", "b")][..],
        &[json, ("x-event-id", " ")],
    ] {
        let wrong = world.deliver("/hooks/plain", headers, "{}").await;
        assert_eq!(wrong.status, 400, "{headers:?}: {}", wrong.text());
    }
    assert_eq!(world.runs().await.len(), 1);
}

#[tokio::test]
async fn numbers_stay_exact_from_the_hook_to_the_journal() {
    let world = World::new().await;
    world.deploy(SIGNUP).await;
    let body =
        r#"{"id":9007199254740993,"name":0.1,"x":1.10,"long":123456789012345678901234567890}"#;
    let answer = world.hook("/hooks/signup", body).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text());
    let run = &world.runs().await[0];
    assert_eq!(run.key.as_str(), "signup/9007199254740993");
    let loaded = world.store.load_run(run.id).await.unwrap().unwrap();
    let row = &loaded.journal[0].row;
    for exact in [
        "9007199254740993",
        "0.1",
        "1.1",
        "123456789012345678901234567890",
    ] {
        assert!(row.contains(exact), "{exact}: {row}");
    }
    assert!(row.contains("1.10"), "and as it was received: {row}");
}
