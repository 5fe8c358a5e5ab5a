//! Runs as people see them: lists, timelines, ending, resuming.

use semel_store::run::RunState;
use serde_json::{Value, json};

use crate::common::World;
use crate::outside::Mood;
use crate::working::{Working, run_of};

pub(crate) const ORDER: &str = "\
name: order
on:
  webhook: {path: /hooks/order, verify: none}
key: order/${{ event.id }}
steps:
  - {id: sum, set: {total: \"${{ event.amount * 2 }}\"}}
  - id: pay
    http: {post: https://sink.example/pay, json: {total: \"${{ steps.sum.result.total }}\"}}
    retry: {max: 1}
  - id: tell
    http: {post: https://sink.example/tell}
    retry: {max: 1}
";

/// Sends an order and waits until its run is over or parked.
pub(crate) async fn ordered(world: &Working, id: &str) -> String {
    let order = json!({"id":id,"amount":21});
    let answer = world.hook("/hooks/order", &order).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let run = run_of(&answer);
    world.settled(&run).await;
    run
}

pub(crate) async fn shown(world: &World, run: &str) -> Value {
    let answer = world.call("GET", &format!("/v1/runs/{run}"), "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn whats(run: &Value) -> Vec<String> {
    let line = |entry: &Value| {
        let step = entry["step"].as_str().unwrap_or("-");
        format!("{} {step}", entry["what"].as_str().unwrap())
    };
    run["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect()
}

#[tokio::test]
async fn a_run_is_shown_with_its_event_steps_timeline_and_effects() {
    let world = Working::new().await;
    let release = world.deploy(ORDER).await;
    let run = ordered(&world, "a").await;
    for _ in 0..3 {
        world
            .hook("/hooks/order", json!({"id":"a","amount":21}))
            .await;
    }
    let pay = "/v1/once/order%2Fpay/order?part=a&part=pay";
    world.call("POST", pay, "").await;
    world.store.write_receipts().await.unwrap();
    let it = shown(&world, &run).await;
    assert_eq!(it["run"], run);
    assert_eq!(it["state"], "done");
    assert_eq!(it["key"], "order/a");
    assert_eq!(it["release"], release);
    assert_eq!(it["by"], "webhook");
    assert_eq!(it["from"], "none");
    assert_eq!(it["payload"], json!({"amount":21,"id":"a"}));
    assert_eq!(it["raw"], Value::Null, "the same as the payload");
    let steps: Vec<_> = it["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            (
                step["step"].clone(),
                step["phase"].clone(),
                step["result"].clone(),
            )
        })
        .collect();
    assert_eq!(
        steps,
        [
            (json!("sum"), json!("done"), json!({"total":42})),
            (json!("pay"), json!("done"), json!("made")),
            (json!("tell"), json!("done"), json!("made")),
        ]
    );
    assert_eq!(it["duplicates"], 3);
    let lines = whats(&it);
    assert_eq!(lines[0], "opened -");
    assert_eq!(lines.iter().filter(|line| *line == "blocked -").count(), 3);
    for line in [
        "blocked pay",
        "done sum",
        "claimed pay",
        "done pay",
        "done tell",
        "ended -",
    ] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
    }
    let effects = it["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 2);
    assert_eq!(effects[0]["scope"], "order/pay");
    assert_eq!(effects[0]["key"], "order/a/pay");
    assert_eq!(effects[0]["state"], "done");
    let event = run.replace("run_", "evt_");
    assert_eq!(shown(&world, &event).await["run"], run, "by its event");
    for name in ["run_00000000000000000000000000000000", "run_1", "x"] {
        let answer = world.call("GET", &format!("/v1/runs/{name}"), "").await;
        assert_eq!(answer.gist(), "404 run_missing", "{name}");
    }
}

#[tokio::test]
async fn what_was_received_is_kept_byte_for_byte() {
    let world = World::new().await;
    world.deploy(ORDER).await;
    let body = "{ \"id\": \"a\",\n  \"amount\": 1.0 }\n";
    let answer = world.hook("/hooks/order", body).await;
    let it = shown(&world, &run_of(&answer)).await;
    assert_eq!(it["raw"], body);
    assert_eq!(it["payload"], json!({"amount":1,"id":"a"}));
    let long = format!("{{ \"id\":\"b\", \"amount\":\"{}\" }}", "x".repeat(40_000));
    let answer = world.hook("/hooks/order", &long).await;
    let it = shown(&world, &run_of(&answer)).await;
    assert_eq!(it["raw"], Value::Null);
    assert_eq!(it["payload"], Value::Null);
    let blob = it["raw_blob"].as_str().unwrap();
    let blob = world.call("GET", &format!("/v1/blobs/{blob}"), "").await;
    assert_eq!(blob.text(), long);
    assert!(it["payload_blob"].is_string());
}

#[tokio::test]
async fn runs_are_listed_by_what_is_asked_for() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let mut runs = Vec::new();
    for id in ["a", "b", "c"] {
        runs.push(ordered(&world, id).await);
        world.pass("1m");
    }
    world.sink.feels(Mood::Refuses);
    runs.push(ordered(&world, "d").await);
    runs.reverse();
    let list = async |query: &str| {
        let answer = world.call("GET", &format!("/v1/runs{query}"), "").await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let page = answer.json();
        let rows = page["runs"].as_array().unwrap().clone();
        let names: Vec<String> = rows
            .iter()
            .map(|row| row["run"].as_str().unwrap().to_owned())
            .collect();
        (names, page["next"].clone())
    };
    assert_eq!(list("").await, (runs.clone(), Value::Null));
    assert_eq!(list("?state=failed").await.0, runs[..1]);
    assert_eq!(list("?state=failed,done&flow=order").await.0, runs);
    assert_eq!(list("?flow=other").await.0, [""; 0]);
    assert_eq!(list("?key=order/b").await.0, runs[2..3]);
    let since = "?since=2026-01-01T00:01:00Z&until=2026-01-01T00:03:00Z";
    assert_eq!(list(since).await.0, runs[1..3]);
    let (first, next) = list("?limit=3").await;
    assert_eq!(first, runs[..3]);
    let next = next.as_str().unwrap().to_owned();
    let rest = list(&format!("?limit=3&before={next}")).await;
    assert_eq!(rest, (runs[3..].to_vec(), Value::Null));
    assert_eq!(list(&format!("?parent={}", runs[0])).await.0, [""; 0]);
    for (query, gist) in [
        ("?state=odd", "400 parameter_invalid"),
        ("?before=odd", "400 parameter_invalid"),
        ("?since=yesterday", "400 parameter_invalid"),
        ("?limit=0", "400 parameter_invalid"),
        ("?flwo=x", "400 parameter_unknown"),
    ] {
        let answer = world.call("GET", &format!("/v1/runs{query}"), "").await;
        assert_eq!(answer.gist(), gist, "{query}");
    }
}

#[tokio::test]
async fn a_run_can_be_asked_to_end() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let run = world
        .held("/hooks/order", json!({"id":"a","amount":1}))
        .await;
    let path = format!("/v1/runs/{run}/cancel");
    let told = world.call("POST", &path, json!({"by":"ada"})).await;
    assert_eq!(told.status, 202, "{}", told.text());
    assert_eq!(told.json(), json!({"status":"cancelling","run":run}));
    world.sink.holds.send_replace(false);
    assert_eq!(world.settled(&run).await, RunState::Cancelled);
    assert_eq!(
        world.sink.seen(),
        ["https://sink.example/pay"],
        "no further"
    );
    let it = shown(&world, &run).await;
    let asked = it["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["what"] == "cancelled");
    let text = &asked.unwrap()["text"];
    assert_eq!(text, "ada (token tests) asked it to end");
    for verb in ["cancel", "resume"] {
        let path = format!("/v1/runs/{run}/{verb}");
        let again = world.call("POST", &path, "").await;
        assert_eq!(again.gist(), "409 run_over", "{verb}");
        assert_eq!(again.json()["state"], "cancelled");
        let path = format!("/v1/runs/run_00000000000000000000000000000000/{verb}");
        let none = world.call("POST", &path, "").await;
        assert_eq!(none.gist(), "404 run_missing");
    }
}

#[tokio::test]
async fn what_was_filed_for_a_person_goes_on_when_they_say_so() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let answer = world.hook("/hooks/order", json!({"amount":1})).await;
    let run = run_of(&answer);
    assert_eq!(world.settled(&run).await, RunState::Parked);
    assert!(world.sink.seen().is_empty());
    let path = format!("/v1/runs/{run}/resume");
    let told = world
        .call("POST", &path, json!({"note":"it is fine"}))
        .await;
    assert_eq!(told.status, 202, "{}", told.text());
    let mut moves = world.app.engine().follow();
    while world.runs().await[0].state == RunState::Parked {
        moves.recv().await.unwrap();
    }
    assert_eq!(world.settled(&run).await, RunState::Done);
    assert_eq!(world.sink.seen().len(), 2);
}

#[tokio::test]
async fn a_decision_lets_the_run_go_on_that_waited_for_it() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    world.sink.feels(Mood::Mute);
    let run = ordered(&world, "a").await;
    let it = shown(&world, &run).await;
    assert_eq!(it["state"], "parked", "{it}");
    world.store.write_receipts().await.unwrap();
    let it = shown(&world, &run).await;
    let others = |line: &String| line.starts_with("blocked");
    assert!(!whats(&it).iter().any(others), "its own second try");
    assert_eq!(it["steps"][1]["phase"], "parked");
    assert_eq!(it["effects"][0]["state"], "review");
    world.sink.feels(Mood::Does);
    let mut moves = world.app.engine().follow();
    let path = "/v1/ledger/order%2Fpay/order/decide?part=a&part=pay";
    let say = json!({"decision":"happened","result":"pay_1","by":"ada"});
    let decided = world.call("POST", path, &say).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    while world.runs().await[0].state.is_open() {
        moves.recv().await.unwrap();
    }
    let it = shown(&world, &run).await;
    assert_eq!(it["state"], "done", "{it}");
    assert_eq!(it["steps"][1]["result"], "pay_1");
    let urls = ["https://sink.example/pay", "https://sink.example/tell"];
    assert_eq!(world.sink.seen(), urls, "paid once");
    let again = world.call("POST", path, &say).await;
    assert_eq!(again.status, 200, "said again, nothing more happens");
}

#[tokio::test]
async fn a_decision_is_told_to_who_held_it_and_to_who_was_refused() {
    let world = World::new().await;
    world.deploy(ORDER).await;
    let mut runs = Vec::new();
    for id in ["a", "b", "c"] {
        let answer = world
            .hook("/hooks/order", json!({"id":id,"amount":1}))
            .await;
        runs.push(run_of(&answer));
    }
    let claim = json!({"lease":"1s","owner":runs[0]});
    world.granted("/v1/guard/s/k", &claim).await;
    world.pass("2s");
    let refused = json!({"owner":runs[1]});
    let unknown = world.call("POST", "/v1/guard/s/k", &refused).await;
    assert_eq!(unknown.gist(), "409 unknown");
    let mail = async |run: &str| {
        let id = semel_store::run::RunId::parse(run).unwrap();
        let loaded = world.store.load_run(id).await.unwrap().unwrap();
        loaded.mail.len()
    };
    let say = json!({"decision":"failed","note":"not there","by":"ada"});
    for _ in 0..2 {
        let decided = world.call("POST", "/v1/ledger/s/k/decide", &say).await;
        assert_eq!(decided.status, 200, "{}", decided.text());
        let told = [
            mail(&runs[0]).await,
            mail(&runs[1]).await,
            mail(&runs[2]).await,
        ];
        assert_eq!(told, [1, 1, 0], "once each");
    }
}
