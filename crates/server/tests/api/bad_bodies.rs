//! Bodies that cannot be used, and the answer each must get. Nothing is ever half-started.

use std::io::Write;

use axum::body::Body;
use flate2::Compression;
use flate2::write::GzEncoder;
use semel_server::Settings;
use serde_json::json;

use crate::common::{Answer, World};

const PATH: &str = "/v1/guard/s/k";

/// Each must be refused so, and leave nothing behind.
pub(crate) async fn refused(world: &World, answer: &Answer, gist: &str, what: &str) {
    assert_eq!(answer.gist(), gist, "{what}: {}", answer.text());
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let code = answer.json()["code"].as_str().unwrap().to_owned();
    assert_eq!(answer.json()["type"], format!("/errors/{code}"), "{what}");
    let listed = world.call("GET", "/v1/ledger", "").await;
    assert_eq!(listed.json()["effects"], json!([]), "{what}");
}

#[tokio::test]
async fn json() {
    let world = World::new().await;
    let deep = format!("{{\"input\":{}{}}}", "[".repeat(64), "]".repeat(64));
    for (body, gist, offset) in [
        ("{", "400 json_invalid", 1),
        (" ", "400 body_missing", 1),
        (r#"{"input":1"#, "400 json_invalid", 10),
        (r#"{"input":1} x"#, "400 json_invalid", 12),
        (r#"{"input":NaN}"#, "400 json_invalid", 9),
        (r#"{"input":1e400}"#, "400 json_invalid", 9),
        (r#"{"input":"\u0000"}"#, "400 json_invalid", 10),
        (r#"{"input":"\ud800"}"#, "400 json_invalid", 10),
        (r#"{"input":{"a":1,"a":2}}"#, "400 json_invalid", 16),
        (r#"{"input":1,"input":2}"#, "400 json_invalid", 11),
        (deep.as_str(), "400 too_deep", 72),
    ] {
        let answer = world.call("POST", PATH, body).await;
        refused(&world, &answer, gist, body).await;
        assert_eq!(answer.json()["offset"], offset, "{body}: {}", answer.text());
    }
    let request = world
        .request("POST", PATH)
        .header("content-type", "application/json");
    let request = request
        .body(Body::from(&b"{\"input\":\"\xff\"}"[..]))
        .unwrap();
    let answer = world.send(request).await;
    refused(&world, &answer, "400 json_invalid", "not UTF-8").await;
    let bom = world.call("PUT", PATH, "\u{feff}{\"token\":1}").await;
    assert_eq!(bom.gist(), "400 field_invalid", "a BOM is passed over");
    assert_eq!(world.call("PUT", PATH, "").await.gist(), "400 body_missing");
    world.granted(PATH, "\u{feff}{\"input\":1}").await;
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn encodings_types_and_sizes() {
    let world = World::with(Settings {
        max_body: 10_000,
        ..Settings::default()
    })
    .await;
    let good = br#"{"input":1}"#.to_vec();
    let bomb = zipped(&vec![b' '; 4_000_000]);
    let mut cut = zipped(&good);
    cut.truncate(12);
    let json = "application/json";
    for (kind, encoding, body, gist) in [
        (
            "application/x-www-form-urlencoded",
            "",
            good.clone(),
            "415 content_type_unsupported",
        ),
        (
            "text/plain",
            "",
            good.clone(),
            "415 content_type_unsupported",
        ),
        ("", "", good.clone(), "415 content_type_unsupported"),
        (json, "", vec![b' '; 10_001], "413 body_too_large"),
        (json, "gzip", bomb, "413 body_too_large"),
        (json, "gzip", good.clone(), "400 encoding_invalid"),
        (json, "gzip", cut, "400 encoding_invalid"),
        (json, "br", good.clone(), "415 encoding_unsupported"),
        (json, "gzip, gzip", good.clone(), "415 encoding_unsupported"),
    ] {
        let mut request = world.request("POST", PATH);
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        if !encoding.is_empty() {
            request = request.header("content-encoding", encoding);
        }
        let answer = world.send(request.body(Body::from(body)).unwrap()).await;
        refused(&world, &answer, gist, &format!("{kind} {encoding}")).await;
        if gist.starts_with("415") {
            assert!(answer.text().contains("application/json") || answer.text().contains("gzip"));
        }
    }
    for (key, kind, encoding) in [
        ("a", "application/json; charset=utf-8", "gzip"),
        ("b", "application/vnd.api+json", "GZIP"),
    ] {
        let request = world.request("POST", &format!("/v1/guard/s/{key}"));
        let request = request.header("content-type", kind);
        let request = request.header("content-encoding", encoding);
        let answer = world
            .send(request.body(Body::from(zipped(&good))).unwrap())
            .await;
        assert_eq!(answer.gist(), "201", "{}", answer.text());
    }
}

#[tokio::test]
async fn numbers_are_kept_exactly_end_to_end() {
    let world = World::new().await;
    let big = "9007199254740993";
    let long = "0.1000000000000000055511151231257827021181583404541015625";
    let body = format!(r#"{{"input":{{"b":{big},"l":{long}}}}}"#);
    let token = world.granted(PATH, &body).await;
    let near = r#"{"input":{"b":9007199254740992,"l":0.1}}"#;
    let conflict = world.call("POST", PATH, near).await;
    assert_eq!(conflict.json()["differs"], json!(["/b", "/l"]));
    let settle =
        format!(r#"{{"token":"{token}","outcome":"done","result":[{big}, {long}, 1.0e1]}}"#);
    world.call("PUT", PATH, &settle).await;
    let shown = world.call("GET", "/v1/ledger/s/k", "").await;
    assert!(
        shown
            .text()
            .contains(&format!(r#""input":{{"b":{big},"l":{long}}}"#))
    );
    assert!(
        shown
            .text()
            .contains(&format!(r#""result":[{big}, {long}, 1.0e1]"#))
    );
    let done = world.call("POST", PATH, "").await;
    assert!(
        done.text()
            .contains(&format!(r#""result":[{big}, {long}, 1.0e1]"#))
    );
}

#[tokio::test]
async fn large_values_come_back_although_they_are_kept_by_reference() {
    let world = World::new().await;
    let large = "x".repeat(100_000);
    let token = world.granted(PATH, json!({ "input": large })).await;
    let conflict = world.call("POST", PATH, json!({"input":"y"})).await;
    assert_eq!(conflict.json()["differs"], json!([""]));
    let settle = json!({"token":token,"outcome":"done","result":large});
    assert_eq!(world.call("PUT", PATH, settle).await.gist(), "200");
    assert_eq!(world.call("POST", PATH, "").await.json()["result"], large);
    let shown = world.call("GET", "/v1/ledger/s/k", "").await.json();
    assert_eq!(shown["input"], large);
    let blob = shown["result_blob"].as_str().unwrap();
    let content = world.call("GET", &format!("/v1/blobs/{blob}"), "").await;
    assert_eq!(content.json(), json!(large));
}
