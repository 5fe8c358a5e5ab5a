//! Many at once: shown first, and only what was shown.

use serde_json::{Value, json};

use crate::gates::{Asking, Gates, on_each_store};
use crate::openapi::fits;

on_each_store![
    shown_first_then_decided,
    another_set_is_refused,
    each_item_is_told_of_for_itself,
    requests_are_decided_by_those_who_may,
];

async fn bulk(world: &Gates, who: &str, body: &Value, gist: &str) -> Value {
    let answer = world.say(who, "POST", "/v1/inbox/decide", body).await;
    assert_eq!(answer.gist(), gist, "{body}: {}", answer.text());
    fits("/v1/inbox/decide", "post", &answer);
    answer.json()
}

/// The body with the hash of what was shown.
fn confirmed(body: &Value, shown: &Value) -> Value {
    let mut body = body.clone();
    body["hash"] = shown["hash"].clone();
    body
}

async fn shown_first_then_decided(world: Gates) {
    let one = world.lost("1").await;
    world.pass("1h");
    let (two, three) = (world.lost("2").await, world.lost("3").await);
    world.asks("4", &Asking::default()).await;
    let which = json!({
        "decision": "happened", "flow": "payout", "step": "ok", "scope": "payout/ok",
        "since": "2026-01-01T00:30:00Z", "note": "seen in the bank",
    });
    let shown = bulk(&world, "ann", &which, "200").await;
    assert_eq!(shown["count"], 2);
    assert_eq!(shown["limit"], 500);
    let listed = shown["items"].as_array().unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(listed, [&three.id, &two.id]);
    for it in [&one, &two, &three] {
        assert_eq!(world.item(&it.id).await["state"], "waiting", "only shown");
    }
    let done = bulk(&world, "ann", &confirmed(&which, &shown), "200").await;
    assert_eq!(
        (&done["recorded"], &done["refused"]),
        (&json!(2), &json!(0))
    );
    for it in [&two, &three] {
        let shown = world.item(&it.id).await;
        assert_eq!(shown["decided"]["note"], "seen in the bank");
        assert_eq!(shown["decided"]["by"], "ann");
    }
    assert_eq!(world.item(&one.id).await["state"], "waiting");
    bulk(&world, "ann", &confirmed(&which, &shown), "409 set_changed").await;
}

async fn another_set_is_refused(world: Gates) {
    let one = world.lost("1").await;
    let which = json!({"decision": "resend", "flow": "payout"});
    let shown = bulk(&world, "ann", &which, "200").await;
    let two = world.lost("2").await;
    let changed = bulk(&world, "ann", &confirmed(&which, &shown), "409 set_changed").await;
    assert_eq!(changed["count"], 2, "the new list");
    assert_eq!(changed["items"].as_array().unwrap().len(), 2);
    let other = json!({"decision": "happened", "flow": "payout", "hash": changed["hash"]});
    bulk(&world, "ann", &other, "409 set_changed").await;
    for it in [&one, &two] {
        assert_eq!(world.item(&it.id).await["state"], "waiting");
    }
    assert_eq!(world.sink.seen().len(), 2, "nothing was sent again");
    for (body, gist, field) in [
        (json!({"flow": "payout"}), "400 field_missing", "decision"),
        (
            json!({"decision": "resend", "since": "yesterday"}),
            "400 field_invalid",
            "since",
        ),
        (
            json!({"decision": "resend", "flw": "payout"}),
            "400 field_unknown",
            "flw",
        ),
        (
            json!({"decision": "happened", "result": 1}),
            "400 field_unknown",
            "result",
        ),
    ] {
        assert_eq!(bulk(&world, "ann", &body, gist).await["field"], field);
    }
    let none = bulk(
        &world,
        "ann",
        &json!({"decision": "resend", "flow": "no"}),
        "200",
    )
    .await;
    assert_eq!(none["count"], 0);
}

async fn each_item_is_told_of_for_itself(world: Gates) {
    let mut waiting = Vec::new();
    for event in 0..6 {
        waiting.push(world.asks(&event.to_string(), &Asking::default()).await);
    }
    let which = json!({"decision": "approve", "flow": "payout"});
    let shown = bulk(&world, "ann", &which, "200").await;
    let body = confirmed(&which, &shown);
    // Somebody decides some of them at the same moment.
    let others = async {
        let mut refused = 0;
        for it in &waiting {
            let answer = world.decide("bob", it, "reject").await;
            refused += usize::from(answer.gist() == "409 decided_otherwise");
        }
        refused
    };
    let all = world.say("ann", "POST", "/v1/inbox/decide", &body);
    let (answer, bobs_refused) = tokio::join!(all, others);
    match answer.gist().as_str() {
        "409 set_changed" => assert_eq!(bobs_refused, 0),
        "200" => {
            let told = answer.json();
            assert_eq!(
                told["recorded"], bobs_refused,
                "each was decided once: {told}"
            );
            for item in told["items"].as_array().unwrap() {
                let by = world.item(item["id"].as_str().unwrap()).await["decided"]["by"].clone();
                match item["status"].as_str().unwrap() {
                    "recorded" => assert_eq!(by, "ann"),
                    "refused" => {
                        assert_eq!(by, "bob");
                        assert_eq!(item["problem"]["code"], "decided_otherwise");
                    }
                    other => panic!("{other}"),
                }
            }
        }
        other => panic!("{other}"),
    }
}

async fn requests_are_decided_by_those_who_may(world: Gates) {
    let it = world.asks("1", &Asking::default()).await;
    world
        .asks(
            "2",
            &Asking {
                by: vec!["mallory"],
                ..Asking::default()
            },
        )
        .await;
    let which = json!({"decision": "reject"});
    let shown = bulk(&world, "ann", &which, "200").await;
    assert_eq!(shown["count"], 1, "what ann may decide");
    assert_eq!(shown["items"][0]["id"], it.id);
    bulk(&world, "bob", &confirmed(&which, &shown), "200").await;
    assert_eq!(world.item(&it.id).await["decided"]["decision"], "reject");
}
