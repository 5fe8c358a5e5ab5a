//! Secrets over the API: set, listed without values, removed, sealed again; in force at once.

use std::os::unix::fs::PermissionsExt as _;

use semel_server::Settings;
use serde_json::{Value, json};

use crate::common::{Answer, World};
use crate::openapi::fits;

const VALUE: &str = "a-value-that-nobody-sees";

/// Asks, holds the answer against the description, and looks that no value is in it.
async fn ask(world: &World, method: &str, path: &str, body: Value, gist: &str) -> Answer {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let answer = world.call(method, path, body).await;
    let text = answer.text();
    assert_eq!(answer.gist(), gist, "{method} {path}: {text}");
    let route = match path {
        "/v1/secrets" | "/v1/secrets/rotate" => path,
        _ => "/v1/secrets/{name}",
    };
    fits(route, &method.to_lowercase(), &answer);
    assert!(!text.contains(VALUE), "{text}");
    answer
}

async fn set(world: &World, name: &str, value: &str) -> Value {
    let path = format!("/v1/secrets/{name}");
    let answer = ask(world, "PUT", &path, json!({ "value": value }), "200").await;
    answer.json()
}

async fn listed(world: &World) -> Vec<Value> {
    let answer = ask(world, "GET", "/v1/secrets", Value::Null, "200").await;
    answer.json()["secrets"].as_array().unwrap().clone()
}

#[tokio::test]
async fn secrets_are_set_listed_and_removed() {
    let world = World::new().await;
    let none = "404 secret_missing";
    ask(&world, "DELETE", "/v1/secrets/A", Value::Null, none).await;
    assert_eq!(listed(&world).await, [] as [Value; 0]);
    let made = set(&world, "B", VALUE).await;
    assert_eq!(made["warnings"], json!([]));
    set(&world, "A", VALUE).await;
    let all = listed(&world).await;
    assert_eq!(all.len(), 2);
    assert_eq!(
        (&all[0]["name"], &all[0]["by"]),
        (&json!("A"), &json!("tests"))
    );
    assert_eq!(all[0]["source"], "sealed");
    assert!(all[0]["changed_at"].is_string());
    let gone = ask(&world, "DELETE", "/v1/secrets/A", Value::Null, "200").await;
    assert_eq!(gone.json()["source"], Value::Null);
    ask(&world, "DELETE", "/v1/secrets/A", Value::Null, none).await;
}

#[tokio::test]
async fn what_the_environment_has_counts_and_is_shown() {
    let world = World::new().await;
    world.environment.put("A", "of the environment");
    world.environment.put("B", "of the environment");
    let made = set(&world, "A", VALUE).await;
    assert_eq!(made["source"], "environment");
    let warning = made["warnings"][0].as_str().unwrap();
    assert!(warning.contains("SEMEL_SECRET_A"), "{warning}");
    let all = listed(&world).await;
    let shown = |nth: usize| (all[nth]["name"].clone(), all[nth]["sealed"].clone());
    assert_eq!(shown(0), (json!("A"), json!(true)));
    assert_eq!(shown(1), (json!("B"), json!(false)));
    let gone = ask(&world, "DELETE", "/v1/secrets/A", Value::Null, "200").await;
    assert_eq!(gone.json()["source"], "environment");
    let of_both = "404 secret_missing";
    ask(&world, "DELETE", "/v1/secrets/B", Value::Null, of_both).await;
}

