//! The inbox over HTTP: what is listed, and what is shown.

use serde_json::{Value, json};

use crate::gates::{Asking, Gates, on_each_store};
use crate::openapi::fits;

on_each_store![
    what_waits_is_listed_and_filtered,
    pages_neither_repeat_nor_miss,
    a_lost_answer_is_shown_with_all_that_is_known,
    a_request_is_shown_with_who_may_decide,
    names_are_short_enough_to_type,
];

pub(crate) async fn ids(world: &Gates, query: &str) -> Vec<String> {
    let answer = world.call("GET", &format!("/v1/inbox{query}"), "").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    fits("/v1/inbox", "get", &answer);
    let items = answer.json()["items"].as_array().unwrap().clone();
    let id = |item: &Value| item["id"].as_str().unwrap().to_owned();
    items.iter().map(id).collect()
}

async fn what_waits_is_listed_and_filtered(world: Gates) {
    assert_eq!(ids(&world, "").await, [""; 0]);
    let one = world.lost("1").await;
    world.pass("1m");
    let two = world.asks("2", &Asking::default()).await;
    world.pass("1m");
    let own = Asking {
        by: vec!["mallory"],
        ..Asking::default()
    };
    let three = world.asks("3", &own).await;
    let guarded = world.granted("/v1/guard/mail/k", json!({"input": 1})).await;
    let lost = json!({"token": guarded, "outcome": "unknown", "reason": "no answer"});
    world.call("PUT", "/v1/guard/mail/k", lost).await;
    assert_eq!(
        ids(&world, "?scope=mail").await,
        [""; 0],
        "nobody was asked yet"
    );
    world
        .call("POST", "/v1/guard/mail/k", json!({"input": 1}))
        .await;
    let mail = ids(&world, "?scope=mail").await;
    assert_eq!(mail.len(), 1);
    let all = [&mail[0], &three.id, &two.id, &one.id].map(String::as_str);
    assert_eq!(ids(&world, "").await, all);
    let since = "2026-01-01T00:01:00Z";
    for (query, found) in [
        ("?flow=payout".to_owned(), &all[1..]),
        ("?flow=other".to_owned(), &[]),
        ("?step=ok&flow=payout".to_owned(), &all[1..]),
        ("?step=no".to_owned(), &[]),
        ("?kind=review".to_owned(), &[all[0], all[3]]),
        ("?kind=approval".to_owned(), &[all[1], all[2]]),
        (format!("?since={since}"), &all[..3]),
        (format!("?until={since}"), &all[3..]),
        ("?kind=approval&for=ann".to_owned(), &[all[2]]),
        ("?kind=approval&for=mallory".to_owned(), &[all[1]]),
        ("?kind=approval&for=me".to_owned(), &[]),
    ] {
        assert_eq!(ids(&world, &query).await, found, "{query}");
    }
    let mine = world
        .say("ann", "GET", "/v1/inbox?for=me&kind=approval", "")
        .await;
    assert_eq!(mine.json()["items"][0]["id"], two.id);
    for (query, gist) in [
        ("?kind=x", "400 parameter_invalid"),
        ("?flw=x", "400 parameter_unknown"),
        ("?since=x", "400 parameter_invalid"),
        ("?limit=0", "400 parameter_invalid"),
        ("?after=7", "400 parameter_invalid"),
    ] {
        let answer = world.call("GET", &format!("/v1/inbox{query}"), "").await;
        assert_eq!(answer.gist(), gist, "{query}");
    }
}

async fn pages_neither_repeat_nor_miss(world: Gates) {
    let mut all = Vec::new();
    for event in ["a", "b", "c", "d", "e"] {
        all.insert(0, world.lost(event).await.id);
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/inbox?limit=2&flow=payout{after}");
        let page = world.call("GET", &path, "").await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        seen.extend(
            items
                .iter()
                .map(|item| item["id"].as_str().unwrap().to_owned()),
        );
        if seen.len() == 2 {
            // What comes or goes meanwhile moves nothing.
            world.lost("new").await;
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, all);
}

async fn a_lost_answer_is_shown_with_all_that_is_known(world: Gates) {
    let it = world.lost("1").await;
    let path = format!("/v1/inbox/{}", it.id);
    let answer = world.call("GET", &path, "").await;
    fits("/v1/inbox/{id}", "get", &answer);
    let shown = answer.json();
    for (member, value) in [
        ("/kind", json!("review")),
        ("/state", json!("waiting")),
        ("/flow", json!("payout")),
        ("/step", json!("ok")),
        ("/run", json!(it.run)),
        ("/scope", json!("payout/ok")),
        ("/key", json!("payout/1/ok")),
        ("/attempt", json!(1)),
        ("/until", Value::Null),
        ("/decided", Value::Null),
        ("/effect/state", json!("review")),
        ("/effect/life/0/to", json!("unknown")),
        ("/effect/life/1/to", json!("review")),
        ("/choices/0/decision", json!("happened")),
        ("/choices/1/decision", json!("resend")),
        ("/choices/2/decision", json!("failed")),
    ] {
        assert_eq!(shown.pointer(member), Some(&value), "{member} in {shown}");
    }
}

async fn a_request_is_shown_with_who_may_decide(world: Gates) {
    let asking = Asking {
        maker: Some("bob"),
        needed: 2,
        ..Asking::default()
    };
    let it = world.asks("1", &asking).await;
    let answer = world.call("GET", &format!("/v1/inbox/{}", it.id), "").await;
    fits("/v1/inbox/{id}", "get", &answer);
    let shown = answer.json();
    for (member, value) in [
        ("/kind", json!("approval")),
        ("/what", json!("Pay 500 to Eve?")),
        ("/show", json!({"amount": 500, "to": "Eve"})),
        ("/hash", json!(it.hash)),
        ("/by", json!(["group:finance"])),
        ("/may", json!(["ann", "cas"])),
        ("/needed", json!(2)),
        ("/votes", json!(0)),
        ("/maker", json!("bob")),
        ("/until", json!("2026-01-03T00:00:00.000Z")),
        ("/choices/0/decision", json!("approve")),
        ("/choices/1/decision", json!("reject")),
    ] {
        assert_eq!(shown.pointer(member), Some(&value), "{member} in {shown}");
    }
}

async fn names_are_short_enough_to_type(world: Gates) {
    let it = world.lost("1").await;
    let digits = it.id.strip_prefix("item_").unwrap();
    assert_eq!(digits.len(), 32);
    for name in [&it.id[..], &it.id[..13], digits, &digits[..8]] {
        assert_eq!(world.item(name).await["id"], it.id);
    }
    world.call("POST", "/v1/once/other/k", "").await;
    let other = semel_ledger::EffectId::new(
        semel_ledger::Scope::new("other").unwrap(),
        semel_ledger::Key::from_parts(&["k"]).unwrap(),
    );
    let done = semel_store::blob::hex(&other.hash());
    for name in [&digits[..7], "item_", "x", &done, "ITEM", "item_zzzzzzzz"] {
        let answer = world.call("GET", &format!("/v1/inbox/{name}"), "").await;
        assert_eq!(answer.gist(), "404 item_missing", "{name}");
        fits("/v1/inbox/{id}", "get", &answer);
    }
}
