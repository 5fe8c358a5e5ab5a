//! Deploying, going back, taking out of service.

use axum::http::StatusCode;
use semel_store::run::RunState;
use serde_json::json;

use crate::common::World;
use crate::working::{Working, run_of};

fn flow(name: &str, step: &str) -> String {
    format!(
        "\
name: {name}
on:
  webhook: {{path: /hooks/{name}, verify: none}}
key: k/${{{{ event.id }}}}
steps:
  - id: {step}
    http: {{post: https://sink.example/{step}}}
"
    )
}

#[tokio::test]
async fn the_same_text_is_one_release() {
    let world = World::new().await;
    let source = flow("one", "send");
    let first = world
        .call("POST", "/v1/flows", json!({ "source": source }))
        .await;
    assert_eq!(first.json()["status"], "live", "{}", first.text());
    let release = first.json()["release"].as_str().unwrap().to_owned();
    assert_eq!(release.len(), 68);
    let again = world
        .call("POST", "/v1/flows", json!({ "source": source }))
        .await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(again.json()["status"], "unchanged");
    assert_eq!(again.json()["release"], release);
    let listed = world.call("GET", "/v1/flows", "").await;
    let flows = listed.json();
    assert_eq!(flows["flows"][0]["flow"], "one");
    assert_eq!(flows["flows"][0]["triggers"][0]["path"], "/hooks/one");
    let one = world.call("GET", "/v1/flows/one", "").await.json();
    assert_eq!(one["source"], source);
    assert_eq!(one["release"], release);
    assert_eq!(one["steps"][0]["step"], "send");
    assert_eq!(one["steps"][0]["class"], "guarded");
    let short = format!("/v1/releases/{}", &release[..12]);
    assert_eq!(world.call("GET", &short, "").await.json()["source"], source);
    let none = world.call("GET", "/v1/flows/two", "").await;
    assert_eq!(none.gist(), "404 flow_missing");
}

/// Names only: what the server lacks is told by `check` and `deploy` alike, and stops neither.
#[tokio::test]
async fn secrets_that_are_not_there_are_told_by_name() {
    let world = World::new().await;
    let source = flow("one", "send").replace(
        "https://sink.example/send",
        "https://sink.example/send, bearer: '${{ secrets.KEY }}', headers: {x: '${{ secrets.OTHER }}'}",
    );
    let ask = async |path: &str| {
        let answer = world.call("POST", path, json!({ "source": source })).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        answer.json()["missing_secrets"].clone()
    };
    assert_eq!(ask("/v1/check").await, json!(["KEY", "OTHER"]));
    assert_eq!(ask("/v1/flows").await, json!(["KEY", "OTHER"]));
    let body = json!({"value": "s3cret-canary"});
    let set = world.call("PUT", "/v1/secrets/KEY", body).await;
    assert_eq!(set.status, StatusCode::OK, "{}", set.text());
    assert_eq!(ask("/v1/check").await, json!(["OTHER"]));
    assert_eq!(ask("/v1/flows").await, json!(["OTHER"]));
}

#[tokio::test]
async fn errors_are_told_all_at_once_and_change_nothing() {
    let world = World::new().await;
    let source = "name: one\non:\n  webhook: {path: hooks/x, verify: none}\nstpes: []\n";
    let answer = world
        .call("POST", "/v1/flows", json!({ "source": source }))
        .await;
    assert_eq!(answer.gist(), "422 flow_invalid", "{}", answer.text());
    let problem = answer.json();
    let found = problem["diagnostics"].as_array().unwrap();
    assert!(found.len() >= 2, "{}", answer.text());
    let path = found.iter().find(|it| it["at"]["line"] == 3).unwrap();
    assert_eq!(path["level"], "error");
    assert!(path["at"]["column"].as_u64().unwrap() > 1);
    assert_eq!(
        world.call("GET", "/v1/flows", "").await.json()["flows"],
        json!([])
    );
    let checked = world
        .call("POST", "/v1/check", json!({ "source": source }))
        .await;
    assert_eq!(checked.status, StatusCode::OK);
    assert_eq!(checked.json()["diagnostics"], problem["diagnostics"]);
    assert_eq!(checked.json()["errors"], problem["errors"]);
    let good = world
        .call(
            "POST",
            "/v1/check",
            json!({ "source": flow("one", "send") }),
        )
        .await;
    assert_eq!(good.json()["errors"], 0, "{}", good.text());
    assert_eq!(good.json()["steps"][0]["step"], "send");
    let releases = world.call("GET", "/v1/flows/one/releases", "").await;
    assert_eq!(
        releases.gist(),
        "404 flow_missing",
        "checking keeps nothing"
    );
}

#[tokio::test]
async fn a_path_belongs_to_one_flow() {
    let world = World::new().await;
    world.deploy(&flow("one", "send")).await;
    let thief = flow("two", "send").replace("/hooks/two", "/hooks/one");
    let answer = world
        .call("POST", "/v1/flows", json!({ "source": thief }))
        .await;
    assert_eq!(answer.gist(), "409 path_taken", "{}", answer.text());
    assert_eq!(answer.json()["flow"], "one");
    assert_eq!(answer.json()["path"], "/hooks/one");
    let draft = json!({"source": thief, "draft": true});
    assert_eq!(world.call("POST", "/v1/flows", draft).await.status, 200);
    assert_eq!(world.call("DELETE", "/v1/flows/one", "").await.status, 200);
    let gone = world.call("DELETE", "/v1/flows/one", "").await;
    assert_eq!(gone.gist(), "404 flow_missing");
    world.deploy(&thief).await;
    let back = world.call("POST", "/v1/flows/one/rollback", "").await;
    assert_eq!(back.gist(), "409 path_taken", "going back asks, too");
}

#[tokio::test]
async fn runs_keep_their_release_and_a_rollback_is_for_later_ones() {
    let world = Working::new().await;
    let (old, new) = (flow("one", "send"), flow("one", "send") + "# new\n");
    let first = world.deploy(&old).await;
    let none = world.call("POST", "/v1/flows/one/rollback", "").await;
    assert_eq!(
        none.gist(),
        "404 release_missing",
        "there is nothing before"
    );
    world.sink.holds.send_replace(true);
    let run = world.hook("/hooks/one", json!({"id":1})).await;
    world.sink.reached(1).await;
    let second = world.deploy(&new).await;
    assert_ne!(first, second);
    world.sink.holds.send_replace(false);
    assert_eq!(world.settled(&run_of(&run)).await, RunState::Done);
    let release = world.runs().await[0].release;
    assert_eq!(semel_server::release_text(release), first, "pinned");

    let back = world.call("POST", "/v1/flows/one/rollback", "").await;
    assert_eq!(
        back.json(),
        json!({"status":"live","flow":"one","release":first})
    );
    let to = json!({ "to": &second[..12] });
    let forth = world.call("POST", "/v1/flows/one/rollback", &to).await;
    assert_eq!(forth.json()["release"], second);
    let again = world.call("POST", "/v1/flows/one/rollback", &to).await;
    assert_eq!(again.json()["status"], "unchanged");
    let listed = world.call("GET", "/v1/flows/one/releases", "").await.json();
    let live: Vec<_> = listed["releases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|release| (release["release"].clone(), release["live"].clone()))
        .collect();
    assert_eq!(
        live,
        [(json!(second), json!(true)), (json!(first), json!(false))]
    );
}

#[tokio::test]
async fn done_keys_are_not_left_behind_unnoticed() {
    let world = Working::new().await;
    world.deploy(&flow("one", "send")).await;
    let renamed = flow("one", "post");
    let early = json!({ "source": renamed });
    let checked = world.call("POST", "/v1/check", &early).await;
    assert_eq!(
        checked.json()["abandoned"],
        json!([]),
        "nothing is done yet"
    );
    for id in 1..=3 {
        let run = world.hook("/hooks/one", json!({ "id": id })).await;
        assert_eq!(world.settled(&run_of(&run)).await, RunState::Done);
    }
    let answer = world.call("POST", "/v1/flows", &early).await;
    assert_eq!(answer.gist(), "409 keys_abandoned", "{}", answer.text());
    let lost = &answer.json()["abandoned"][0];
    assert_eq!(lost["scope"], "one/send");
    assert_eq!(lost["keys"], 3);
    assert!(lost["keep"].as_str().unwrap().contains("scope: one/send"));
    let checked = world.call("POST", "/v1/check", &early).await;
    assert_eq!(&checked.json()["abandoned"][0], lost);
    let meant = json!({"source": renamed, "abandon": true});
    let answer = world.call("POST", "/v1/flows", &meant).await;
    assert_eq!(answer.json()["status"], "live", "{}", answer.text());
}
