//! Values under keys over the API: put, read, listed, removed, and only what is expected.

use serde_json::{Value, json};

use crate::common::{Answer, World};
use crate::openapi::fits;

/// Asks, and holds the answer against the description.
async fn ask(world: &World, method: &str, path: &str, body: Value, gist: &str) -> Value {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let answer: Answer = world.call(method, path, body).await;
    assert_eq!(answer.gist(), gist, "{method} {path}: {}", answer.text());
    let listing = path == "/v1/kv" || path.starts_with("/v1/kv?");
    let route = if listing { "/v1/kv" } else { "/v1/kv/{key}" };
    fits(route, &method.to_lowercase(), &answer);
    answer.json()
}

#[tokio::test]
async fn values_are_put_read_and_removed() {
    let world = World::new().await;
    let path = "/v1/kv/a/b%2Fc%20d";
    ask(&world, "GET", path, Value::Null, "404 value_missing").await;
    let body = json!({"value": {"n": 1, "list": [true, null]}, "ttl": "1h"});
    let put = ask(&world, "PUT", path, body, "200").await;
    assert_eq!(put["key"], "a/b%2Fc d");
    assert_eq!(put["before"], Value::Null);
    let read = ask(&world, "GET", path, Value::Null, "200").await;
    assert_eq!(read["value"], json!({"n": 1, "list": [true, null]}));
    assert_eq!(read["by"], "tests");
    assert!(read["expires_at"].is_string());
    let gone = ask(&world, "DELETE", path, Value::Null, "200").await;
    assert_eq!(gone["before"]["n"], 1);
    ask(&world, "DELETE", path, Value::Null, "404 value_missing").await;
    ask(&world, "PUT", path, json!({"value": null}), "200").await;
}

#[tokio::test]
async fn numbers_are_kept_to_the_last_digit() {
    let world = World::new().await;
    let body = r#"{"value":[9007199254740993, 0.1, 1.10]}"#;
    let put = world.call("PUT", "/v1/kv/n", body).await;
    assert_eq!(put.gist(), "200");
    let read = world.call("GET", "/v1/kv/n", "").await;
    assert!(
        read.text()
            .contains(r#""value":[9007199254740993,0.1,1.1]"#)
    );
}

#[tokio::test]
async fn what_is_not_expected_is_not_changed() {
    let world = World::new().await;
    let path = "/v1/kv/turn";
    let lost = "409 value_changed";
    ask(&world, "PUT", path, json!({"value": 1, "from": 0}), lost).await;
    ask(
        &world,
        "PUT",
        path,
        json!({"value": 1, "from": null}),
        "200",
    )
    .await;
    let refused = ask(&world, "PUT", path, json!({"value": 2, "from": null}), lost).await;
    assert_eq!(refused["value"], 1);
    let done = ask(&world, "PUT", path, json!({"value": 2, "from": 1.0}), "200").await;
    assert_eq!((&done["before"], &done["value"]), (&json!(1), &json!(2)));
    ask(
        &world,
        "PUT",
        path,
        json!({"value": null, "from": 2}),
        "200",
    )
    .await;
    ask(&world, "GET", path, Value::Null, "404 value_missing").await;
}

#[tokio::test]
async fn keys_are_listed_in_pages() {
    let world = World::new().await;
    for key in ["b/2", "a", "b/1", "b/3", "c"] {
        let path = format!("/v1/kv/{key}");
        ask(&world, "PUT", &path, json!({"value": key}), "200").await;
    }
    let first = ask(
        &world,
        "GET",
        "/v1/kv?prefix=b/&limit=2",
        Value::Null,
        "200",
    )
    .await;
    let keys = |page: &Value| {
        let values = page["values"].as_array().unwrap().clone();
        values
            .iter()
            .map(|it| it["key"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&first), ["b/1", "b/2"]);
    let after = format!("/v1/kv?prefix=b/&after={}", first["next"].as_str().unwrap());
    let second = ask(&world, "GET", &after, Value::Null, "200").await;
    assert_eq!(keys(&second), ["b/3"]);
    assert_eq!(second["next"], Value::Null);
}

#[tokio::test]
async fn wrong_requests_change_nothing_and_say_why() {
    let world = World::new().await;
    let long = "x".repeat(65_535);
    let wide = vec!["x".repeat(255); 5].join("/");
    for (method, path, body, gist) in [
        ("PUT", "/v1/kv/k", json!({}), "400 field_missing"),
        (
            "PUT",
            "/v1/kv/k",
            json!({"value": 1, "if": 2}),
            "400 field_unknown",
        ),
        (
            "PUT",
            "/v1/kv/k",
            json!({"value": 1, "ttl": "0s"}),
            "400 field_invalid",
        ),
        (
            "PUT",
            "/v1/kv/k",
            json!({"value": 1, "ttl": 5}),
            "400 field_invalid",
        ),
        (
            "PUT",
            "/v1/kv/k",
            json!({ "value": long }),
            "400 field_invalid",
        ),
        ("PUT", "/v1/kv/k", Value::Null, "400 body_missing"),
        ("PUT", "/v1/kv/a//b", json!({"value": 1}), "400 key_missing"),
        ("PUT", "/v1/kv/%FF", json!({"value": 1}), "400 key_invalid"),
        (
            "PUT",
            "/v1/kv/a%0Ab",
            json!({"value": 1}),
            "400 key_invalid",
        ),
        ("GET", "/v1/kv/k?x=1", Value::Null, "400 parameter_unknown"),
        (
            "GET",
            "/v1/kv?limit=0",
            Value::Null,
            "400 parameter_invalid",
        ),
    ] {
        ask(&world, method, path, body, gist).await;
    }
    let path = format!("/v1/kv/{wide}");
    let said = ask(&world, "PUT", &path, json!({"value": 1}), "400 key_invalid").await;
    assert_eq!(said["limit"], 1024);
    let all = ask(&world, "GET", "/v1/kv", Value::Null, "200").await;
    assert_eq!(all["values"], json!([]));
}
