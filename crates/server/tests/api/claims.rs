//! Claims that meet each other: other inputs, lost answers, locks, once, a storm.

use std::sync::Arc;

use serde_json::json;

use crate::common::World;

const PATH: &str = "/v1/guard/invoice/order-1";

#[tokio::test]
async fn a_named_lock_is_taken_and_given_back() {
    let world = World::new().await;
    let lock = json!({"on_unknown":"retry","lease":"30s"});
    for _ in 0..3 {
        let token = world.granted("/v1/guard/locks/nightly", &lock).await;
        assert_eq!(
            world
                .call("POST", "/v1/guard/locks/nightly", &lock)
                .await
                .gist(),
            "409 busy"
        );
        let free = json!({"token":token,"outcome":"released"});
        let freed = world.call("PUT", "/v1/guard/locks/nightly", free).await;
        assert_eq!(freed.json()["state"], "released");
    }
}

#[tokio::test]
async fn another_input_is_a_conflict_that_names_places_and_never_values() {
    let world = World::new().await;
    let token = world
        .granted(PATH, json!({"input":{"amount":1,"card":{"n":"secret-a"}}}))
        .await;
    let other = json!({"input":{"amount":2,"card":{"n":"secret-b"},"new":true}});
    let conflict = world.call("POST", PATH, &other).await;
    assert_eq!(conflict.gist(), "422 conflict");
    assert_eq!(
        conflict.json()["differs"],
        json!(["/amount", "/card/n", "/new"])
    );
    assert!(!conflict.text().contains("secret"));
    assert_eq!(
        world.call("POST", PATH, "").await.gist(),
        "409 busy",
        "unstated input"
    );
    let spelled = r#"{"input":{"card":{"n":"secret-\u0061"},"amount":1.0}}"#;
    assert_eq!(
        world.call("POST", PATH, spelled).await.gist(),
        "409 busy",
        "spelling"
    );
    // What had no effect binds nobody.
    world
        .call("PUT", PATH, json!({"token":token,"outcome":"failed"}))
        .await;
    world.granted(PATH, &other).await;
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_sent_again() {
    let world = World::new().await;
    let token = "0123456789abcdef0123456789abcdef";
    let claim = json!({"token":token});
    for _ in 0..2 {
        assert_eq!(world.granted(PATH, &claim).await, token);
    }
    assert_eq!(world.call("POST", PATH, "").await.gist(), "409 busy");
    let once = json!({"token":token});
    for _ in 0..2 {
        let answer = world.call("POST", "/v1/once/s/k", &once).await;
        assert_eq!(answer.json(), json!({"first":true}));
    }
    // Used up: a grant of the same name could be settled by whoever held it before.
    let failed = json!({"token":token,"outcome":"failed"});
    world.call("PUT", PATH, failed).await;
    let used = world.call("POST", PATH, &claim).await;
    assert_eq!(used.gist(), "409 stale_token");
    assert_eq!(used.json()["state"], "failed");
    assert!(used.json()["receipt"].is_string());
    let zeros = json!({"token":"0".repeat(32)});
    assert_eq!(
        world.call("POST", PATH, zeros).await.gist(),
        "400 field_invalid"
    );
}

#[tokio::test]
async fn once_checks_and_sets_in_one_call() {
    let world = World::new().await;
    let path = "/v1/once/rows/7?part=a%2Fb";
    assert_eq!(
        world.call("POST", path, "").await.json(),
        json!({"first":true})
    );
    world.pass("5s");
    let again = world.call("POST", path, "").await.json();
    assert_eq!(again["first"], false);
    assert_eq!(again["first_seen"], "2026-01-01T00:00:00.000Z");
    assert!(again["receipt"].as_str().unwrap().starts_with("rcp_"));
    world.granted("/v1/guard/rows/8", "").await;
    assert_eq!(
        world.call("POST", "/v1/once/rows/8", "").await.gist(),
        "409 busy"
    );
    let forgotten = json!({"remember":"1m"});
    world.call("POST", "/v1/once/rows/9", &forgotten).await;
    world.pass("1m");
    assert_eq!(
        world.call("GET", "/v1/ledger/rows/9", "").await.gist(),
        "404 effect_missing"
    );
    assert_eq!(
        world.call("POST", "/v1/once/rows/9", "").await.json(),
        json!({"first":true})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_at_once_exactly_one_may_act() {
    let world = Arc::new(World::new().await);
    let calls = (0..200).map(|_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.call("POST", PATH, "").await.gist() })
    });
    let mut gists = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        gists.push(call.await.unwrap());
    }
    assert_eq!(gists.iter().filter(|gist| *gist == "201").count(), 1);
    assert_eq!(gists.iter().filter(|gist| *gist == "409 busy").count(), 199);
    world.store.write_receipts().await.unwrap();
    let receipts = world
        .call(
            "GET",
            "/v1/receipts?scope=invoice&key=order-1&limit=1000",
            "",
        )
        .await;
    let receipts = receipts.json()["receipts"].as_array().unwrap().clone();
    assert_eq!(receipts.len(), 101, "a hundred in full, the rest counted");
    assert_eq!(receipts[100]["counted"], true);
    assert_eq!(receipts[100]["count"], 99);
    let tally = world
        .call("GET", "/v1/receipts/tally?by=hour", "")
        .await
        .json();
    assert_eq!(
        tally["tallies"],
        json!([{"at":"2026-01-01T00:00:00.000Z","scope":"invoice","verdict":"busy","count":199}])
    );
}
