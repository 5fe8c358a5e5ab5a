//! A flow that asks for leave, from its start to what the destination sees.

use axum::body::Body;
use axum::http::Request;
use semel_store::run::RunState;
use serde_json::{Value, json};

use crate::gates::{Gates, on_each_store};
use crate::inbox::ids;
use crate::inbox_page::{is_a_page, look, submit};
use crate::openapi::fits;
use crate::working::run_of;

on_each_store![
    a_yes_lets_the_run_go_on,
    a_no_ends_it,
    silence_is_an_answer_too,
];

const REFUND: &str = "\
name: refund
on: manual
key: refund/${{ event.order }}
steps:
  - id: tell
    http: {get: \"https://sink.example/tell?link=${{ approvals.agreed.ann }}\"}
  - id: agreed
    approve:
      by: [ann, bob]
      ask: Refund ${{ event.amount }}?
      show: {order: \"${{ event.order }}\", amount: \"${{ event.amount }}\"}
      timeout: 48h
      on_timeout: reject
  - id: pay
    http: {post: https://sink.example/pay}
";

/// Starts a run in somebody's name, and waits until it asks. Gives the run and what is asked.
async fn asked(world: &Gates, who: &str, order: &str) -> (String, Value) {
    let mut moves = world.app.engine().follow();
    let path = "/v1/flows/refund/runs";
    let token = world.token_of(who);
    let request = Request::post(path)
        .header("authorization", format!("Bearer {token}"))
        .header("idempotency-key", order)
        .header("content-type", "application/json");
    let event = json!({"order": order, "amount": 500}).to_string();
    let answer = world.send(request.body(Body::from(event)).unwrap()).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let run = run_of(&answer);
    loop {
        let listed = world
            .call("GET", "/v1/inbox?flow=refund&step=agreed", "")
            .await;
        fits("/v1/inbox", "get", &listed);
        let items = listed.json()["items"].as_array().unwrap().clone();
        if let Some(item) = items.iter().find(|item| item["run"] == run) {
            return (run, item.clone());
        }
        moves.recv().await.unwrap();
    }
}

async fn decided(world: &Gates, who: &str, item: &Value, decision: &str) -> String {
    let path = format!("/v1/inbox/{}/decide", item["id"].as_str().unwrap());
    let body = json!({"decision": decision, "hash": item["hash"], "note": "as agreed"});
    let answer = world.say(who, "POST", &path, body).await;
    fits("/v1/inbox/{id}/decide", "post", &answer);
    answer.gist()
}

fn paid(world: &Gates) -> usize {
    let seen = world.sink.seen();
    seen.iter().filter(|url| url.ends_with("/pay")).count()
}

async fn a_yes_lets_the_run_go_on(world: Gates) {
    let _waking = world.waking();
    world.deploy(REFUND).await;
    let (run, item) = asked(&world, "bob", "1").await;
    assert_eq!(item["what"], "Refund 500?");
    assert_eq!(item["maker"], "bob");
    let shown = world.item(item["id"].as_str().unwrap()).await;
    assert_eq!(
        shown["show"],
        json!({"order": "1", "amount": 500}),
        "{shown}"
    );
    assert_eq!(shown["may"], json!(["ann"]));
    assert_eq!(
        decided(&world, "bob", &item, "approve").await,
        "403 not_allowed"
    );
    assert_eq!(
        decided(&world, "mallory", &item, "approve").await,
        "403 not_allowed"
    );
    // The link that the flow itself handed out.
    let told = world
        .sink
        .seen()
        .into_iter()
        .find(|url| url.contains("link="));
    let told = told.unwrap();
    let (_, token) = told.rsplit_once("approve").unwrap();
    let token = token.trim_start_matches("%2F").trim_start_matches('/');
    let path = format!("/approve/{token}");
    for _ in 0..10 {
        let page = look(&world, "GET", &path, &[]).await;
        assert_eq!(page.status, 200, "{}", page.text());
        is_a_page(&page);
        assert!(page.text().contains("Refund 500?"));
    }
    assert_eq!(paid(&world), 0);
    let hash = item["hash"].as_str().unwrap();
    let form = [("decision", "approve"), ("note", "fine"), ("hash", hash)];
    let page = submit(&world, &path, &form).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(world.settled_for_good(&run).await, RunState::Done);
    assert_eq!(paid(&world), 1);
    let it = world
        .call("GET", &format!("/v1/runs/{run}"), "")
        .await
        .json();
    let result = json!({"approved": true, "by": ["ann"], "note": "fine"});
    assert_eq!(it["steps"][1]["result"], result, "{it}");
    assert!(
        submit(&world, &path, &form)
            .await
            .text()
            .contains("recorded already")
    );
    assert_eq!(
        decided(&world, "ann", &item, "reject").await,
        "409 decided_otherwise"
    );
    assert_eq!(paid(&world), 1);
}

async fn a_no_ends_it(world: Gates) {
    let _waking = world.waking();
    world.deploy(REFUND).await;
    let (run, item) = asked(&world, "mallory", "1").await;
    assert_eq!(decided(&world, "ann", &item, "reject").await, "200");
    assert_eq!(world.settled_for_good(&run).await, RunState::Failed);
    assert_eq!(paid(&world), 0);
    assert_eq!(
        decided(&world, "bob", &item, "approve").await,
        "409 decided_otherwise"
    );
    assert_eq!(ids(&world, "").await, [""; 0]);
}

async fn silence_is_an_answer_too(world: Gates) {
    let _waking = world.waking();
    world.deploy(REFUND).await;
    let (run, item) = asked(&world, "mallory", "1").await;
    world.pass("48h");
    world.app.engine().look();
    assert_eq!(world.settled_for_good(&run).await, RunState::Failed);
    assert_eq!(
        decided(&world, "ann", &item, "approve").await,
        "410 item_over"
    );
    assert_eq!(paid(&world), 0);
}
