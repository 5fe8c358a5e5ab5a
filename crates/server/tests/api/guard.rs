//! The life of a guarded effect, over the API.
use crate::common::World;
use axum::http::StatusCode;
use serde_json::json;

const PATH: &str = "/v1/guard/invoice/order-1";

#[tokio::test]
async fn claim_act_settle_and_every_repeat_gets_the_first_result() {
    let world = World::new().await;
    let answer = world.call("POST", PATH, "").await;
    assert_eq!(answer.status, StatusCode::CREATED);
    let granted = answer.json();
    assert_eq!(granted["verdict"], "granted");
    assert_eq!(granted["attempt"], 1);
    assert_eq!(granted["lease_until"], "2026-01-01T00:01:00.000Z");

    let settle = format!(
        r#"{{"token":{},"outcome":"done","result":{{"id": "in_1", "exact":9007199254740993}},"external_id":"in_1"}}"#,
        granted["token"]
    );
    let answer = world.call("PUT", PATH, &settle).await;
    assert_eq!(
        answer.json(),
        json!({"verdict":"settled","state":"done","again":false})
    );
    let again = world.call("PUT", PATH, &settle).await;
    assert_eq!(again.json()["again"], true);

    let repeat = world.call("POST", PATH, "").await;
    assert_eq!(repeat.status, StatusCode::OK);
    let done = repeat.json();
    assert_eq!(done["verdict"], "done");
    assert!(
        repeat
            .text()
            .contains(r#""result":{"id": "in_1", "exact":9007199254740993}"#),
        "verbatim: {}",
        repeat.text()
    );
    assert_eq!(done["first"]["external_id"], "in_1");
    assert_eq!(done["first"]["owner"], "tests");
    assert!(done["receipt"].as_str().unwrap().starts_with("rcp_"));
}

#[tokio::test]
async fn somebody_at_it_is_busy_with_the_time_left() {
    let world = World::new().await;
    world
        .granted(PATH, json!({"lease":"5m","owner":"worker 7"}))
        .await;
    let busy = world.call("POST", PATH, "").await;
    assert_eq!(busy.gist(), "409 busy");
    assert_eq!(busy.header("retry-after"), "60", "capped");
    let problem = busy.json();
    assert_eq!(problem["verdict"], "busy");
    assert_eq!(problem["owner"], "worker 7");
    assert_eq!(problem["lease_until"], "2026-01-01T00:05:00.000Z");
    world.pass("4m58s500ms");
    let busy = world.call("POST", PATH, "").await;
    assert_eq!(busy.header("retry-after"), "2", "rounded up");
}

#[tokio::test]
async fn a_lease_that_ran_out_means_decide_and_never_run_again() {
    let world = World::new().await;
    let token = world.granted(PATH, json!({"lease":"1s"})).await;
    world.pass("2s");
    let unknown = world.call("POST", PATH, "").await;
    assert_eq!(unknown.gist(), "409 unknown");
    let problem = unknown.json();
    assert_eq!(problem["state"], "review");
    let decide = problem["decide"]["path"].as_str().unwrap();
    assert_eq!(decide, "/v1/ledger/invoice/order-1/decide");
    assert_eq!(
        problem["decide"]["command"],
        "semel ledger decide --attempt 1 --decision DECISION -- invoice order-1"
    );
    let choices = json!(["happened", "resend", "failed"]);
    assert_eq!(problem["decide"]["choices"], choices);

    let late = json!({"token":token,"outcome":"done"});
    let stale = world.call("PUT", PATH, &late).await;
    assert_eq!(stale.gist(), "409 stale_token");
    assert_eq!(stale.json()["state"], "review");
    assert_eq!(stale.json()["decide"]["path"], decide);

    let say = json!({"decision":"happened","result":{"id":"in_9"},"note":"seen","by":"ada"});
    let decided = world.call("POST", decide, &say).await;
    assert_eq!(decided.status, StatusCode::OK, "{}", decided.text());
    let effect = decided.json();
    assert_eq!(effect["state"], "done");
    assert_eq!(effect["decisions"][0]["by"], "ada (token tests)");
    assert_eq!(effect["decisions"][0]["note"], "seen");
    assert_eq!(effect["decisions"][0]["attempt"], 1);
    let again = world.call("POST", decide, &say).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(again.json()["decisions"].as_array().unwrap().len(), 1);
    let other = world
        .call("POST", decide, json!({"decision":"failed"}))
        .await;
    assert_eq!(other.gist(), "409 not_open");
    assert_eq!(other.json()["state"], "done");
    let done = world.call("POST", PATH, "").await;
    assert_eq!(done.json()["result"], json!({"id":"in_9"}));
}

#[tokio::test]
async fn resend_frees_the_key_for_one_more_attempt() {
    let world = World::new().await;
    let token = world.granted(PATH, "").await;
    let lost = json!({"token":token,"outcome":"unknown","reason":"timeout"});
    assert_eq!(
        world.call("PUT", PATH, &lost).await.json()["state"],
        "unknown"
    );
    let decide = "/v1/ledger/invoice/order-1/decide";
    let late = json!({"decision":"resend","attempt":2});
    assert_eq!(
        world.call("POST", decide, late).await.gist(),
        "409 not_open"
    );
    world
        .call("POST", decide, json!({"decision":"resend","attempt":1}))
        .await;
    let answer = world.call("POST", PATH, "").await;
    assert_eq!(answer.json()["attempt"], 2);
    let effect = world
        .call("GET", "/v1/ledger/invoice/order-1", "")
        .await
        .json();
    let states: Vec<_> = effect["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| &a["state"])
        .collect();
    assert_eq!(states, ["released", "claimed"]);
    let causes: Vec<_> = effect["life"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| &a["cause"])
        .collect();
    assert_eq!(causes, ["answer_lost", "decided_resend", "claimed_again"]);
}

#[tokio::test]
async fn rules_for_unknown_are_the_callers() {
    let world = World::new().await;
    for (rule, expected) in [("retry", "201"), ("skip", "200"), ("ask", "409 unknown")] {
        let path = format!("/v1/guard/rules/{rule}");
        world
            .granted(&path, json!({"lease":"1s","on_unknown":rule}))
            .await;
        world.pass("1s");
        assert_eq!(
            world.call("POST", &path, "").await.gist(),
            expected,
            "{rule}"
        );
    }
}

#[tokio::test]
async fn heartbeats_extend_and_only_for_the_holder() {
    let world = World::new().await;
    let beat = format!("{PATH}/heartbeat");
    assert_eq!(
        world
            .call("POST", &beat, json!({"token":"0".repeat(32)}))
            .await
            .gist(),
        "404 effect_missing"
    );
    let token = world.granted(PATH, "").await;
    world.pass("50s");
    let answer = world
        .call("POST", &beat, json!({"token":token,"lease":"2m"}))
        .await;
    assert_eq!(
        answer.json(),
        json!({"verdict":"extended","lease_until":"2026-01-01T00:02:50.000Z"})
    );
    let stranger = json!({"token":"f".repeat(32)});
    assert_eq!(
        world.call("POST", &beat, stranger).await.gist(),
        "409 stale_token"
    );
}

#[tokio::test]
async fn word_of_a_dead_process_makes_its_claim_unknown_at_once() {
    let world = World::new().await;
    let abandon = format!("{PATH}/abandon");
    let process = json!({"machine":"ab".repeat(16),"pid":42,"started":7});
    let other = json!({"machine":"ab".repeat(16),"pid":42,"started":8});
    let say = |process: &serde_json::Value| json!({ "process": process });
    assert_eq!(
        world.call("POST", &abandon, say(&process)).await.gist(),
        "404 effect_missing"
    );
    world
        .granted(PATH, json!({"process":process,"lease":"1h"}))
        .await;
    let busy = world.call("POST", PATH, "").await;
    assert_eq!(busy.json()["process"], process);
    assert_eq!(
        world.call("POST", &abandon, say(&other)).await.gist(),
        "409 not_abandoned"
    );
    let said = world.call("POST", &abandon, say(&process)).await;
    assert_eq!(
        said.json(),
        json!({"verdict":"abandoned","state":"unknown"})
    );
    assert_eq!(
        world.call("POST", &abandon, say(&process)).await.gist(),
        "409 not_abandoned"
    );
    assert_eq!(world.call("POST", PATH, "").await.gist(), "409 unknown");
}
