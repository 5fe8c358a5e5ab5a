//! The description is true: its paths are the router's, and real answers fit its schemas.
use std::collections::BTreeSet;

use crate::common::{Answer, World};
use semel_server::{Access, OPENAPI, ROUTES};
use semel_store::access::Scope;
use serde_json::{Value, json};

fn document() -> Value {
    serde_json::from_str(OPENAPI).unwrap()
}

/// A name that stands for several segments is described like one that stands for one.
fn described_as(path: &str) -> String {
    path.replace("{*", "{")
}

#[test]
fn paths_and_methods_are_the_routers() {
    let document = document();
    let mut described = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            if method != "parameters" {
                described.insert(format!("{method} {path}"));
            }
        }
    }
    let routed: BTreeSet<String> = ROUTES
        .iter()
        .flat_map(|route| {
            let path = described_as(route.path);
            route
                .methods
                .iter()
                .map(move |(m, _)| format!("{m} {path}"))
        })
        .collect();
    assert_eq!(described, routed);
}

#[test]
fn who_may_pass_is_described() {
    let document = document();
    for route in ROUTES {
        for (method, access) in route.methods {
            let operation = &document["paths"][described_as(route.path)][method];
            let security = match access {
                Access::Open => json!([]),
                Access::Local => json!([{}, {"bearer": []}, {"session": []}]),
                _ => Value::Null,
            };
            let at = format!("{method} {}", route.path);
            assert_eq!(operation["security"], security, "{at}");
            let declared = operation["responses"]["401"].is_object();
            // A hook asks for a signature in place of a token.
            let logs_in = ["/v1/session", "/login"].contains(&route.path) && *method == "post";
            let asks = *access != Access::Open || route.path.starts_with("/hooks/") || logs_in;
            assert_eq!(declared, asks, "{at}");
            let scopes = match access {
                Access::Needs(scopes) => {
                    assert!(operation["responses"]["403"].is_object(), "{at}");
                    json!(scopes.iter().map(Scope::name).collect::<Vec<_>>())
                }
                _ => Value::Null,
            };
            assert_eq!(operation["x-scopes"], scopes, "{at}");
        }
    }
}

/// The schema that the description has for an answer.
fn schema(path: &str, method: &str, answer: &Answer) -> Value {
    let document = document();
    let mut response = &document["paths"][path][method]["responses"][answer.status.as_str()];
    assert!(
        response.is_object(),
        "{method} {path}: {} is not declared",
        answer.gist()
    );
    if let Some(reference) = response["$ref"].as_str() {
        response = document.pointer(reference.trim_start_matches('#')).unwrap();
    }
    let kind = answer.header("content-type").split(';').next().unwrap();
    let schema = &response["content"][kind]["schema"];
    assert!(
        schema.is_object(),
        "{method} {path}: {kind} is not declared"
    );
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    schema
}

pub(crate) fn fits(path: &str, method: &str, answer: &Answer) {
    let schema = schema(path, method, answer);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let json = answer.json();
    let errors: Vec<String> = validator
        .iter_errors(&json)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{method} {path} {json}\n{errors:?}");
}

const GUARD: &str = "/v1/guard/{scope}/{key}";
const ONE: &str = "/v1/ledger/{scope}/{key}";
const DECIDE: &str = "/v1/ledger/{scope}/{key}/decide";

