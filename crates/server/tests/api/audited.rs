//! The audit log over the API: who did what to what.

use serde_json::{Value, json};

use crate::browser::{Browser, PASSWORD};
use crate::common::World;
use crate::gates::{Asking, Gates};
use crate::openapi::fits;

/// Each entry as `who via action target note status`, oldest first.
async fn log(world: &World, query: &str) -> Vec<String> {
    let answer = world.call("GET", &format!("/v1/audit{query}"), "").await;
    fits("/v1/audit", "get", &answer);
    let entries = answer.json()["entries"].as_array().unwrap().clone();
    let line = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
        let parts = ["who", "via", "action", "target", "note"].map(text);
        format!("{} {}", parts.join("|"), entry["status"])
    };
    entries.iter().rev().map(line).collect()
}

#[tokio::test]
async fn what_changes_something_is_written_down() {
    let world = World::new().await;
    let ada = Browser::of_new(&world, "ada", "admin").await;
    let token = json!({"name": "ci", "scopes": ["read"]});
    let made = ada.ask(&world, "POST", "/v1/tokens", token).await.json();
    let id = made["id"].as_str().unwrap();
    let path = format!("/v1/tokens/{id}");
    ada.ask(&world, "DELETE", &path, Value::Null).await;
    ada.ask(&world, "DELETE", "/v1/tokens/none", Value::Null)
        .await;
    ada.ask(
        &world,
        "POST",
        "/v1/once/mail/order%2F1?part=b",
        Value::Null,
    )
    .await;
    // What machines do all the time is not; nor is looking, nor what was refused at the gate.
    world.call("POST", "/v1/once/mail/2", "").await;
    world.call("GET", "/v1/runs", "").await;
    world
        .call("POST", "/v1/check", json!({"source": "name: f"}))
        .await;
    let eve = Browser::of_new(&world, "eve", "viewer").await;
    eve.ask(&world, "POST", "/v1/tokens", json!({"name": "x"}))
        .await;
    eve.ask(&world, "DELETE", "/v1/session", Value::Null).await;
    let lines = log(&world, "").await;
    assert_eq!(
        lines,
        [
            "tests|token|POST /v1/people|ada|admin 201".to_owned(),
            "ada|person|POST /v1/session||- 201".to_owned(),
            format!("ada|person|POST /v1/tokens|{id} ci|read 201"),
            format!("ada|person|DELETE /v1/tokens/{{id}}|{id}|- 200"),
            "ada|person|DELETE /v1/tokens/{id}|none|- 404".to_owned(),
            "ada|person|POST /v1/once/{scope}/{key}|mail/order/1/b|- 200".to_owned(),
            "tests|token|POST /v1/people|eve|viewer 201".to_owned(),
            "eve|person|POST /v1/session||- 201".to_owned(),
            "eve|person|DELETE /v1/session||- 200".to_owned(),
        ]
    );
    assert_eq!(log(&world, "?who=eve").await, lines[7..]);
    assert_eq!(log(&world, "?limit=1").await, lines[8..]);
    assert!(log(&world, "?until=2026-01-01T00:00:00Z").await.is_empty());
    assert_eq!(log(&world, "?since=2026-01-01T00:00:00Z").await.len(), 9);
    let page = world.call("GET", "/v1/audit?limit=8", "").await.json();
    let next = page["next"].as_str().unwrap();
    let rest = log(&world, &format!("?before={next}")).await;
    assert_eq!(rest, lines[..1]);
    let whole = world.call("GET", "/v1/audit", "").await;
    assert!(!whole.text().contains(PASSWORD) && !whole.text().contains("smt_"));
}

crate::gates::on_each_store![people_decide_as_themselves,];

async fn people_decide_as_themselves(world: Gates) {
    let origin = "https://semel.example";
    let people = [("dan", "approver"), ("fay", "operator"), ("gus", "admin")];
    for (name, role) in people {
        let account = json!({"name": name, "role": role, "password": PASSWORD});
        world.call("POST", "/v1/people", account).await;
    }
    let asking = Asking {
        by: vec!["dan", "gus", "fay"],
        maker: Some("gus"),
        ..Asking::default()
    };
    let it = world.asks("1", &asking).await;
    let decide = json!({"decision": "approve", "hash": it.hash, "by": "ann"});
    let (dan, fay, gus) = (
        Browser::at(&world, "dan", origin).await,
        Browser::at(&world, "fay", origin).await,
        Browser::at(&world, "gus", origin).await,
    );
    let path = format!("/v1/inbox/{}/decide", it.id);
    let lost = world.lost("2").await;
    let happened = json!({"decision": "happened"});
    let of_lost = format!("/v1/inbox/{}/decide", lost.id);
    for (browser, path, body, gist) in [
        (&fay, &path, &decide, "403 forbidden"),
        (&gus, &path, &decide, "403 not_allowed"),
        (&dan, &of_lost, &happened, "403 forbidden"),
        (&dan, &path, &decide, "200"),
        (&fay, &of_lost, &happened, "200"),
    ] {
        let answer = browser.ask(&world, "POST", path, body.clone()).await;
        assert_eq!(answer.gist(), gist, "{path} {body}: {}", answer.text());
    }
    let shown = world.item(&it.id).await;
    assert_eq!(shown["decided"]["by"], "dan", "{shown}");
    // A link lets one decide in another's name.
    let again = world.asks("3", &asking).await;
    let path = format!("/v1/inbox/{}/link", again.id);
    for (browser, whom, gist) in [
        (&dan, "dan", "200"),
        (&dan, "fay", "403 forbidden"),
        (&gus, "fay", "200"),
        (&fay, "fay", "403 forbidden"),
    ] {
        let answer = browser
            .ask(&world, "POST", &path, json!({"for": whom}))
            .await;
        assert_eq!(answer.gist(), gist, "{whom}: {}", answer.text());
    }
}
