//! Requests about flows and runs that cannot be used, and the answer each must get: nothing is
//! deployed, started or ended by them.

use axum::body::Body;
use semel_server::{ROUTES, Route, Settings};
use serde_json::json;

use crate::common::World;
use crate::working::run_of;

const FLOW: &str = "name: f\nsteps:\n  - {id: note, set: {n: 1}}\n";

/// Every route of flows and runs that takes a body.
fn routes(run: &str) -> Vec<String> {
    let takes = |route: &&Route| {
        let ours = ["/v1/flows", "/v1/runs", "/v1/check"];
        let ours = ours.iter().any(|start| route.path.starts_with(start));
        ours && route.access("POST").is_some()
    };
    let filled = |route: &Route| route.path.replace("{flow}", "f").replace("{run}", run);
    ROUTES.iter().filter(takes).map(filled).collect()
}

#[tokio::test]
async fn bodies() {
    let world = World::with(Settings {
        max_body: 10_000,
        ..Settings::default()
    })
    .await;
    world.deploy(FLOW).await;
    let run = run_of(&world.trigger("f", "first", "1").await);
    let routes = routes(&run);
    assert!(routes.len() >= 9, "{routes:?}");
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let long = " ".repeat(10_001);
    let json = "application/json";
    for (kind, encoding, body, gist) in [
        (json, "", b"{".as_slice(), "400 json_invalid"),
        (json, "", b"{} x", "400 json_invalid"),
        (json, "", b"{\"a\":\"\xff\"}", "400 json_invalid"),
        (json, "", br#"{"a":"\u0000"}"#, "400 json_invalid"),
        (json, "", br#"{"a":"\ud800"}"#, "400 json_invalid"),
        (json, "", br#"{"a":NaN}"#, "400 json_invalid"),
        (json, "", br#"{"a":1e400}"#, "400 json_invalid"),
        (json, "", br#"{"a":1,"a":2}"#, "400 json_invalid"),
        (json, "", deep.as_bytes(), "400 too_deep"),
        (json, "", long.as_bytes(), "413 body_too_large"),
        (json, "gzip", b"{}", "400 encoding_invalid"),
        (json, "br", b"{}", "415 encoding_unsupported"),
        ("text/plain", "", b"{}", "415 content_type_unsupported"),
        (
            "application/x-www-form-urlencoded",
            "",
            b"a=1",
            "415 content_type_unsupported",
        ),
    ] {
        for route in &routes {
            let mut request = world
                .request("POST", route)
                .header("idempotency-key", "k")
                .header("content-type", kind);
            if !encoding.is_empty() {
                request = request.header("content-encoding", encoding);
            }
            let answer = world.send(request.body(Body::from(body.to_vec())).unwrap());
            let (answer, at) = (answer.await, format!("{route} {kind} {encoding} {body:?}"));
            assert_eq!(answer.gist(), gist, "{at}: {}", answer.text());
            let told = answer.json();
            assert!(told["detail"].is_string(), "{at}");
            if gist.starts_with("400 json") || gist.starts_with("400 too_deep") {
                assert!(told["offset"].is_u64(), "{at}: {told}");
            }
        }
    }
    let runs = world.runs().await;
    assert_eq!(runs.len(), 1, "nothing was started");
    assert_eq!(&*runs[0].why, "queued", "nor ended");
    let flows = world.call("GET", "/v1/flows", "").await.json();
    assert_eq!(flows["flows"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn fields() {
    let world = World::new().await;
    world.deploy(FLOW).await;
    let run = run_of(&world.trigger("f", "first", "1").await);
    let (cancel, rerun) = (
        format!("/v1/runs/{run}/cancel"),
        format!("/v1/runs/{run}/rerun"),
    );
    let (flows, long) = ("/v1/flows", "x".repeat(300));
    for (path, body, gist, says) in [
        (flows, json!({}), "400 field_missing", "source"),
        (flows, json!({"source":1}), "400 field_invalid", "source"),
        (flows, json!({"sorce":""}), "400 field_unknown", "source"),
        (flows, json!({"source":""}), "422 flow_invalid", "F0"),
        (&cancel, json!({"by":long}), "400 field_invalid", "255"),
        (&cancel, json!({"undo":"yes"}), "400 field_invalid", "true"),
        (&cancel, json!({"undoo":true}), "400 field_unknown", "undo"),
        (&rerun, json!({"plan_hash":1}), "400 field_invalid", "hash"),
        (&rerun, json!({"plan_hsh":""}), "400 field_unknown", "hash"),
    ] {
        let answer = world.call("POST", path, &body).await;
        assert_eq!(answer.gist(), gist, "{path} {body}: {}", answer.text());
        assert!(answer.text().contains(says), "{path}: {}", answer.text());
    }
    assert_eq!(world.runs().await.len(), 1);
}

#[tokio::test]
async fn names_and_parameters() {
    let world = World::new().await;
    for (path, gist, says) in [
        ("/v1/runs?stat=done", "400 parameter_unknown", "state"),
        ("/v1/runs?state=dne", "400 parameter_invalid", "done"),
        ("/v1/runs?limit=0", "400 parameter_invalid", "limit"),
        (
            "/v1/runs?since=2026-13-01",
            "400 parameter_invalid",
            "since",
        ),
        ("/v1/runs/run_1", "404 run_missing", "run_1"),
        ("/v1/flows/-rf", "404 flow_missing", "-rf"),
        ("/v1/flows/%1b%5b31m", "404 flow_missing", "u{1b}"),
    ] {
        let answer = world.call("GET", path, "").await;
        assert_eq!(answer.gist(), gist, "{path}: {}", answer.text());
        assert!(answer.text().contains(says), "{path}: {}", answer.text());
    }
}
