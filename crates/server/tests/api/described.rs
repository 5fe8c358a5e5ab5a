//! Real answers about flows, runs and proofs fit their schemas.

use semel_server::ROUTES;
use serde_json::{Value, json};

use crate::openapi::fits;
use crate::outside::Mood;
use crate::runs::{ORDER, ordered};
use crate::working::Working;

const NIGHTLY: &str = "\
name: nightly
on:
  schedule: {cron: \"0 3 * * *\", zone: Europe/Vienna, missed: skip}
steps:
  - {id: note, set: {n: 1}}
";

/// The path in the description that a real one belongs to; names that are written out go first.
fn route_of(path: &str) -> &'static str {
    let path = path.split('?').next().unwrap();
    let fits = |route: &&str| {
        let (mut given, mut known) = (path.split('/'), route.split('/'));
        let alike = given
            .by_ref()
            .zip(known.by_ref())
            .all(|(given, known)| known.starts_with('{') || given == known);
        alike && path.split('/').count() == route.split('/').count()
    };
    let fitting = ROUTES.iter().map(|route| route.path).filter(fits);
    fitting
        .min_by_key(|route| route.matches('{').count())
        .unwrap()
}

/// Asks (`GET /path`), and holds the answer against the description.
async fn fitting(world: &Working, question: &str, body: &Value, gist: &str) {
    let (method, path) = question.split_once(' ').unwrap();
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let answer = world.call(method, path, &body).await;
    assert_eq!(answer.gist(), gist, "{question} {body}: {}", answer.text());
    fits(route_of(path), &method.to_lowercase(), &answer);
}

#[tokio::test]
async fn deploys() {
    let world = Working::new().await;
    let thief = ORDER.replace("name: order", "name: thief");
    for (source, gist) in [
        (ORDER, "200"),
        (ORDER, "200"),
        (NIGHTLY, "200"),
        ("x: 1", "422 flow_invalid"),
        (&thief, "409 path_taken"),
    ] {
        let deploy = json!({ "source": source });
        fitting(&world, "POST /v1/flows", &deploy, gist).await;
        fitting(&world, "POST /v1/check", &deploy, "200").await;
    }
    let wrong = json!({"sauce":""});
    fitting(&world, "POST /v1/flows", &wrong, "400 field_unknown").await;
    ordered(&world, "a").await;
    let renamed = json!({"source": ORDER.replace("id: tell", "id: say")});
    fitting(&world, "POST /v1/flows", &renamed, "409 keys_abandoned").await;
    fitting(&world, "POST /v1/check", &renamed, "200").await;
}

#[tokio::test]
async fn flows() {
    let world = Working::new().await;
    let release = world.deploy(ORDER).await;
    world.deploy(NIGHTLY).await;
    let one = format!("GET /v1/releases/{release}");
    let to = json!({ "to": release });
    for (question, body, gist) in [
        ("GET /v1/flows", &Value::Null, "200"),
        ("GET /v1/flows/order", &Value::Null, "200"),
        ("GET /v1/flows/nightly", &Value::Null, "200"),
        ("GET /v1/flows/other", &Value::Null, "404 flow_missing"),
        ("GET /v1/flows/order/releases", &Value::Null, "200"),
        ("POST /v1/flows/order/rollback", &to, "200"),
        (&one, &Value::Null, "200"),
        (
            "GET /v1/releases/rel_0",
            &Value::Null,
            "404 release_missing",
        ),
        ("DELETE /v1/flows/order", &Value::Null, "200"),
        ("DELETE /v1/flows/order", &Value::Null, "404 flow_missing"),
    ] {
        fitting(&world, question, body, gist).await;
    }
}

#[tokio::test]
async fn events() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    for (event, status) in [
        (json!({"id":"a","amount":1}), 202),
        (json!({"id":"a","amount":1}), 200),
        (json!({"id":"a","amount":2}), 200),
        (json!({"amount":2}), 202),
    ] {
        let answer = world.hook("/hooks/order", &event).await;
        assert_eq!(answer.status, status, "{event}");
        fits("/hooks/{path}", "post", &answer);
    }
    let unknown = world.hook("/hooks/none", "{}").await;
    fits("/hooks/{path}", "post", &unknown);
    for (key, event, status) in [
        ("k", json!({"id":"b","amount":1}), 202),
        ("k", json!({"id":"b","amount":1}), 200),
        ("k", json!({"id":"b","amount":2}), 422),
        ("", json!({"id":"c"}), 400),
    ] {
        let answer = world.trigger("order", key, &event).await;
        assert_eq!(answer.status, status, "{key} {event}");
        fits("/v1/flows/{flow}/runs", "post", &answer);
    }
}

#[tokio::test]
async fn runs_and_proofs() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    world.sink.then(&[Mood::Does, Mood::Refuses, Mood::Mute]);
    let failed = ordered(&world, "a").await;
    let parked = ordered(&world, "b").await;
    let order = json!({"id":"a","amount":21});
    world.hook("/hooks/order", &order).await;
    world.store.write_receipts().await.unwrap();
    let (wrong, note) = (json!({"plan_hash":"0"}), json!({"note":"go"}));
    for (question, body, gist) in [
        ("GET /v1/runs", &Value::Null, "200"),
        (
            "GET /v1/runs?state=x",
            &Value::Null,
            "400 parameter_invalid",
        ),
        ("GET /v1/runs/FAILED", &Value::Null, "200"),
        ("GET /v1/runs/PARKED", &Value::Null, "200"),
        ("GET /v1/runs/x", &Value::Null, "404 run_missing"),
        ("POST /v1/runs/FAILED/plan", &Value::Null, "200"),
        ("POST /v1/runs/PARKED/plan", &Value::Null, "409 run_open"),
        ("POST /v1/runs/FAILED/rerun", &wrong, "409 plan_changed"),
        ("POST /v1/runs/FAILED/retry", &Value::Null, "202"),
        ("POST /v1/runs/FAILED/cancel", &Value::Null, "409 run_over"),
        ("POST /v1/runs/PARKED/resume", &note, "202"),
        ("GET /v1/proof?run=FAILED", &Value::Null, "200"),
        ("GET /v1/proof?key=a", &Value::Null, "400 parameter_invalid"),
        ("GET /v1/proof/key", &Value::Null, "503 signing_unavailable"),
    ] {
        let question = question.replace("FAILED", &failed);
        let question = question.replace("PARKED", &parked);
        fitting(&world, &question, body, gist).await;
    }
}
