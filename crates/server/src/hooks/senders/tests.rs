//! Where each sender's events say what and when they are.

use axum::http::{HeaderName, HeaderValue};
use http_body_util::BodyExt as _;

use super::*;

fn map(headers: &[(&str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name: HeaderName = name.parse().unwrap();
        map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    map
}

fn value(json: &str) -> Value {
    Value::read(json.as_bytes()).unwrap()
}

fn id(preset: Preset, headers: &[(&str, &str)], json: &str) -> Result<Option<String>, Code> {
    let found = Sender::of(preset).event_id(&map(headers), &value(json));
    found
        .map(|key| key.map(|key| key.as_str().to_owned()))
        .map_err(|problem| problem.code)
}

#[test]
fn events_are_known_by_what_their_sender_repeats() {
    let shopify = [
        ("x-shopify-topic", "orders/paid"),
        ("x-shopify-event-id", "98880550"),
        ("x-shopify-webhook-id", "b54557e4"),
    ];
    for (preset, headers, json, expected) in [
        (Preset::Stripe, &[][..], r#"{"id":"evt_1"}"#, Some("evt_1")),
        (Preset::Stripe, &[("idempotency-key", "x")], "{}", None),
        (
            Preset::Github,
            &[("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")],
            r#"{"id":7}"#,
            Some("72d3162e-cc78-11e3-81ab-4c9367dc0958"),
        ),
        (
            Preset::Shopify,
            &shopify,
            "{}",
            Some("orders%2Fpaid/98880550"),
        ),
        (Preset::Shopify, &shopify[1..], "{}", Some("98880550")),
        (Preset::Shopify, &shopify[2..], "{}", Some("b54557e4")),
        (
            Preset::Slack,
            &[],
            r#"{"event_id":"Ev1","trigger_id":"t"}"#,
            Some("Ev1"),
        ),
        (
            Preset::Slack,
            &[],
            r#"{"trigger_id":"3.4.5"}"#,
            Some("3.4.5"),
        ),
        (Preset::Slack, &[], r#"{"type":"view_closed"}"#, None),
        (
            Preset::StandardWebhooks,
            &[("webhook-id", "msg_1")],
            r#"{"id":"other"}"#,
            Some("msg_1"),
        ),
        (Preset::Typeform, &[], r#"{"event_id":"01H"}"#, Some("01H")),
        (
            Preset::Bearer,
            &[("idempotency-key", "\"a b\""), ("x-event-id", "x")],
            "{}",
            Some("a b"),
        ),
        (Preset::GenericHmac, &[("x-event-id", "x")], "{}", Some("x")),
        (Preset::None, &[], r#"{"id":"order-1"}"#, None),
        (Preset::None, &[], "[1]", None),
        (Preset::Stripe, &[], r#"{"id":null}"#, None),
        (Preset::Stripe, &[], r#"{"id":12}"#, Some("12")),
    ] {
        let expected = expected.map(str::to_owned);
        assert_eq!(id(preset, headers, json), Ok(expected), "{preset:?} {json}");
    }
}

#[test]
fn identities_that_cannot_be_one_are_refused() {
    let long = "x".repeat(256);
    let long = [("x-event-id", long.as_str())];
    for (preset, headers, json, code) in [
        (
            Preset::None,
            &[("x-event-id", "")][..],
            "{}",
            Code::KeyMissing,
        ),
        (
            Preset::None,
            &[("idempotency-key", "\"\"")],
            "{}",
            Code::KeyMissing,
        ),
        (
            Preset::None,
            &[("idempotency-key", "\"a")],
            "{}",
            Code::KeyInvalid,
        ),
        (
            Preset::None,
            &[("x-event-id", "a"), ("x-event-id", "b")],
            "{}",
            Code::KeyInvalid,
        ),
        (Preset::None, &long, "{}", Code::KeyInvalid),
        (
            Preset::None,
            &[("x-event-id", "a\tb")],
            "{}",
            Code::KeyInvalid,
        ),
        (Preset::Stripe, &[], r#"{"id":"  "}"#, Code::KeyMissing),
        (Preset::Stripe, &[], r#"{"id":"a\nb"}"#, Code::KeyInvalid),
        (Preset::Stripe, &[], r#"{"id":1.5}"#, Code::KeyInvalid),
        (Preset::Stripe, &[], r#"{"id":{}}"#, Code::KeyInvalid),
        (Preset::Stripe, &[], r#"{"id":true}"#, Code::KeyInvalid),
    ] {
        assert_eq!(id(preset, headers, json), Err(code), "{headers:?} {json}");
    }
    let latin = HeaderMap::from_iter([(
        HeaderName::from_static("x-event-id"),
        HeaderValue::from_bytes(b"\xe9").unwrap(),
    )]);
    let refused = Sender::of(Preset::None).event_id(&latin, &Value::Null);
    assert_eq!(refused.unwrap_err().code, Code::KeyInvalid);
}

#[test]
fn events_say_when_they_happened() {
    let instant = Some(Time(1_700_000_000_000));
    let text = "2023-11-14T22:13:20Z";
    let shopify = [("x-shopify-triggered-at", text)];
    for (preset, headers, json, expected) in [
        (
            Preset::Stripe,
            &[][..],
            r#"{"created":1700000000}"#.to_owned(),
            instant,
        ),
        (
            Preset::Stripe,
            &[],
            format!(r#"{{"created":"{text}"}}"#),
            instant,
        ),
        (
            Preset::Stripe,
            &[],
            r#"{"created":9223372036854775807}"#.into(),
            None,
        ),
        (Preset::Stripe, &[], r#"{"created":[]}"#.into(), None),
        (Preset::Shopify, &shopify, "{}".into(), instant),
        (
            Preset::Slack,
            &[],
            r#"{"event_time":1700000000}"#.into(),
            instant,
        ),
        (
            Preset::StandardWebhooks,
            &[("webhook-timestamp", "1")],
            format!(r#"{{"timestamp":"{text}"}}"#),
            instant,
        ),
        (
            Preset::Typeform,
            &[],
            format!(r#"{{"form_response":{{"submitted_at":"{text}"}}}}"#),
            instant,
        ),
        (
            Preset::Github,
            &[],
            format!(r#"{{"timestamp":"{text}"}}"#),
            None,
        ),
        (
            Preset::None,
            &shopify,
            format!(r#"{{"timestamp":"{text}"}}"#),
            None,
        ),
    ] {
        let found = Sender::of(preset).event_time(&map(headers), &value(&json));
        assert_eq!(found, expected, "{preset:?} {json}");
    }
}

#[tokio::test]
async fn handshakes_are_told_from_events_and_answered() {
    let challenge = r#"{"type":"url_verification","token":"t","challenge":"3eZb\"rw"}"#;
    let ping = [("x-github-event", "ping")];
    let push = [("x-github-event", "push")];
    for (preset, headers, json, expected) in [
        (
            Preset::Slack,
            &[][..],
            challenge,
            Some(r#"{"challenge":"3eZb\"rw"}"#),
        ),
        (Preset::Slack, &[], r#"{"type":"url_verification"}"#, None),
        (Preset::Slack, &[], r#"{"type":"event_callback"}"#, None),
        (
            Preset::Slack,
            &[],
            r#"{"ssl_check":"1"}"#,
            Some(r#"{"status":"ignored"}"#),
        ),
        (Preset::Stripe, &[], challenge, None),
        (Preset::None, &ping, challenge, None),
        (Preset::Github, &ping, "{}", Some(r#"{"status":"ignored"}"#)),
        (Preset::Github, &push, "{}", None),
        (Preset::Github, &[], "{}", None),
    ] {
        let asked = Sender::of(preset).handshake(&map(headers), &value(json));
        let answer = match asked {
            None => None,
            Some(asked) => {
                let response = asked.answer();
                assert_eq!(response.status(), StatusCode::OK);
                let body = response.into_body().collect().await.unwrap().to_bytes();
                Some(String::from_utf8(body.to_vec()).unwrap())
            }
        };
        assert_eq!(answer.as_deref(), expected, "{preset:?} {json}");
    }
}
