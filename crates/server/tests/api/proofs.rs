//! Did we do this twice? What is said, and whether it can be believed.

use semel_server::{ProofError, Settings, verify_proof};
use serde_json::{Value, json};

use crate::common::World;
use crate::outside::Mood;
use crate::runs::{ORDER, ordered};
use crate::working::{Working, run_of};

async fn proof(world: &World, query: &str) -> Value {
    let answer = world.call("GET", &format!("/v1/proof?{query}"), "").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    answer.json()["proof"].clone()
}

#[tokio::test]
async fn the_same_thing_asked_for_in_every_way_gets_the_same_answer() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let run = ordered(&world, "a").await;
    for _ in 0..4 {
        world
            .hook("/hooks/order", json!({"id":"a","amount":21}))
            .await;
    }
    world
        .call("POST", "/v1/once/order%2Fpay/order?part=a&part=pay", "")
        .await;
    let by_run = proof(&world, &format!("run={run}")).await;
    assert_eq!(
        by_run["answer"],
        "2 effects were done, each once; 5 repeats were blocked"
    );
    assert_eq!(by_run["first"]["run"], run);
    assert_eq!(by_run["runs"], json!([run]));
    assert_eq!(by_run["events_blocked"], 4);
    assert_eq!(by_run["effects_blocked"], 1);
    let resends = &by_run["event_duplicates"]["receipts"];
    assert_eq!(resends.as_array().unwrap().len(), 4);
    assert_eq!(resends[0]["at"], "2026-01-01T00:00:00.000Z");
    let pay = &by_run["effects"][0];
    assert_eq!(pay["step"], "pay");
    assert_eq!(pay["state"], "done");
    assert_eq!(pay["attempt"], 1);
    assert_eq!(pay["external_id"], "made");
    assert_eq!(pay["receipts"][0]["by"], "tests");
    let event = run.replace("run_", "evt_");
    for query in [
        format!("event={event}"),
        "flow=order&key=order/a".to_owned(),
    ] {
        assert_eq!(proof(&world, &query).await, by_run, "{query}");
    }
    let one = proof(&world, "scope=order/pay&key=order/a/pay").await;
    assert_eq!(one["effects"][0]["blocked"], 1);
    assert_eq!(one["first"]["run"], run);
}

#[tokio::test]
async fn a_second_try_belongs_to_the_same_story() {
    let world = Working::new().await;
    world.sink.then(&[Mood::Does, Mood::Refuses]);
    world.deploy(ORDER).await;
    let run = ordered(&world, "a").await;
    let first = proof(&world, &format!("run={run}")).await;
    assert_eq!(first["done"], 1, "{first}");
    let answer = world
        .call("POST", &format!("/v1/runs/{run}/retry"), "")
        .await;
    let second = run_of(&answer);
    world.settled(&second).await;
    let both = proof(&world, &format!("run={second}")).await;
    assert_eq!(both["first"]["run"], run);
    assert_eq!(both["runs"], json!([run, second]));
    assert_eq!(both["done"], 2, "{both}");
    assert_eq!(both["effects"][1]["attempt"], 2);
}

#[tokio::test]
async fn what_is_unknown_is_not_called_done() {
    let world = Working::new().await;
    world.sink.feels(Mood::Mute);
    world.deploy(ORDER).await;
    let run = ordered(&world, "a").await;
    let it = proof(&world, &format!("run={run}")).await;
    assert_eq!(
        it["answer"],
        "nothing was done; of 1 nobody knows whether it happened; 1 repeat was blocked",
        "its own second try is one"
    );
}

#[tokio::test]
async fn questions_that_cannot_be_answered() {
    let world = World::new().await;
    let none = "run=run_00000000000000000000000000000000";
    for (query, gist) in [
        ("", "400 parameter_invalid"),
        ("scope=a", "400 parameter_invalid"),
        ("key=a", "400 parameter_invalid"),
        ("scope=a&flow=b&key=c", "400 parameter_invalid"),
        ("run=x", "400 parameter_invalid"),
        ("scope=a&key=%25", "400 key_invalid"),
        (none, "404 run_missing"),
        ("scope=a&key=b", "404 effect_missing"),
        ("flow=a&key=b", "404 effect_missing"),
        ("scope=a&key=b&signed=maybe", "400 parameter_invalid"),
    ] {
        let answer = world.call("GET", &format!("/v1/proof?{query}"), "").await;
        assert_eq!(answer.gist(), gist, "{query}: {}", answer.text());
    }
    let key = world.call("GET", "/v1/proof/key", "").await;
    assert_eq!(key.gist(), "503 signing_unavailable", "no data directory");
}

#[tokio::test]
async fn a_signed_proof_is_believed_until_a_digit_is_changed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let data = tempfile::tempdir().unwrap();
    let world = World::with(Settings {
        data: Some(data.path().to_owned()),
        ..Settings::default()
    })
    .await;
    world.call("POST", "/v1/once/s/k", "").await;
    let path = "/v1/proof?scope=s&key=k&signed=true";
    let answer = world.call("GET", path, "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let key = world.call("GET", "/v1/proof/key", "").await.json();
    let verified = verify_proof(&answer.bytes).unwrap();
    assert_eq!(verified.key, key["key"].as_str().unwrap());
    let pretty = serde_json::to_vec_pretty(&answer.json()).unwrap();
    assert!(verify_proof(&pretty).is_ok(), "spelling does not matter");

    let text = answer.text();
    for changed in [
        text.replace("\"attempt\":1", "\"attempt\":2"),
        text.replace("was done, once", "was done, twice"),
        text.replace(&verified.key, &"00".repeat(32)),
    ] {
        assert_ne!(changed, text);
        let refused = verify_proof(changed.as_bytes());
        assert!(matches!(refused, Err(ProofError::Mismatch)), "{changed}");
    }
    for (wrong, message) in [
        ("{", "the document is not JSON"),
        ("{}", "the document has no proof"),
        (r#"{"proof":{}}"#, "the document has no signature"),
        (
            r#"{"proof":{},"signature":{"algorithm":"rsa"}}"#,
            r#"the signature is made with "rsa"; only ed25519 is known"#,
        ),
    ] {
        let error = verify_proof(wrong.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let file = data.path().join("receipt.key");
    let mode = std::fs::metadata(&file).unwrap().mode() & 0o777;
    assert_eq!(mode, 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let answer = world.call("GET", path, "").await;
    assert_eq!(
        answer.gist(),
        "503 signing_unavailable",
        "readable by others"
    );
}
