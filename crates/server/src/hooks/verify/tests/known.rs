//! Requests whose signatures are known to be right.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use semel_flow::diagnostic::{Span, Spanned};
use semel_flow::model::{Preset, Verify};
use semel_ledger::Time;

use crate::hooks::verify::{Refused, Verifier};

/// What a sender would send, and when.
pub(crate) struct Request {
    pub(crate) preset: Preset,
    pub(crate) secret: &'static str,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: &'static [u8],
    /// In seconds.
    pub(crate) now: i64,
}

pub(crate) fn verify(preset: Preset) -> Verify {
    let span = Span::default();
    Verify {
        preset: Spanned { it: preset, span },
        secrets: Vec::new(),
        header: (preset == Preset::GenericHmac).then(|| "X-Signature".into()),
        encoding: None,
        prefix: None,
        tolerance: None,
    }
}

pub(crate) fn verifier(preset: Preset, secrets: &[&str]) -> Verifier {
    let secrets: Vec<Arc<str>> = secrets.iter().map(|secret| (*secret).into()).collect();
    Verifier::new(&verify(preset), &secrets).unwrap()
}

pub(crate) fn map<'h>(headers: impl IntoIterator<Item = (&'h str, &'h str)>) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name: HeaderName = name.parse().unwrap();
        map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    map
}

impl Request {
    pub(crate) fn check(&self) -> Result<(), Refused> {
        let verifier = verifier(self.preset, &[self.secret]);
        let headers = map(self.headers.iter().copied());
        verifier.check(&headers, self.body, Time(self.now * 1_000))
    }

    /// The same with another value in that header; without it if there is none.
    pub(crate) fn with(&self, header: &'static str, value: Option<&'static str>) -> Request {
        let others = self.headers.iter().filter(|(name, _)| *name != header);
        let changed = value.map(|value| (header, value));
        Request {
            headers: others.copied().chain(changed).collect(),
            ..*self
        }
    }
}

const SLACK_COMMAND: &[u8] = b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";

/// One for each preset that signs. GitHub's and Slack's are in their documentation, Standard
/// Webhooks' in its test suite; the others were made with Stripe's library and Python's hmac.
pub(crate) fn known_answers() -> Vec<Request> {
    vec![
        Request {
            preset: Preset::Stripe,
            secret: "whsec_first",
            headers: vec![(
                "stripe-signature",
                "t=1700000000,v1=eb1b04e3d4f715733e5571b4514de8c6d906ff8cb7c830f9b62b77615e5df5f2",
            )],
            body: br#"{"id":"evt_1","created":1700000000}"#,
            now: 1_700_000_010,
        },
        Request {
            preset: Preset::Github,
            secret: "It's a Secret to Everybody",
            headers: vec![(
                "x-hub-signature-256",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
            )],
            body: b"Hello, World!",
            now: 0,
        },
        Request {
            preset: Preset::Shopify,
            secret: "hush",
            headers: vec![(
                "x-shopify-hmac-sha256",
                "qBvrsZF7RfB1iS6BX6IHqJTp5L911P7intnPeTPsH0I=",
            )],
            body: br#"{"id":820982911946154508}"#,
            now: 0,
        },
        Request {
            preset: Preset::Slack,
            secret: "8f742231b10e8888abcd99yyyzzz85a5",
            headers: vec![
                (
                    "x-slack-signature",
                    "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
                ),
                ("x-slack-request-timestamp", "1531420618"),
            ],
            body: SLACK_COMMAND,
            now: 1_531_420_620,
        },
        Request {
            preset: Preset::StandardWebhooks,
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            headers: vec![
                (
                    "webhook-signature",
                    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                ),
                ("webhook-timestamp", "1614265330"),
                ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ],
            body: br#"{"test": 2432232314}"#,
            now: 1_614_265_330,
        },
        Request {
            preset: Preset::Typeform,
            secret: "hush",
            headers: vec![(
                "typeform-signature",
                "sha256=lkavP+vI47MDFKuQPV+YLjEFEudAsx3udbZSNc6OsDo=",
            )],
            body: br#"{"event_id":"01H","event_type":"form_response"}"#,
            now: 0,
        },
        Request {
            preset: Preset::GenericHmac,
            secret: "hush",
            headers: vec![(
                "x-signature",
                "1b255dc45499c42b3c97c69f53a2fc712f91770992bfadf8d7a31d45b811f313",
            )],
            body: br#"{"n":1}"#,
            now: 0,
        },
        Request {
            preset: Preset::Bearer,
            secret: "hush",
            headers: vec![("authorization", "Bearer hush")],
            body: b"",
            now: 0,
        },
    ]
}
