//! Every route × every caller: deny by default.
use crate::common::{Answer, World};
use axum::body::Body;
use axum::http::{Method, Request};
use semel_server::{Access, ROUTES, Route, Settings, tokens};
use semel_store::Change;
use semel_store::access::{Role, Scope, Scopes};
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

/// Every route with each of its methods, and one that it does not have.
fn every_method() -> impl Iterator<Item = (Route, &'static str)> {
    ROUTES.iter().flat_map(|route| {
        let own = route.methods.iter().map(|(method, _)| *method);
        let other = ["patch", "connect"];
        let other = other.into_iter().find(|it| route.access(it).is_none());
        own.chain(other).map(|method| (*route, method))
    })
}

fn a_path(route: &Route) -> String {
    route.path.replace(['{', '}'], "")
}

#[tokio::test]
async fn every_route_and_every_role() {
    let world = World::new().await;
    for role in Role::ALL {
        let scopes: Vec<&str> = role.scopes().iter().map(Scope::name).collect();
        let asked = json!({"name": role.name(), "scopes": scopes});
        let made = world.call("POST", "/v1/tokens", asked).await.json();
        let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
        for (route, method) in every_method() {
            let answer = ask(&world, method, &a_path(&route), Some(&bearer)).await;
            let at = format!("{} {method} {}: {}", role.name(), route.path, answer.text());
            assert_ne!(answer.status, 401, "{at}");
            let needed = match route.access(method) {
                Some(Access::Needs(scopes)) => scopes,
                Some(Access::Local) => Scopes::of(&[Scope::Read]),
                _ => {
                    assert_ne!(answer.gist(), "403 forbidden", "{at}");
                    continue;
                }
            };
            let allowed = needed.iter().any(|scope| role.scopes().has(scope));
            assert_eq!(answer.gist() != "403 forbidden", allowed, "{at}");
            if !allowed {
                let named = answer.json()["scope"].as_str().unwrap().to_owned();
                assert_eq!(named, needed.text().replace(',', " or "), "{at}");
            }
        }
    }
}

#[test]
fn what_changes_something_needs_more_than_read() {
    let looks = ["/v1/check", "/v1/runs/{run}/plan", "/v1/picture"];
    for (route, method) in every_method() {
        if let Some(Access::Needs(scopes)) = route.access(method) {
            let looks = method == "get" || looks.contains(&route.path);
            assert!(looks || !scopes.has(Scope::Read), "{method} {}", route.path);
        }
    }
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
    for (route, method) in every_method() {
        let path = a_path(&route);
        let access = route.access(method);
        let open = route.methods.iter().any(|(_, it)| *it == Access::Open);
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
            if access.map_or(open, |access| access == Access::Open) {
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
        if access.is_none() {
            assert_eq!(answer.gist(), "405 method_not_allowed", "{path}");
            let allowed = answer.header("allow").to_lowercase();
            assert!(
                route.methods.iter().all(|(m, _)| allowed.contains(m)),
                "{allowed}"
            );
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
async fn tokens_have_scopes() {
    let world = World::new().await;
    let make = async |bearer: &str, body: serde_json::Value| {
        let request = Request::post("/v1/tokens")
            .header("authorization", format!("Bearer {bearer}"))
            .header("content-type", "application/json");
        let body = Body::from(body.to_string());
        world.send(request.body(body).unwrap()).await
    };
    for (scopes, gist) in [
        (json!(["read", "guard"]), "201"),
        (json!(["reed"]), "400 field_invalid"),
        (json!([]), "400 field_invalid"),
        (json!("read"), "400 field_invalid"),
    ] {
        let answer = make(&world.token, json!({"name": "n8n", "scopes": scopes})).await;
        assert_eq!(answer.gist(), gist, "{scopes}: {}", answer.text());
    }
    let all = make(&world.token, json!({"name": "all"})).await.json();
    assert_eq!(all["scopes"].as_array().unwrap().len(), Scope::ALL.len());
    // Whoever may make tokens gives no more than they have.
    let some = json!({"name": "some", "scopes": ["read", "admin"]});
    let some = make(&world.token, some).await.json();
    let some = some["token"].as_str().unwrap();
    let refused = make(some, json!({"name": "more", "scopes": ["read", "deploy"]})).await;
    assert_eq!(refused.gist(), "403 forbidden");
    assert_eq!(refused.json()["scope"], "deploy");
    let like = make(some, json!({"name": "like"})).await.json();
    assert_eq!(like["scopes"], json!(["read", "admin"]));
    let listed = world.call("GET", "/v1/tokens", "").await.json();
    let of = |name: &str| {
        let mut all = listed["tokens"].as_array().unwrap().iter();
        all.find(|token| token["name"] == name).unwrap()["scopes"].clone()
    };
    assert_eq!(of("n8n"), json!(["read", "guard"]));
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
