//! Deliveries that must not be taken, and the answer each must get. Nothing is ever half-started.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use hmac::{Hmac, KeyInit, Mac};
use semel_server::Settings;
use sha2::Sha256;

use crate::common::{Answer, Socket, World};

const OPEN: &str = "\
name: open
on:
  webhook: {path: /hooks/open, verify: none}
key: open/${{ event.id }}
steps:
  - {id: note, set: {n: 1}}
";

const SIGNED: &str = "\
name: signed
on:
  webhook: {path: /hooks/stripe, verify: stripe, secret: \"${{ secrets.STRIPE }}\"}
steps:
  - {id: note, set: {n: 1}}
";

async fn refused(world: &World, answer: &Answer, gist: &str, what: &str) {
    assert_eq!(answer.gist(), gist, "{what}: {}", answer.text());
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert!(world.runs().await.is_empty(), "{what}");
    let listed = world.call("GET", "/v1/ledger", "").await;
    assert_eq!(listed.json()["effects"], serde_json::json!([]), "{what}");
}

#[tokio::test]
async fn bodies() {
    let world = World::with(Settings {
        max_body: 10_000,
        ..Settings::default()
    })
    .await;
    world.deploy(OPEN).await;
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for (body, gist) in [
        (&b""[..], "400 body_missing"),
        (b" ", "400 body_missing"),
        (b"{\"id\":1", "400 json_invalid"),
        (b"{\"id\":1} x", "400 json_invalid"),
        (b"{\"id\":\"\xff\"}", "400 json_invalid"),
        (br#"{"id":"\u0000"}"#, "400 json_invalid"),
        (br#"{"id":"\ud800"}"#, "400 json_invalid"),
        (br#"{"id":NaN}"#, "400 json_invalid"),
        (br#"{"id":1e400}"#, "400 json_invalid"),
        (br#"{"id":1,"id":2}"#, "400 json_invalid"),
        (deep.as_bytes(), "400 too_deep"),
        (&[b' '; 10_001], "413 body_too_large"),
    ] {
        let json = [("content-type", "application/json")];
        let answer = world.deliver("/hooks/open", &json, body.to_vec()).await;
        let what = String::from_utf8_lossy(body);
        refused(&world, &answer, gist, &what).await;
        if gist.starts_with("400") {
            assert!(answer.json()["offset"].is_u64(), "{}", answer.text());
        }
    }
    let marked = "\u{feff}{\"id\":1}";
    let answer = world.hook("/hooks/open", marked).await;
    assert_eq!(answer.status, 202, "a byte order mark is passed over");
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn types_and_encodings() {
    let world = World::new().await;
    world.deploy(OPEN).await;
    let good = br#"{"id":1}"#.to_vec();
    let bomb = zipped(&vec![b' '; 4_000_000]);
    let json = "application/json";
    for (kind, encoding, body, gist) in [
        ("text/plain", "", good.clone(), "415 content_type_unsupported"),
        ("", "", good.clone(), "415 content_type_unsupported"),
        (json, "gzip", bomb, "413 body_too_large"),
        (json, "gzip", good.clone(), "400 encoding_invalid"),
        (json, "br", good.clone(), "415 encoding_unsupported"),
    ] {
        let headers = [("content-type", kind), ("content-encoding", encoding)];
        let headers: Vec<_> = headers.into_iter().filter(|(_, v)| !v.is_empty()).collect();
        let answer = world.deliver("/hooks/open", &headers, body).await;
        refused(&world, &answer, gist, &format!("{kind} {encoding}")).await;
    }
    let headers = [("content-type", json), ("content-encoding", "gzip")];
    let answer = world.deliver("/hooks/open", &headers, zipped(&good)).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = world.deliver("/hooks/open", &form, "id=2").await;
    assert_eq!(answer.status, 202, "{}", answer.text());
}

#[tokio::test]
async fn paths_and_methods() {
    let world = World::new().await;
    world.deploy(OPEN).await;
    let unknown = world.hook("/hooks/none", "{}").await;
    refused(&world, &unknown, "404 not_found", "unknown").await;
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let answer = world.call(method, "/hooks/open", "").await;
        refused(&world, &answer, "405 method_not_allowed", method).await;
        assert_eq!(answer.header("allow"), "POST");
    }
    let retired = world.call("DELETE", "/v1/flows/open", "").await;
    assert_eq!(retired.status, 200);
    let answer = world.hook("/hooks/open", r#"{"id":1}"#).await;
    refused(&world, &answer, "404 not_found", "disabled").await;
    assert_eq!(answer.bytes, unknown.bytes, "told alike");
}

fn signature(secret: &str, time: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{time}.{body}").as_bytes());
    let digits: String = mac
        .finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("t={time},v1={digits}")
}

#[tokio::test]
async fn signatures() {
    let world = World::new().await;
    world.vault.put("STRIPE", "whsec_a");
    world.deploy(SIGNED).await;
    let body = r#"{"id":"evt_1","created":1767225600}"#;
    let now = crate::common::START.0 / 1000;
    let good = signature("whsec_a", now, body);
    let mut flipped = good.clone().into_bytes();
    let last = flipped.len() - 1;
    flipped[last] = if flipped[last] == b'0' { b'1' } else { b'0' };
    let flipped = String::from_utf8(flipped).unwrap();
    let json = ("content-type", "application/json");
    let mut texts = Vec::new();
    for (headers, body, what) in [
        (vec![json], body, "missing"),
        (vec![json, ("stripe-signature", &good), ("stripe-signature", &good)], body, "doubled"),
        (vec![json, ("stripe-signature", "t=1,v1=zz")], body, "not hex"),
        (vec![json, ("stripe-signature", &*flipped)], body, "one bit off"),
        (vec![json, ("stripe-signature", &*good)], r#"{"created":1767225600,"id":"evt_1"}"#, "re-serialised"),
        (vec![json, ("stripe-signature", "t=abc,v1=00")], body, "timestamp abc"),
        (vec![json, ("stripe-signature", &signature("whsec_b", now, body))], body, "another secret"),
    ] {
        let answer = world.deliver("/hooks/stripe", &headers, body).await;
        refused(&world, &answer, "401 signature_refused", what).await;
        texts.push(answer.bytes);
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "the reason is not told");
    for time in [now - 301, now + 301] {
        let signature = signature("whsec_a", time, body);
        let headers = [json, ("stripe-signature", &*signature)];
        let answer = world.deliver("/hooks/stripe", &headers, body).await;
        refused(&world, &answer, "401 signature_stale", "time").await;
        assert_eq!(answer.json()["server_time"], "2026-01-01T00:00:00.000Z");
    }
    let headers = [json, ("stripe-signature", &*good)];
    let answer = world.deliver("/hooks/stripe", &headers, body).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    assert_eq!(world.runs().await[0].key.as_str(), "stripe/evt_1");
}

#[tokio::test]
async fn a_hook_without_its_secret_lets_nobody_in_and_a_new_secret_counts_at_once() {
    let world = World::new().await;
    world.deploy(SIGNED).await;
    let body = r#"{"id":"evt_1"}"#;
    let now = crate::common::START.0 / 1000;
    let deliver = async |secret: &str| {
        let signature = signature(secret, now, body);
        let headers = [
            ("content-type", "application/json"),
            ("stripe-signature", &*signature),
        ];
        world.deliver("/hooks/stripe", &headers, body).await
    };
    let answer = deliver("").await;
    refused(&world, &answer, "503 hook_not_ready", "no secret").await;
    assert!(!answer.text().contains("STRIPE"), "{}", answer.text());
    assert_eq!(answer.header("retry-after"), "30");
    world.vault.put("STRIPE", "");
    refused(&world, &deliver("").await, "503 hook_not_ready", "empty").await;
    world.vault.put("STRIPE", "old");
    refused(&world, &deliver("new").await, "401 signature_refused", "old").await;
    world.vault.put("STRIPE", "new");
    assert_eq!(deliver("new").await.status, 202);
    let old = deliver("old").await;
    assert_eq!(old.gist(), "401 signature_refused", "replaced");
    world.vault.remove("STRIPE");
    assert_eq!(deliver("new").await.gist(), "503 hook_not_ready");
}

#[tokio::test]
async fn slack_is_answered_its_challenge_only_if_it_is_slack() {
    let world = World::new().await;
    world.vault.put("SLACK", "hush");
    let source = SIGNED.replace("stripe", "slack").replace("STRIPE", "SLACK");
    world.deploy(&source).await;
    let body = r#"{"type":"url_verification","challenge":"say this"}"#;
    let time = (crate::common::START.0 / 1000).to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(b"hush").unwrap();
    mac.update(format!("v0:{time}:{body}").as_bytes());
    let bytes = mac.finalize().into_bytes();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let signature = format!("v0={digits}");
    let headers = [
        ("content-type", "application/json"),
        ("x-slack-request-timestamp", &*time),
        ("x-slack-signature", &*signature),
    ];
    let answer = world.deliver("/hooks/slack", &headers, body).await;
    assert_eq!(answer.json(), serde_json::json!({"challenge":"say this"}));
    let answer = world.deliver("/hooks/slack", &headers[..2], body).await;
    refused(&world, &answer, "401 signature_refused", "unsigned").await;
}

#[tokio::test]
async fn on_the_wire() {
    let socket = Socket::with(Settings {
        head_timeout: Duration::from_millis(200),
        body_timeout: Duration::from_millis(200),
        ..Settings::default()
    })
    .await;
    socket.world.deploy(OPEN).await;
    let head = |more: &str| {
        format!("POST /hooks/open HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{more}\r\n")
    };
    let long = format!("x-long: {}\r\n", "x".repeat(100_000));
    for (request, status) in [
        (head("content-length: 8\r\ntransfer-encoding: chunked\r\n") + "0\r\n\r\n", "400"),
        (head("content-length: 20\r\n") + "{\"id\":1}", "408"),
        (head(&long), "431"),
    ] {
        let answer = socket.raw(request.as_bytes()).await;
        let expected = format!("HTTP/1.1 {status}");
        assert!(answer.starts_with(&expected), "{status}: {answer}");
        assert!(socket.world.runs().await.is_empty(), "{status}");
    }
    socket.stop().await.unwrap();
}