#[tokio::test]
async fn what_cannot_be_a_secret_is_refused_without_being_repeated() {
    let world = World::new().await;
    let long = "x".repeat(16 * 1024 + 1);
    for (path, body, gist) in [
        ("/v1/secrets/A", Value::Null, "400 body_missing"),
        ("/v1/secrets/A", json!({}), "400 field_missing"),
        ("/v1/secrets/A", json!({"value": 7}), "400 field_invalid"),
        (
            "/v1/secrets/A",
            json!({"value": " \n"}),
            "400 field_invalid",
        ),
        ("/v1/secrets/A", json!({"value": long}), "400 field_invalid"),
        (
            "/v1/secrets/A",
            json!({"value": VALUE, "x": 1}),
            "400 field_unknown",
        ),
        (
            "/v1/secrets/a-b",
            json!({"value": VALUE}),
            "400 field_invalid",
        ),
        (
            "/v1/secrets/1a",
            json!({"value": VALUE}),
            "400 field_invalid",
        ),
        (
            "/v1/secrets/%C3%B6",
            json!({"value": VALUE}),
            "400 field_invalid",
        ),
        (
            "/v1/secrets/A?x=1",
            json!({"value": VALUE}),
            "400 parameter_unknown",
        ),
    ] {
        ask(&world, "PUT", path, body, gist).await;
    }
    assert_eq!(listed(&world).await, [] as [Value; 0]);
    for (value, word) in [
        ("abc", "history"),
        ("abcd", "by chance"),
        ("abcdefg", "by chance"),
    ] {
        let made = set(&world, "A", value).await;
        let warning = made["warnings"][0].as_str().unwrap();
        assert!(warning.contains(word), "{value}: {warning}");
    }
    assert_eq!(set(&world, "A", "abcdefgh").await["warnings"], json!([]));
}

/// The name is the path of another request.
#[tokio::test]
async fn no_secret_is_called_rotate() {
    let world = World::new().await;
    let path = "/v1/secrets/rotate";
    for method in ["PUT", "DELETE"] {
        let answer = world.call(method, path, json!({ "value": VALUE })).await;
        assert_eq!(answer.status.as_u16(), 405, "{method}: {}", answer.text());
    }
    let listed = world.call("GET", "/v1/secrets", "").await.json();
    assert_eq!(listed["secrets"], json!([]));
}

#[tokio::test]
async fn a_rotation_needs_a_key_to_change_to() {
    let world = World::new().await;
    set(&world, "A", VALUE).await;
    let path = "/v1/secrets/rotate";
    ask(&world, "POST", path, Value::Null, "409 rotation_refused").await;

    let directory = tempfile::tempdir().unwrap();
    let own = World::with(Settings {
        data: Some(directory.path().to_owned()),
        ..Settings::default()
    });
    let own = own.await;
    set(&own, "A", VALUE).await;
    let file = directory.path().join("secrets.key");
    let before = std::fs::read_to_string(&file).unwrap();
    let rotated = ask(&own, "POST", path, Value::Null, "200").await;
    assert_eq!(rotated.json()["resealed"], 1);
    let after = std::fs::read_to_string(&file).unwrap();
    assert_ne!(after, before);
    assert!(!rotated.text().contains(after.trim()));

    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&file, open).unwrap();
    let refused = "503 secrets_key";
    ask(&own, "POST", path, Value::Null, refused).await;
    let body = json!({ "value": VALUE });
    let told = ask(&own, "PUT", "/v1/secrets/B", body, refused).await;
    assert!(told.text().contains("chmod 600"), "{}", told.text());
    assert_eq!(listed(&own).await.len(), 1);
}

/// The very next request is recognised by the new secret, and no longer by the old one.
#[tokio::test]
async fn a_secret_is_in_force_when_it_is_answered() {
    let world = World::new().await;
    let flow = "name: f\non: {webhook: {path: /hooks/f, verify: bearer, secret: '${{ secrets.HOOK }}', filter: 'false'}}\n\
                key: f/${{ event.id }}\nsteps: [{id: s, stop: no}]\n";
    let deployed = world
        .call("POST", "/v1/flows", json!({ "source": flow }))
        .await;
    assert_eq!(deployed.gist(), "200", "{}", deployed.text());
    let knock = async |bearer: &str| {
        let request = axum::http::Request::post("/hooks/f")
            .header("authorization", format!("Bearer {bearer}"))
            .header("content-type", "application/json");
        let body = axum::body::Body::from(r#"{"id":1}"#);
        world.send(request.body(body).unwrap()).await.gist()
    };
    assert_eq!(knock("first-value").await, "503 hook_not_ready");
    set(&world, "HOOK", "first-value").await;
    assert_eq!(knock("first-value").await, "200");
    set(&world, "HOOK", "second-value").await;
    assert_eq!(knock("first-value").await, "401 signature_refused");
    assert_eq!(knock("second-value").await, "200");
    ask(&world, "DELETE", "/v1/secrets/HOOK", Value::Null, "200").await;
    assert_eq!(knock("second-value").await, "503 hook_not_ready");
}