#[tokio::test]
async fn answers_of_guard_and_once_fit_their_schemas() {
    let world = World::new().await;
    let process = json!({"machine":"ab".repeat(16),"pid":42,"started":7});
    let claim = json!({"input":{"a":1},"lease":"10s","process":process});
    let zeros = json!({"token":"0".repeat(32),"outcome":"done"});
    let beat = "/v1/guard/{scope}/{key}/heartbeat";
    let abandon = "/v1/guard/{scope}/{key}/abandon";
    let say = json!({ "process": process });
    let once = "/v1/once/{scope}/{key}";
    for (route, method, path, body, gist) in [
        (
            GUARD,
            "put",
            "/v1/guard/s/k",
            zeros.clone(),
            "404 effect_missing",
        ),
        (GUARD, "post", "/v1/guard/s/k", claim.clone(), "201"),
        (GUARD, "post", "/v1/guard/s/k", claim, "409 busy"),
        (
            GUARD,
            "post",
            "/v1/guard/s/k",
            json!({"input":2}),
            "422 conflict",
        ),
        (GUARD, "put", "/v1/guard/s/k", zeros, "409 stale_token"),
        (
            beat,
            "post",
            "/v1/guard/s/k/heartbeat",
            json!({"token":"f".repeat(32)}),
            "409 stale_token",
        ),
        (abandon, "post", "/v1/guard/s/k/abandon", say.clone(), "200"),
        (
            abandon,
            "post",
            "/v1/guard/s/k/abandon",
            say,
            "409 not_abandoned",
        ),
        (GUARD, "post", "/v1/guard/s/k", json!({}), "409 unknown"),
        (
            DECIDE,
            "post",
            "/v1/ledger/s/k/decide",
            json!({"decision":"happened"}),
            "200",
        ),
        (
            DECIDE,
            "post",
            "/v1/ledger/s/k/decide",
            json!({"decision":"failed"}),
            "409 not_open",
        ),
        (GUARD, "post", "/v1/guard/s/k", json!({}), "200"),
        (once, "post", "/v1/once/s/k", json!({}), "200"),
        (once, "post", "/v1/once/s/new", json!({}), "200"),
        (
            once,
            "post",
            "/v1/once/s/new",
            json!({"lease":"1s"}),
            "400 field_unknown",
        ),
    ] {
        let answer = world.call(&method.to_uppercase(), path, &body).await;
        assert_eq!(
            answer.gist(),
            gist,
            "{method} {path} {body}: {}",
            answer.text()
        );
        fits(route, method, &answer);
    }
}

#[tokio::test]
async fn answers_of_the_rest_fit_their_schemas() {
    let world = World::new().await;
    let token = world.granted("/v1/guard/s/k", "").await;
    let beat = "/v1/guard/{scope}/{key}/heartbeat";
    let rows = json!({"effects":[{"scope":"s","parts":["a","b"],"at":"2020-01-01T00:00:00Z"}]});
    let wrong = json!({"effects":[{"scope":"s"},{"scope":"s","key":"a%b"}]});
    world.call("POST", "/v1/guard/s/k", "").await;
    world.store.write_receipts().await.unwrap();
    for (route, method, path, body, gist) in [
        (
            beat,
            "post",
            "/v1/guard/s/k/heartbeat",
            json!({ "token": token }),
            "200",
        ),
        (
            GUARD,
            "put",
            "/v1/guard/s/k",
            json!({"token":token,"outcome":"done"}),
            "200",
        ),
        (
            "/v1/ledger/import",
            "post",
            "/v1/ledger/import",
            rows,
            "200",
        ),
        (
            "/v1/ledger/import",
            "post",
            "/v1/ledger/import",
            wrong,
            "400 rows_invalid",
        ),
        (ONE, "get", "/v1/ledger/s/k", Value::Null, "200"),
        (ONE, "get", "/v1/ledger/s/a?part=b", Value::Null, "200"),
        (
            ONE,
            "get",
            "/v1/ledger/s/none",
            Value::Null,
            "404 effect_missing",
        ),
        ("/v1/ledger", "get", "/v1/ledger", Value::Null, "200"),
        ("/v1/receipts", "get", "/v1/receipts", Value::Null, "200"),
        (
            "/v1/receipts/tally",
            "get",
            "/v1/receipts/tally",
            Value::Null,
            "200",
        ),
        (
            "/v1/tokens",
            "post",
            "/v1/tokens",
            json!({"name":"n8n"}),
            "201",
        ),
        ("/v1/tokens", "get", "/v1/tokens", Value::Null, "200"),
        (
            "/v1/tokens/{id}",
            "delete",
            "/v1/tokens/none",
            Value::Null,
            "404 token_missing",
        ),
        (
            "/v1/blobs/{hash}",
            "get",
            "/v1/blobs/none",
            Value::Null,
            "404 blob_missing",
        ),
        ("/healthz", "get", "/healthz", Value::Null, "200"),
        ("/readyz", "get", "/readyz", Value::Null, "200"),
        (
            "/errors/{code}",
            "get",
            "/errors/none",
            Value::Null,
            "404 not_found",
        ),
    ] {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = world.call(&method.to_uppercase(), path, &body).await;
        assert_eq!(
            answer.gist(),
            gist,
            "{method} {path} {body}: {}",
            answer.text()
        );
        fits(route, method, &answer);
    }
}
