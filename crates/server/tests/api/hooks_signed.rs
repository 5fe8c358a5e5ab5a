//! Who may send: signatures, secrets that are missing or replaced, handshakes.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

use crate::common::{START, World};
use crate::hooks_bad::refused;

pub(crate) const SIGNED: &str = "\
name: signed
on:
  webhook: {path: /hooks/stripe, verify: stripe, secret: \"${{ secrets.STRIPE }}\"}
steps:
  - {id: note, set: {n: 1}}
";

/// HMAC-SHA256 in hexadecimal digits.
pub(crate) fn digits(secret: &str, text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    semel_store::blob::hex(&mac.finalize().into_bytes())
}

pub(crate) fn signature(secret: &str, time: i64, body: &str) -> String {
    let digits = digits(secret, &format!("{time}.{body}"));
    format!("t={time},v1={digits}")
}

#[tokio::test]
async fn signatures() {
    let world = World::new().await;
    world.environment.put("STRIPE", "whsec_a");
    world.deploy(SIGNED).await;
    let body = r#"{"id":"evt_1","created":1767225600}"#;
    let now = START.0 / 1000;
    let good = signature("whsec_a", now, body);
    let mut flipped = good.clone().into_bytes();
    let last = flipped.len() - 1;
    flipped[last] = if flipped[last] == b'0' { b'1' } else { b'0' };
    let flipped = String::from_utf8(flipped).unwrap();
    let json = ("content-type", "application/json");
    let mut texts = Vec::new();
    for (headers, body, what) in [
        (vec![json], body, "missing"),
        (
            vec![
                json,
                ("stripe-signature", &good),
                ("stripe-signature", &good),
            ],
            body,
            "doubled",
        ),
        (
            vec![json, ("stripe-signature", "t=1,v1=zz")],
            body,
            "not hex",
        ),
        (
            vec![json, ("stripe-signature", &*flipped)],
            body,
            "one bit off",
        ),
        (
            vec![json, ("stripe-signature", &*good)],
            r#"{"created":1767225600,"id":"evt_1"}"#,
            "re-serialised",
        ),
        (
            vec![json, ("stripe-signature", "t=abc,v1=00")],
            body,
            "timestamp abc",
        ),
        (
            vec![
                json,
                ("stripe-signature", &signature("whsec_a", -now, body)),
            ],
            body,
            "negative timestamp",
        ),
        (
            vec![json, ("stripe-signature", &signature("whsec_b", now, body))],
            body,
            "another secret",
        ),
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
    let now = START.0 / 1000;
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
    world.environment.put("STRIPE", "");
    refused(&world, &deliver("").await, "503 hook_not_ready", "empty").await;
    world.environment.put("STRIPE", "old");
    refused(
        &world,
        &deliver("new").await,
        "401 signature_refused",
        "old",
    )
    .await;
    world.environment.put("STRIPE", "new");
    assert_eq!(deliver("new").await.status, 202);
    let old = deliver("old").await;
    assert_eq!(old.gist(), "401 signature_refused", "replaced");
    world.environment.remove("STRIPE");
    assert_eq!(deliver("new").await.gist(), "503 hook_not_ready");
}

#[tokio::test]
async fn slack_is_answered_its_challenge_only_if_it_is_slack() {
    let world = World::new().await;
    world.environment.put("SLACK", "hush");
    let source = SIGNED.replace("stripe", "slack").replace("STRIPE", "SLACK");
    world.deploy(&source).await;
    let body = r#"{"type":"url_verification","challenge":"say this"}"#;
    let time = (START.0 / 1000).to_string();
    let digits = digits("hush", &format!("v0:{time}:{body}"));
    let signature = format!("v0={digits}");
    let headers = [
        ("content-type", "application/json"),
        ("x-slack-request-timestamp", &*time),
        ("x-slack-signature", &*signature),
    ];
    let answer = world.deliver("/hooks/slack", &headers, body).await;
    assert_eq!(answer.json(), json!({"challenge":"say this"}));
    let answer = world.deliver("/hooks/slack", &headers[..2], body).await;
    refused(&world, &answer, "401 signature_refused", "unsigned").await;
}
