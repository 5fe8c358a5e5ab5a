//! Runs that people start.

use axum::body::Body;
use axum::http::StatusCode;
use semel_store::run::RunState;
use serde_json::json;

use crate::common::World;
use crate::working::{Working, run_of};

const FLOW: &str = "\
name: report
steps:
  - id: send
    http: {post: \"https://sink.example/${{ event.day }}\"}
";

const KEYED: &str = "\
name: keyed
key: day/${{ event.day }}
steps:
  - {id: note, set: {n: 1}}
";

#[tokio::test]
async fn a_double_click_starts_one_run() {
    let world = Working::new().await;
    world.deploy(FLOW).await;
    let first = world.trigger("report", "k1", json!({"day":1})).await;
    assert_eq!(first.status, StatusCode::ACCEPTED, "{}", first.text());
    assert_eq!(world.settled(&run_of(&first)).await, RunState::Done);
    let again = world.trigger("report", "\"k1\"", json!({"day":1})).await;
    assert_eq!(again.status, StatusCode::OK, "quoted or bare is the same");
    let event = run_of(&first).replace("run_", "evt_");
    assert_eq!(
        again.json(),
        json!({"status":"duplicate","run":run_of(&first),"event":event})
    );
    let other = world.trigger("report", "k1", json!({"day":2,"x":1})).await;
    assert_eq!(other.gist(), "422 conflict");
    let problem = other.json();
    assert_eq!(problem["run"], run_of(&first));
    assert_eq!(problem["differs"], json!(["/day", "/x"]));
    assert_eq!(world.runs().await.len(), 1);
    assert_eq!(world.sink.seen(), ["https://sink.example/1"]);
}

#[tokio::test]
async fn keys_that_cannot_be_used() {
    let world = World::new().await;
    world.deploy(FLOW).await;
    let long = "k".repeat(256);
    for (keys, gist) in [
        (&[][..], "400 key_missing"),
        (&[""], "400 key_missing"),
        (&["   "], "400 key_missing"),
        (&["\"\""], "400 key_missing"),
        (&["a", "b"], "400 key_invalid"),
        (&["a", "a"], "400 key_invalid"),
        (&[&*long], "400 key_invalid"),
        (&["a\tb"], "400 key_invalid"),
        (&["\"a"], "400 key_invalid"),
    ] {
        let mut request = world.request("POST", "/v1/flows/report/runs");
        for key in keys {
            request = request.header("idempotency-key", *key);
        }
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.gist(), gist, "{keys:?}: {}", answer.text());
        assert_eq!(answer.json()["field"], "Idempotency-Key", "{keys:?}");
    }
    let request = world
        .request("POST", "/v1/flows/report/runs")
        .header("idempotency-key", &b"\xff\xfe"[..]);
    let answer = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.gist(), "400 key_invalid");
    assert!(world.runs().await.is_empty());
    let exact = "k".repeat(255);
    assert_eq!(world.trigger("report", &exact, "1").await.status, 202);
    for (a, b) in [("a:b", "a"), ("\u{e9}", "e\u{301}")] {
        assert_eq!(world.trigger("report", a, "1").await.status, 202, "{a}");
        assert_eq!(world.trigger("report", b, "1").await.status, 202, "{b}");
    }
}

#[tokio::test]
async fn a_flow_with_a_key_goes_by_it() {
    let world = World::new().await;
    world.deploy(KEYED).await;
    let first = world.trigger("keyed", "a", json!({"day":"mon"})).await;
    assert_eq!(first.status, 202, "{}", first.text());
    let again = world.trigger("keyed", "b", json!({"day":"mon"})).await;
    assert_eq!(again.json()["status"], "duplicate");
    assert_eq!(run_of(&again), run_of(&first));
    let other = world.trigger("keyed", "a", json!({"day":"tue"})).await;
    assert_eq!(other.gist(), "422 conflict", "one key, two intents");
    assert_eq!(other.json()["differs"], json!(["/day"]));
    assert_eq!(other.json()["run"], run_of(&first));
    for (event, part) in [
        (json!({}), "day"),
        (json!({"day":null}), "null"),
        (json!({"day":{}}), "an object"),
        (json!({"day":0.5}), "a number"),
        (json!(null), "day"),
    ] {
        let answer = world.trigger("keyed", "c", &event).await;
        assert_eq!(answer.gist(), "400 key_invalid", "{event}");
        assert!(answer.text().contains(part), "{event}: {}", answer.text());
    }
    assert_eq!(world.runs().await.len(), 1);
}

#[tokio::test]
async fn an_empty_body_is_null_and_a_draft_runs_without_being_live() {
    let world = World::new().await;
    let missing = world.trigger("report", "k", "1").await;
    assert_eq!(missing.gist(), "404 flow_missing");
    let draft = json!({"source": FLOW, "draft": true});
    let answer = world.call("POST", "/v1/flows", &draft).await;
    assert_eq!(answer.json()["status"], "draft");
    let release = answer.json()["release"].as_str().unwrap().to_owned();
    let live = world.trigger("report", "k", "1").await;
    assert_eq!(live.gist(), "404 flow_missing", "a draft is not live");
    let path = format!("/v1/flows/report/runs?draft={}", &release[..12]);
    let request = world.request("POST", &path).header("idempotency-key", "k");
    let answer = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let run = &world.runs().await[0];
    assert_eq!(semel_server::release_text(run.release), release);
    let loaded = world.store.load_run(run.id).await.unwrap().unwrap();
    assert!(loaded.journal[0].row.contains(r#""event":{"is":null}"#));
    for name in ["rel_00000000", "rel_123", "nonsense"] {
        let path = format!("/v1/flows/report/runs?draft={name}");
        let request = world.request("POST", &path).header("idempotency-key", "k");
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.gist(), "404 release_missing", "{name}");
    }
}
