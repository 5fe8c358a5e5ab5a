//! What the senders' own libraries sign is believed, and nothing that differs from it by one bit.

use std::path::Path;
use std::process::{Command, Stdio};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use semel_flow::model::Preset;
use semel_ledger::Time;
use serde::Deserialize;

use super::tests::{map, verifier};

/// A request as a library signed it.
#[derive(Deserialize)]
struct Signed {
    preset: String,
    secret: String,
    headers: Vec<(String, String)>,
    body: String,
    /// In seconds.
    now: i64,
}

fn signed() -> Vec<Signed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(root.join("scripts/sign-officially"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The bytes with each of their bits turned in turn.
fn turned(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len() * 8).map(|bit| {
        let mut turned = bytes.to_vec();
        turned[bit / 8] ^= 1 << (bit % 8);
        turned
    })
}

impl Signed {
    fn headers(&self) -> HeaderMap {
        map(self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())))
    }

    /// Every header with each of its bits turned, as far as it is still one that can be sent.
    fn turned_headers(&self) -> impl Iterator<Item = HeaderMap> {
        self.headers.iter().flat_map(move |(name, value)| {
            let name: HeaderName = name.parse().unwrap();
            let values = turned(value.as_bytes());
            let sendable = values.filter_map(|value| HeaderValue::from_bytes(&value).ok());
            sendable.map(move |value| {
                let mut headers = self.headers();
                headers.insert(name.clone(), value);
                headers
            })
        })
    }
}

#[test]
fn what_official_libraries_sign_is_believed_to_the_last_bit() {
    let mut presets = Vec::new();
    for request in signed() {
        let mut known = Preset::ALL.into_iter();
        let preset = known.find(|preset| preset.name() == request.preset);
        let preset = preset.unwrap();
        let verifier = verifier(preset, &[&request.secret]);
        let (headers, body) = (request.headers(), request.body.as_bytes());
        let now = Time(request.now * 1_000);
        let shown = format!("{preset:?} {:?}", request.body);
        assert_eq!(verifier.check(&headers, body, now), Ok(()), "{shown}");
        for turned in turned(body) {
            assert!(verifier.check(&headers, &turned, now).is_err(), "{shown}");
        }
        for turned in request.turned_headers() {
            let refused = verifier.check(&turned, body, now);
            assert!(refused.is_err(), "{shown}: {turned:?}");
        }
        presets.push(preset);
    }
    for preset in [Preset::Stripe, Preset::Slack, Preset::StandardWebhooks] {
        let count = presets.iter().filter(|signed| **signed == preset).count();
        assert!(count >= 5, "{preset:?} signed {count} requests");
    }
}
