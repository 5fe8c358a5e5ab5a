//! Doing a run again: only what was shown, and nothing that is done.

use serde_json::{Value, json};

use crate::outside::Mood;
use crate::runs::{ORDER, ordered, shown};
use crate::working::{Working, run_of};

async fn failed_order(world: &Working) -> String {
    world.deploy(ORDER).await;
    ordered(world, "a").await
}

async fn planned(world: &Working, run: &str, body: impl ToString) -> Value {
    let path = format!("/v1/runs/{run}/plan");
    let answer = world.call("POST", &path, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn whats(plan: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    plan["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (word(&step["step"]), word(&step["what"])))
        .collect()
}

fn pairs(expected: [(&str, &str); 3]) -> Vec<(String, String)> {
    expected
        .map(|(step, what)| (step.to_owned(), what.to_owned()))
        .to_vec()
}

#[tokio::test]
async fn only_what_is_not_done_is_done_again() {
    let world = Working::new().await;
    world.sink.then(&[Mood::Does, Mood::Refuses]);
    let run = failed_order(&world).await;
    assert_eq!(shown(&world, &run).await["state"], "failed");
    let plan = planned(&world, &run, "").await;
    let expected = pairs([("sum", "reuse"), ("pay", "reuse"), ("tell", "execute")]);
    assert_eq!(whats(&plan), expected);
    assert_eq!(plan["steps"][2]["effect"]["scope"], "order/tell");

    let path = format!("/v1/runs/{run}/rerun");
    let hash = json!({"plan_hash": plan["plan_hash"], "by": "ada"});
    let again = world.call("POST", &path, &hash).await;
    assert_eq!(again.status, 202, "{}", again.text());
    let second = run_of(&again);
    world.settled(&second).await;
    let it = shown(&world, &second).await;
    assert_eq!(it["state"], "done", "{it}");
    assert_eq!(it["again"], run);
    assert_eq!(it["by"], "rerun");
    assert_eq!(it["from"], "ada (token tests)");
    assert_eq!(it["steps"][1]["result"], "made", "taken over");
    let calls = ["pay", "tell", "tell"].map(|end| format!("https://sink.example/{end}"));
    assert_eq!(world.sink.seen(), calls);

    let now = world.call("POST", &path, &hash).await;
    assert_eq!(
        now.gist(),
        "409 plan_changed",
        "the second is done meanwhile"
    );
    let changed = pairs([("sum", "reuse"), ("pay", "reuse"), ("tell", "reuse")]);
    assert_eq!(whats(&now.json()["plan"]), changed);
    assert_eq!(world.sink.seen().len(), 3);
}

#[tokio::test]
async fn a_plan_is_carried_out_once() {
    let world = Working::new().await;
    world.sink.then(&[Mood::Does, Mood::Refuses, Mood::Refuses]);
    let run = failed_order(&world).await;
    let path = format!("/v1/runs/{run}/retry");
    let first = world.call("POST", &path, "").await;
    assert_eq!(first.status, 202, "{}", first.text());
    world.settled(&run_of(&first)).await;
    let second = world.call("POST", &path, "").await;
    assert_eq!(second.status, 200, "{}", second.text());
    assert_eq!(second.json()["status"], "duplicate");
    assert_eq!(run_of(&second), run_of(&first));
    assert_eq!(world.runs().await.len(), 2);
}

#[tokio::test]
async fn what_cannot_be_done_again_says_why() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let none = "/v1/runs/run_00000000000000000000000000000000";
    for verb in ["plan", "retry"] {
        let answer = world.call("POST", &format!("{none}/{verb}"), "").await;
        assert_eq!(answer.gist(), "404 run_missing", "{verb}");
    }
    let run = world
        .held("/hooks/order", json!({"id":"a","amount":1}))
        .await;
    let path = format!("/v1/runs/{run}/plan");
    let open = world.call("POST", &path, "").await;
    assert_eq!(open.gist(), "409 run_open");
    assert_eq!(open.json()["state"], "running");
    world.sink.holds.send_replace(false);
    world.settled(&run).await;
    let wrong = json!({"plan_hash":"0123456789abcdef"});
    let path = format!("/v1/runs/{run}/rerun");
    let changed = world.call("POST", &path, &wrong).await;
    assert_eq!(changed.gist(), "409 plan_changed");
    let bare = world.call("POST", &path, "{}").await;
    assert_eq!(bare.gist(), "400 field_missing");
    assert_eq!(world.runs().await.len(), 1, "nothing was started");
}

#[tokio::test]
async fn across_releases_a_changed_step_is_told_apart() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let run = ordered(&world, "a").await;
    let plan = planned(&world, &run, "").await;
    let all = pairs([("sum", "reuse"), ("pay", "reuse"), ("tell", "reuse")]);
    assert_eq!(whats(&plan), all);
    let changed = ORDER.replace("event.amount * 2", "event.amount * 3");
    let release = world.deploy(&changed).await;
    let live = planned(&world, &run, json!({"release":"live"})).await;
    assert_eq!(live["release"], release);
    assert_ne!(live["plan_hash"], plan["plan_hash"]);
    assert_eq!(live["steps"][0]["what"], "execute");
    let by_name = planned(&world, &run, json!({"release": &release[..12]})).await;
    assert_eq!(by_name["plan_hash"], live["plan_hash"]);
    let path = format!("/v1/runs/{run}/plan");
    let none = world
        .call("POST", &path, json!({"release":"rel_00000000"}))
        .await;
    assert_eq!(none.gist(), "404 release_missing");
}
