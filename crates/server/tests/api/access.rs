//! Every route × every caller: deny by default.
use crate::common::{Answer, World};
use axum::body::Body;
use axum::http::{Method, Request};
use semel_server::{Access, ROUTES, Settings, tokens};
use semel_store::Change;
use semel_store::token::TokenChange;
use serde_json::json;

async fn ask(world: &World, method: &str, path: &str, authorization: Option<&str>) -> Answer {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
    let mut request = Request::builder().method(method).uri(path);
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    world.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn every_route_and_every_caller() {
    let world = World::new().await;
    let (clear, revoked) = tokens::issue(&world.store, "revoked").await.unwrap();
    let (id, good) = (revoked.id, format!("Bearer {}", world.token));
    let change = Change::Token(TokenChange::Revoke { id });
    world.store.commit(vec![change]).await.unwrap();
    let (revoked, wrong) = (
        format!("Bearer {clear}"),
        format!("Bearer smt_{}", "0".repeat(64)),
    );
    let basic = format!("Basic {}", world.token);
    let bare = world.token.clone();
    for route in ROUTES {
        let path = route.path.replace(['{', '}'], "");
        for method in route.methods.iter().chain(&["patch"]) {
            let mut texts = Vec::new();
            for value in [
                None,
                Some(""),
                Some("Bearer "),
                Some(&wrong),
                Some(&revoked),
                Some(&basic),
                Some(&bare),
            ] {
                let answer = ask(&world, method, &path, value).await;
                let at = format!("{method} {path} {value:?}");
                if route.access == Access::Open {
                    assert_ne!(answer.status, 401, "{at}");
                    continue;
                }
                assert_eq!(answer.gist(), "401 unauthorized", "{at}");
                assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"semel\"");
                texts.push(answer.bytes);
            }
            texts.dedup();
            assert!(texts.len() <= 1, "the reason must not be told");
            let answer = ask(&world, method, &path, Some(&good)).await;
            assert_ne!(answer.status, 401, "{method} {path}");
            if *method == "patch" {
                assert_eq!(answer.gist(), "405 method_not_allowed", "{path}");
                let allowed = answer.header("allow").to_lowercase();
                assert!(
                    route.methods.iter().all(|m| allowed.contains(m)),
                    "{allowed}"
                );
            }
        }
    }
    assert_eq!(
        ask(&world, "get", "/v1/nothing", None).await.gist(),
        "401 unauthorized"
    );
    assert_eq!(
        ask(&world, "get", "/v1/nothing", Some(&good)).await.gist(),
        "404 not_found"
    );
    assert_eq!(
        ask(&world, "get", "/nothing", None).await.gist(),
        "404 not_found"
    );
}

#[tokio::test]
async fn tokens_are_made_shown_once_and_revoked() {
    let world = World::new().await;
    let made = world
        .call("POST", "/v1/tokens", json!({"name":"n8n"}))
        .await;
    assert_eq!(made.gist(), "201");
    let made = made.json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    assert_eq!(
        ask(&world, "get", "/v1/ledger", Some(&bearer)).await.gist(),
        "200"
    );
    let listed = world.call("GET", "/v1/tokens", "").await;
    assert!(!listed.text().contains("smt_"), "never shown again");
    let path = format!("/v1/tokens/{}", made["id"].as_str().unwrap());
    for _ in 0..2 {
        let revoked = world.call("DELETE", &path, "").await;
        assert_eq!(revoked.gist(), "200");
        assert!(revoked.json()["revoked_at"].is_string());
    }
    assert_eq!(
        ask(&world, "get", "/v1/ledger", Some(&bearer)).await.gist(),
        "401 unauthorized"
    );
}

#[tokio::test]
async fn a_token_made_by_another_node_is_found() {
    let world = World::new().await;
    let (clear, _) = tokens::issue(&world.store, "elsewhere").await.unwrap();
    let bearer = format!("bearer {clear}");
    assert_eq!(
        ask(&world, "get", "/v1/ledger", Some(&bearer)).await.gist(),
        "200"
    );
}

#[tokio::test]
async fn the_own_process_needs_no_token() {
    let world = World::with(Settings {
        trusted: true,
        ..Settings::default()
    })
    .await;
    assert_eq!(
        ask(&world, "post", "/v1/guard/s/k", None).await.gist(),
        "201"
    );
}
