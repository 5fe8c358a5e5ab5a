//! Every answer to a decision about something in the inbox.

use semel_engine::Moved;
use semel_ledger::{Decision, Millis};
use semel_store::run::RunState;
use serde_json::json;
use tokio::sync::broadcast::Receiver;

use crate::gates::{Asking, Gates, on_each_store};
use crate::inbox::ids;
use crate::openapi::fits;
use crate::outside::Mood;

on_each_store![
    each_decision_on_a_lost_answer_goes_on,
    the_same_again_and_the_opposite,
    who_may_not_is_told_why,
    what_is_over_is_gone,
    what_has_changed_is_not_decided,
    wrong_words_are_refused,
    the_ledger_does_not_answer_requests,
];

/// Waits until a run has come there.
async fn comes_to(moves: &mut Receiver<Moved>, run: &str, wanted: RunState) {
    loop {
        let Moved { run: id, state } = moves.recv().await.unwrap();
        if id.text() == run && state == wanted {
            return;
        }
    }
}

async fn each_decision_on_a_lost_answer_goes_on(world: Gates) {
    let _waking = world.waking();
    for (event, decision, calls) in [("a", "happened", 0), ("b", "resend", 1), ("c", "failed", 1)] {
        let it = world.lost(event).await;
        let before = world.sink.seen().len();
        world.sink.feels(Mood::Does);
        let mut moves = world.app.engine().follow();
        let mut body = json!({"decision": decision, "hash": it.hash, "note": "seen"});
        if decision == "happened" {
            body["result"] = json!({"n": 9_007_199_254_740_993_u64});
        }
        let path = format!("/v1/inbox/{}/decide", it.id);
        let answer = world.say("ann", "POST", &path, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        fits("/v1/inbox/{id}/decide", "post", &answer);
        assert_eq!(answer.json()["status"], "recorded");
        assert_eq!(answer.json()["decided"]["by"], "ann");
        comes_to(&mut moves, &it.run, RunState::Done).await;
        assert_eq!(world.sink.seen().len() - before, calls, "{decision}");
        let shown = world.item(&it.id).await;
        assert_eq!(shown["state"], "decided");
        assert_eq!(shown["decided"]["decision"], decision);
        assert_eq!(shown["decided"]["note"], "seen");
        if decision == "happened" {
            let run = world.call("GET", &format!("/v1/runs/{}", it.run), "").await;
            assert!(run.text().contains("9007199254740993"), "{}", run.text());
        }
    }
}

async fn the_same_again_and_the_opposite(world: Gates) {
    for (first, second) in [("approve", "reject"), ("reject", "approve")] {
        let it = world.asks(first, &Asking::default()).await;
        let answer = world.decide("ann", &it, first).await;
        assert_eq!(answer.gist(), "200");
        assert_eq!(answer.json()["status"], "recorded");
        for who in ["ann", "bob"] {
            let again = world.decide(who, &it, first).await;
            assert_eq!(again.gist(), "200");
            assert_eq!(again.json()["status"], "already_recorded");
            assert_eq!(again.json()["decided"]["by"], "ann");
            let opposite = world.decide(who, &it, second).await;
            assert_eq!(opposite.gist(), "409 decided_otherwise");
            fits("/v1/inbox/{id}/decide", "post", &opposite);
            let winner = opposite.json()["winner"].clone();
            assert_eq!(winner["by"], "ann");
            assert_eq!(winner["decision"], first);
            assert_eq!(winner["at"], "2026-01-01T00:00:00.000Z");
        }
        assert_eq!(world.mail(&it.run).await, 1, "the run is told once");
    }
    let it = world.lost("lost").await;
    assert_eq!(world.decide("ann", &it, "happened").await.gist(), "200");
    let again = world.decide("bob", &it, "happened").await;
    assert_eq!(
        again.json()["status"],
        "already_recorded",
        "{}",
        again.text()
    );
    let opposite = world.decide("bob", &it, "resend").await;
    assert_eq!(opposite.gist(), "409 decided_otherwise");
}

async fn who_may_not_is_told_why(world: Gates) {
    let named = Asking {
        by: vec!["ann", "group:none"],
        ..Asking::default()
    };
    let made = Asking {
        maker: Some("ann"),
        ..Asking::default()
    };
    let own = Asking {
        maker: Some("ann"),
        allow_maker: true,
        ..Asking::default()
    };
    let before = [
        (
            world.asks("1", &Asking::default()).await,
            "mallory",
            "not among",
        ),
        (world.asks("2", &named).await, "bob", "not among"),
        (world.asks("3", &made).await, "ann", "maker and checker"),
    ];
    for (it, who, why) in &before {
        for decision in ["approve", "reject"] {
            let answer = world.decide(who, it, decision).await;
            assert_eq!(answer.gist(), "403 not_allowed", "{who}");
            fits("/v1/inbox/{id}/decide", "post", &answer);
            assert!(answer.json()["detail"].as_str().unwrap().contains(why));
            assert!(
                !answer.json()["may"]
                    .as_array()
                    .unwrap()
                    .contains(&json!(who))
            );
        }
        assert_eq!(world.item(&it.id).await["state"], "waiting");
    }
    // A name in the body is for the record; it is the token that counts.
    let body = json!({"decision": "approve", "hash": before[0].0.hash, "by": "ann"});
    let path = format!("/v1/inbox/{}/decide", before[0].0.id);
    let posing = world.say("mallory", "POST", &path, body).await;
    assert_eq!(posing.gist(), "403 not_allowed");
    let it = world.asks("4", &own).await;
    assert_eq!(world.decide("ann", &it, "approve").await.gist(), "200");
}

async fn what_is_over_is_gone(world: Gates) {
    let late = world.asks("1", &Asking::default()).await;
    let by_itself = world.asks("2", &Asking::default()).await;
    let back = world.asks("3", &Asking::default()).await;
    let ended = world.asks("4", &Asking::default()).await;
    world
        .untold_by(&by_itself, Decision::Failed, "timeout")
        .await;
    world.untold_by(&back, Decision::Resend, "cancelled").await;
    let waking = world.waking();
    let path = format!("/v1/runs/{}/cancel", ended.run);
    assert_eq!(world.call("POST", &path, "").await.gist(), "202");
    assert_eq!(
        world.settled_for_good(&ended.run).await,
        RunState::Cancelled
    );
    drop(waking);
    world.clock.advance(Millis(Millis::days(2).0 - 1));
    assert_eq!(world.item(&late.id).await["state"], "waiting");
    world.clock.advance(Millis(1));
    for it in [&late, &by_itself, &back, &ended] {
        for decision in ["approve", "reject"] {
            let answer = world.decide("ann", it, decision).await;
            assert_eq!(answer.gist(), "410 item_over", "{}", it.effect.key.as_str());
            fits("/v1/inbox/{id}/decide", "post", &answer);
        }
        let shown = world.item(&it.id).await;
        assert_eq!(shown["state"], "over", "{shown}");
        assert!(shown["why_over"].is_string());
        assert_eq!(shown["choices"], json!([]));
    }
    assert_eq!(ids(&world, "").await, [""; 0]);
}

async fn what_has_changed_is_not_decided(world: Gates) {
    let first = world.asks("1", &Asking::default()).await;
    world.untold(&first, Decision::Resend).await;
    let dearer = Asking {
        show: json!({"amount": 501}),
        ..Asking::default()
    };
    let second = world.asks_again(&first, &dearer).await;
    assert_ne!(first.hash, second.hash);
    let answer = world.decide("ann", &first, "approve").await;
    assert_eq!(answer.gist(), "409 item_changed");
    fits("/v1/inbox/{id}/decide", "post", &answer);
    assert_eq!(answer.json()["hash"], second.hash);
    assert_eq!(world.item(&second.id).await["state"], "waiting");
    assert_eq!(world.decide("ann", &second, "approve").await.gist(), "200");

    // The same for an answer that was lost once more.
    let _waking = world.waking();
    let lost = world.lost("2").await;
    world.sink.then(&[Mood::Mute]);
    let mut moves = world.app.engine().follow();
    assert_eq!(world.decide("ann", &lost, "resend").await.gist(), "200");
    comes_to(&mut moves, &lost.run, RunState::Parked).await;
    let answer = world.decide("ann", &lost, "happened").await;
    assert_eq!(answer.gist(), "409 item_changed");
    assert_eq!(world.item(&lost.id).await["state"], "waiting");
}

async fn wrong_words_are_refused(world: Gates) {
    let (lost, asked) = (
        world.lost("1").await,
        world.asks("2", &Asking::default()).await,
    );
    let hash = &asked.hash;
    for (id, body, gist, field) in [
        (
            &asked.id,
            json!({"decision": "happened", "hash": hash}),
            "400 field_invalid",
            "decision",
        ),
        (
            &asked.id,
            json!({"decision": "approve"}),
            "400 field_missing",
            "hash",
        ),
        (
            &asked.id,
            json!({"hash": hash}),
            "400 field_missing",
            "decision",
        ),
        (
            &asked.id,
            json!({"decision": "aprove"}),
            "400 field_invalid",
            "decision",
        ),
        (
            &asked.id,
            json!({"decision": "approve", "hsh": hash}),
            "400 field_unknown",
            "hsh",
        ),
        (
            &asked.id,
            json!({"decision": "approve", "hash": hash, "result": 1}),
            "400 field_invalid",
            "result",
        ),
        (
            &asked.id,
            json!({"decision": "approve", "note": "x".repeat(4097)}),
            "400 field_invalid",
            "note",
        ),
        (
            &lost.id,
            json!({"decision": "approve"}),
            "400 field_invalid",
            "decision",
        ),
        (
            &lost.id,
            json!({"decision": "resend", "result": 1}),
            "400 field_invalid",
            "result",
        ),
        (
            &"item_00000000".to_owned(),
            json!({"decision": "resend"}),
            "404 item_missing",
            "",
        ),
    ] {
        let path = format!("/v1/inbox/{id}/decide");
        let answer = world.say("ann", "POST", &path, &body).await;
        assert_eq!(answer.gist(), gist, "{body}");
        fits("/v1/inbox/{id}/decide", "post", &answer);
        if !field.is_empty() {
            assert_eq!(answer.json()["field"], field, "{body}");
        }
    }
    for it in [&lost, &asked] {
        assert_eq!(world.item(&it.id).await["state"], "waiting");
    }
}

async fn the_ledger_does_not_answer_requests(world: Gates) {
    let it = world.asks("1", &Asking::default()).await;
    let path = "/v1/ledger/payout%2Fok/payout/decide?part=1&part=ok";
    let answer = world
        .say("ann", "POST", path, json!({"decision": "happened"}))
        .await;
    assert_eq!(answer.gist(), "403 not_allowed");
    fits("/v1/ledger/{scope}/{key}/decide", "post", &answer);
    assert!(answer.json()["fix"].as_str().unwrap().contains(&it.id));
    assert_eq!(world.item(&it.id).await["state"], "waiting");
    let lost = world.lost("2").await;
    let path = "/v1/ledger/payout%2Fok/payout/decide?part=2&part=ok";
    let answer = world
        .say("ann", "POST", path, json!({"decision": "happened"}))
        .await;
    assert_eq!(answer.gist(), "200");
    assert_eq!(world.item(&lost.id).await["state"], "decided");
}
