//! Asking the ledger: filters, pages, imports, receipts, blobs, pages of errors.
use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Answer, World};
use axum::body::Body;
use semel_server::Code;
use serde_json::json;

fn keys(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let effects = json["effects"].as_array().unwrap();
    effects
        .iter()
        .map(|effect| effect["key"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let world = World::new().await;
    for n in 1..=5 {
        world
            .granted(&format!("/v1/guard/a/k{n}"), json!({"lease":"10s"}))
            .await;
    }
    let token = world.granted("/v1/guard/b/order?part=1", "").await;
    let settle = json!({"token":token,"outcome":"done","external_id":"ext 1"});
    world.call("PUT", "/v1/guard/b/order?part=1", settle).await;
    world.pass("30s");
    world.granted("/v1/guard/b/late", "").await;
    for (query, expected) in [
        ("scope=a&limit=2", vec!["k5", "k4"]),
        ("state=done", vec!["order/1"]),
        ("state=done&state=claimed", vec!["late", "order/1"]),
        ("state=done,claimed", vec!["late", "order/1"]),
        ("scope=a&state=unknown", vec!["k5", "k4", "k3", "k2", "k1"]),
        ("external_id=ext+1", vec!["order/1"]),
        ("prefix=order/", vec!["order/1"]),
        ("since=2026-01-01T00:00:30Z", vec!["late"]),
    ] {
        let answer = world.call("GET", &format!("/v1/ledger?{query}"), "").await;
        assert_eq!(keys(&answer), expected, "{query}");
    }
    let mut seen = Vec::new();
    let mut path = "/v1/ledger?limit=3".to_owned();
    loop {
        let page = world.call("GET", &path, "").await;
        seen.extend(keys(&page));
        match page.json()["next"].as_str() {
            Some(next) => path = format!("/v1/ledger?limit=3&after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["late", "order/1", "k5", "k4", "k3", "k2", "k1"]);
}

#[tokio::test]
async fn a_page_of_long_texts_ends_early() {
    let world = World::new().await;
    let text = "x".repeat(30_000);
    for n in 0..201 {
        let path = format!("/v1/guard/a/k{n}");
        world.granted(&path, json!({ "input": text })).await;
    }
    let first = world.call("GET", "/v1/ledger?limit=1000", "").await;
    assert_eq!(keys(&first).len(), 200, "less than asked for");
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let path = format!("/v1/ledger?limit=1000&after={next}");
    let second = world.call("GET", &path, "").await;
    assert_eq!(keys(&second), ["k0"], "goes on where it ended");
}

#[tokio::test]
async fn imports_are_all_or_nothing_and_protect() {
    let world = World::new().await;
    let wrong = json!({"effects":[
        {"scope":"mail","key":"ok"},
        {"scope":"mail","key":"100%"},
        {"scope":"mail","key":"a","at":"soon"},
        {"scope":"mail","key":"a","at":"2027-01-01T00:00:00Z"},
        {"scope":"mail"},
        {"key":"a"},
        {"scope":"mail","key":"a","kee":1},
        7,
    ]});
    let answer = world.call("POST", "/v1/ledger/import", &wrong).await;
    assert_eq!(answer.gist(), "400 rows_invalid");
    let rows = answer.json()["rows"].as_array().unwrap().clone();
    let indexes: Vec<_> = rows
        .iter()
        .map(|row| row["index"].as_u64().unwrap())
        .collect();
    assert_eq!(indexes, [1, 2, 3, 4, 5, 6, 7], "{rows:?}");
    assert_eq!(keys(&world.call("GET", "/v1/ledger", "").await), [""; 0]);

    let rows = r#"{"effects":[
        {"scope":"mail","key":"a/b","at":"2020-05-05T05:05:05Z","result":{"n":9007199254740993},"external_id":"m1"},
        {"scope":"mail","parts":["c/d"]}
    ]}"#;
    let answer = world.call("POST", "/v1/ledger/import", rows).await;
    assert_eq!(answer.json(), json!({"imported":2,"existing":0}));
    let answer = world.call("POST", "/v1/ledger/import", rows).await;
    assert_eq!(answer.json(), json!({"imported":0,"existing":2}));
    let done = world.call("POST", "/v1/guard/mail/a?part=b", "").await;
    assert_eq!(done.gist(), "200");
    assert!(done.text().contains(r#"{"n":9007199254740993}"#));
    assert_eq!(
        done.json()["first"]["claimed_at"],
        "2020-05-05T05:05:05.000Z"
    );
    let once = world.call("POST", "/v1/once/mail/c%2Fd", "").await;
    assert_eq!(once.json()["first"], false);
    let many: Vec<_> = (0..1001)
        .map(|n| json!({"scope":"s","key":n.to_string()}))
        .collect();
    let answer = world
        .call("POST", "/v1/ledger/import", json!({ "effects": many }))
        .await;
    assert_eq!(answer.gist(), "400 field_invalid");
}

#[tokio::test]
async fn receipts_say_what_was_blocked() {
    let world = World::new().await;
    world.granted("/v1/guard/a/k", "").await;
    world
        .call("POST", "/v1/guard/a/k", json!({"owner":"second"}))
        .await;
    world.call("POST", "/v1/once/b/k", "").await;
    world.call("POST", "/v1/once/b/k", "").await;
    world.store.write_receipts().await.unwrap();
    let all = world.call("GET", "/v1/receipts", "").await.json();
    let gist: Vec<_> = all["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| format!("{} {} {} {}", r["scope"], r["verdict"], r["by"], r["count"]))
        .collect();
    assert_eq!(
        gist,
        [r#""b" "done" "tests" 1"#, r#""a" "busy" "second" 1"#]
    );
    for (query, count) in [
        ("verdict=busy", 1),
        ("scope=b", 1),
        ("scope=b&key=k", 1),
        ("scope=b&key=x", 0),
        ("since=2026-01-02T00:00:00Z", 0),
    ] {
        let answer = world
            .call("GET", &format!("/v1/receipts?{query}"), "")
            .await
            .json();
        assert_eq!(
            answer["receipts"].as_array().unwrap().len(),
            count,
            "{query}"
        );
    }
    let shown = world.call("GET", "/v1/ledger/a/k", "").await.json();
    assert_eq!(shown["blocked"], 1);
    assert_eq!(shown["receipts"][0]["by"], "second");
    let days = world.call("GET", "/v1/receipts/tally", "").await.json();
    assert_eq!(days["by"], "day");
    assert_eq!(days["tallies"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn blobs_are_kept_by_content() {
    let world = World::new().await;
    let put = |kind: &'static str, body: Vec<u8>| {
        let request = world
            .request("PUT", "/v1/blobs")
            .header("content-type", kind);
        world.send(request.body(Body::from(body)).unwrap())
    };
    let octets = "application/octet-stream";
    let stored = put(octets, b"\x00\xffbytes".to_vec()).await;
    assert_eq!(stored.gist(), "201");
    assert_eq!(stored.json()["bytes"], 7);
    let name = stored.json()["blob"].as_str().unwrap().to_owned();
    let back = world.call("GET", &format!("/v1/blobs/{name}"), "").await;
    assert_eq!(back.bytes, b"\x00\xffbytes");
    assert_eq!(back.header("content-type"), octets);
    assert_eq!(back.header("x-content-type-options"), "nosniff");
    assert_eq!(
        put("text/html", vec![1]).await.gist(),
        "415 content_type_unsupported"
    );
    let large = put(octets, vec![0; 16 * 1024 * 1024 + 1]).await;
    assert_eq!(large.gist(), "413 body_too_large");
    let token = world.granted("/v1/guard/s/k", "").await;
    let settle = json!({"token":token,"outcome":"done","blobs":[name]});
    assert_eq!(
        world.call("PUT", "/v1/guard/s/k", settle).await.gist(),
        "200"
    );
    let shown = world.call("GET", "/v1/ledger/s/k", "").await.json();
    assert_eq!(shown["blobs"], json!([name]));
}

#[tokio::test]
async fn every_code_has_its_page_and_every_page_its_code() {
    let world = World::new().await;
    for code in Code::ALL {
        let page = world
            .call("GET", &format!("/errors/{}", code.name()), "")
            .await;
        assert_eq!(page.gist(), "200");
        assert_eq!(page.header("content-type"), "text/markdown; charset=utf-8");
        let text = page.text();
        assert!(text.starts_with(&format!("# {}", code.name())), "{text}");
        for part in ["## What happened", "## What to do", "## Example"] {
            assert!(text.contains(part), "{} lacks {part:?}", code.name());
        }
    }
    let known: BTreeSet<String> = Code::ALL
        .iter()
        .map(|c| format!("{}.md", c.name()))
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let pages: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(pages, known);
}

#[tokio::test]
async fn counts_are_there_for_prometheus() {
    let world = World::new().await;
    world.granted("/v1/guard/a/k", "").await;
    world.call("POST", "/v1/guard/a/k", "").await;
    let text = world.call("GET", "/metrics", "").await;
    for line in [
        r#"semel_claims_total{verdict="granted"} 1"#,
        "semel_duplicates_blocked_total 1",
        r#"semel_http_requests_total{route="/v1/guard/{scope}/{key}",status="409"} 1"#,
        "semel_store_queue_depth 0",
        "semel_build_info{version=",
    ] {
        assert!(text.text().contains(line), "{line}\n{}", text.text());
    }
}
