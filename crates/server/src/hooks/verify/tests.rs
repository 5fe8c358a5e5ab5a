//! Signatures that must be believed, and all that must not.

mod known;

use axum::http::HeaderValue;
use axum::response::IntoResponse as _;
use http_body_util::BodyExt as _;
use proptest::prelude::*;

use self::known::known_answers;
use self::known::verify;
pub(super) use self::known::{map, verifier};
use super::*;

#[test]
fn known_signatures_are_believed() {
    for request in known_answers() {
        assert_eq!(request.check(), Ok(()), "{:?}", request.preset);
    }
    let nobody = verifier(Preset::None, &[]);
    assert_eq!(nobody.check(&HeaderMap::new(), b"x", Time(0)), Ok(()));
}

#[test]
fn every_header_must_be_there_once() {
    for request in known_answers() {
        for (name, value) in request.headers.clone() {
            let header: HeaderName = name.parse().unwrap();
            let missing = request.with(name, None).check();
            let expected = Refused::Missing {
                header: header.clone(),
            };
            assert_eq!(missing, Err(expected), "{:?}", request.preset);
            let mut doubled = request.with(name, Some(value));
            doubled.headers.push((name, value));
            assert_eq!(doubled.check(), Err(Refused::Doubled { header }));
        }
    }
}

#[test]
fn what_is_not_of_the_form_is_refused() {
    const HEX: &str = "sha256=757107EA0EB2509FC211221CCE984B8A37570B6D7586C22C46F4379C8B043E17";
    let known = known_answers();
    for (preset, header, values) in [
        (
            Preset::Stripe,
            "stripe-signature",
            &[
                "",
                "v1",
                "t=1700000000",
                "v1=eb1b04e3d4f715733e5571b4514de8c6d906ff8cb7c830f9b62b77615e5df5f2",
                "t=1700000000,v1=xyz",
                "t=1700000000,v0=eb1b04e3d4f715733e5571b4514de8c6d906ff8cb7c830f9b62b77615e5df5f2",
                "t=abc,v1=eb1b04e3d4f715733e5571b4514de8c6d906ff8cb7c830f9b62b77615e5df5f2",
                "t=-1,v1=eb1b04e3d4f715733e5571b4514de8c6d906ff8cb7c830f9b62b77615e5df5f2",
                "t=1,t=1700000000,v1=eb1b04e3d4f715733e5571b4514de8c6d906ff8cb7c830f9b62b77615e5df5f2",
            ][..],
        ),
        (
            Preset::Github,
            "x-hub-signature-256",
            &["", "sha256=", "sha256=zz", "sha1=757107", HEX, "\u{e9}"],
        ),
        (
            Preset::Shopify,
            "x-shopify-hmac-sha256",
            &[
                "",
                "====",
                "qBvrsZF7RfB1iS6BX6IHqJTp5L911P7intnPeTPsH0I",
                "aGk=",
            ],
        ),
        (Preset::Slack, "x-slack-signature", &["", "v0=", "v1=00"]),
        (
            Preset::Slack,
            "x-slack-request-timestamp",
            &[
                "",
                "abc",
                "-1531420618",
                "+1531420618",
                "1531420618.0",
                "9999999999999",
            ],
        ),
        (
            Preset::StandardWebhooks,
            "webhook-timestamp",
            &["abc", "-1614265330", " ", "1614265330.0"],
        ),
        (Preset::StandardWebhooks, "webhook-id", &["", "msg.1"]),
        (
            Preset::StandardWebhooks,
            "webhook-signature",
            &[
                "",
                "v1",
                "v1,",
                "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                "v1a,AAAA",
            ],
        ),
        (Preset::Typeform, "typeform-signature", &["", "sha256=zz"]),
        (Preset::GenericHmac, "x-signature", &["", "zz", "sha256=00"]),
        (Preset::Bearer, "authorization", &["", "hush", "Basic hush"]),
    ] {
        let request = known.iter().find(|one| one.preset == preset).unwrap();
        for value in values {
            let refused = request.with(header, Some(value)).check();
            let header = HeaderName::from_static(header);
            let expected = Err(Refused::Malformed { header });
            assert_eq!(refused, expected, "{preset:?} {value:?}");
        }
    }
}

#[test]
fn one_bit_another_spelling_or_another_secret_is_refused() {
    for request in known_answers() {
        let name = request.preset.name();
        let headers = map(request.headers.iter().copied());
        let now = Time(request.now * 1_000);
        let right = verifier(request.preset, &[request.secret]);
        for (at, bit) in (0..request.body.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut body = request.body.to_vec();
            body[at] ^= 1 << bit;
            let refused = right.check(&headers, &body, now);
            assert_eq!(refused, Err(Refused::Mismatch), "{name} bit {bit} of {at}");
        }
        let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let wrong = verifier(request.preset, &[other]);
        let refused = wrong.check(&headers, request.body, now);
        assert_eq!(refused, Err(Refused::Mismatch), "{name}");
        if request.preset != Preset::Bearer {
            let spelled = [request.body, b"\n"].concat();
            let refused = right.check(&headers, &spelled, now);
            assert_eq!(refused, Err(Refused::Mismatch), "{name} re-serialised");
        }
        let both = verifier(request.preset, &[other, request.secret]);
        assert_eq!(both.check(&headers, request.body, now), Ok(()), "{name}");
        let both = verifier(request.preset, &[request.secret, other]);
        assert_eq!(both.check(&headers, request.body, now), Ok(()), "{name}");
    }
}

#[test]
fn one_right_signature_among_several_is_enough() {
    let stripe = "t=1700000000, v1=0000000000000000000000000000000000000000000000000000000000000000,\
                  v1=eb1b04e3d4f715733e5571b4514de8c6d906ff8cb7c830f9b62b77615e5df5f2,v0=00";
    let standard = "v1a,AAAA v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= \
                    v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let known = known_answers();
    let stripe = known[0].with("stripe-signature", Some(stripe));
    assert_eq!(stripe.check(), Ok(()));
    let standard = known[4].with("webhook-signature", Some(standard));
    assert_eq!(standard.check(), Ok(()));
}

#[test]
fn a_signed_time_may_be_five_minutes_off_to_either_side() {
    let timed = [Preset::Stripe, Preset::Slack, Preset::StandardWebhooks];
    let (timed, timeless): (Vec<_>, Vec<_>) = known_answers()
        .into_iter()
        .partition(|request| timed.contains(&request.preset));
    for request in timed {
        let headers = map(request.headers.iter().copied());
        let verifier = verifier(request.preset, &[request.secret]);
        let text = format!("{:?}", request.headers);
        let digits = |run: &&str| run.len() == 10 && run.starts_with('1');
        let signed = text
            .split(|c: char| !c.is_ascii_digit())
            .find(digits)
            .unwrap();
        let signed = Time(signed.parse::<i64>().unwrap() * 1_000);
        for (off, accepted) in [
            (-300_000, true),
            (300_000, true),
            (-300_001, false),
            (300_001, false),
        ] {
            let now = Time(signed.0 + off);
            let expected = match off {
                _ if accepted => Ok(()),
                ..0 => Err(Refused::Future { signed, now }),
                _ => Err(Refused::Stale { signed, now }),
            };
            let checked = verifier.check(&headers, request.body, now);
            assert_eq!(checked, expected, "{:?} {off}", request.preset);
            // Who cannot sign is not told the time.
            let forged = verifier.check(&headers, b"forged", now);
            assert_eq!(forged, Err(Refused::Mismatch));
        }
    }
    for mut request in timeless {
        request.now = 4_000_000_000;
        assert_eq!(request.check(), Ok(()), "{:?}", request.preset);
    }
}

#[test]
fn the_flow_may_say_how_old_a_signature_may_be() {
    let stripe = &known_answers()[0];
    let mut settings = verify(Preset::Stripe);
    settings.tolerance = Some(Millis::seconds(5));
    let verifier = Verifier::new(&settings, &[stripe.secret.into()]).unwrap();
    let headers = map(stripe.headers.iter().copied());
    let at = |seconds: i64| verifier.check(&headers, stripe.body, Time(seconds * 1_000));
    assert_eq!(at(1_700_000_005), Ok(()));
    assert!(matches!(at(1_700_000_006), Err(Refused::Stale { .. })));
}

#[test]
fn a_generic_sender_is_described_by_the_flow() {
    let hex = "1B255DC45499C42B3C97C69F53A2FC712F91770992BFADF8D7A31D45B811F313";
    let base64 = "GyVdxFSZxCs8l8afU6L8cS+RdwmSv63416MdRbgR8xM=";
    for (encoding, prefix, value) in [
        (None, None, hex.to_owned()),
        (Some("hex"), Some("hmac "), format!("hmac {hex}")),
        (Some("base64"), Some("v1:"), format!("v1:{base64}")),
    ] {
        let settings = Verify {
            header: Some("X-My-Signature".into()),
            encoding: encoding.map(str::to_owned),
            prefix: prefix.map(str::to_owned),
            ..verify(Preset::GenericHmac)
        };
        let verifier = Verifier::new(&settings, &["hush".into()]).unwrap();
        let headers = map([("x-my-signature", value.as_str())]);
        assert_eq!(verifier.check(&headers, br#"{"n":1}"#, Time(0)), Ok(()));
    }
}

#[test]
fn settings_that_would_let_anybody_in_are_refused() {
    let generic = |header: &str, encoding: &str| Verify {
        header: Some(header.into()),
        encoding: Some(encoding.into()),
        ..verify(Preset::GenericHmac)
    };
    for (settings, secrets, message) in [
        (
            verify(Preset::Stripe),
            &[][..],
            "verify: stripe needs a secret, and none is set",
        ),
        (
            verify(Preset::Bearer),
            &["a", ""],
            "secret 2 of verify: bearer is empty",
        ),
        (
            verify(Preset::Github),
            &[""],
            "secret 1 of verify: github is empty",
        ),
        (
            verify(Preset::StandardWebhooks),
            &["whsec_"],
            "secret 1 of verify: standard-webhooks is empty",
        ),
        (
            verify(Preset::StandardWebhooks),
            &["AAAA", "whsec_!"],
            "secret 2 of verify: standard-webhooks is not `whsec_` and base64",
        ),
        (
            generic("", "hex"),
            &["a"],
            "verify: generic-hmac names the header \"\", which cannot be a header's name",
        ),
        (
            generic("a b", "hex"),
            &["a"],
            "verify: generic-hmac names the header \"a b\", which cannot be a header's name",
        ),
        (
            generic("x-a", "base32"),
            &["a"],
            "verify: generic-hmac has the encoding \"base32\"; hex and base64 are known",
        ),
    ] {
        let secrets: Vec<Arc<str>> = secrets.iter().map(|secret| (*secret).into()).collect();
        let refused = Verifier::new(&settings, &secrets).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
    let shown = format!("{:?}", verifier(Preset::Bearer, &["hush"]));
    assert_eq!(shown, "Verifier(token)");
}

async fn answered(refused: Refused) -> (u16, String) {
    let response = Problem::from(refused).into_response();
    let status = response.status().as_u16();
    assert!(response.headers().contains_key("www-authenticate"));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn every_reason_is_answered_alike_but_a_wrong_time() {
    let header = HeaderName::from_static("stripe-signature");
    let [signed, now] = [Time(1_700_000_000_000), Time(1_700_001_000_000)];
    let same = r#"{"type":"/errors/signature_refused","title":"The sender did not prove who it is","status":401,"detail":"the request does not prove that it comes from this hook's sender","code":"signature_refused"}"#;
    for refused in [
        Refused::Missing {
            header: header.clone(),
        },
        Refused::Doubled {
            header: header.clone(),
        },
        Refused::Malformed { header },
        Refused::Mismatch,
    ] {
        assert_eq!(answered(refused).await, (401, same.to_owned()));
    }
    let late = r#"{"type":"/errors/signature_stale","title":"The signature is too old or from the future","status":401,"detail":"signed at 2023-11-14T22:13:20.000Z, which is too far from this server's time 2023-11-14T22:30:00.000Z","code":"signature_stale","fix":"set both clocks by NTP; sign each delivery anew","server_time":"2023-11-14T22:30:00.000Z"}"#;
    for refused in [
        Refused::Stale { signed, now },
        Refused::Future { signed, now },
    ] {
        assert_eq!(answered(refused).await, (401, late.to_owned()));
    }
}

proptest! {
    /// Whatever comes in the headers, nobody is let in by chance and nothing breaks.
    #[test]
    fn no_header_breaks_the_reader(
        values in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..80),
                "(t=[0-9]{0,14},?)?(v[01][,=])?(sha256=)?(Bearer )?[0-9a-f=+/,]{0,70}"
                    .prop_map(String::into_bytes),
            ],
            6,
        ),
        body in proptest::collection::vec(any::<u8>(), 0..64),
        now in any::<i64>(),
    ) {
        for request in known_answers() {
            let verifier = verifier(request.preset, &[request.secret, request.secret]);
            let mut headers = HeaderMap::new();
            for ((name, _), value) in request.headers.iter().zip(&values) {
                if let Ok(value) = HeaderValue::from_bytes(value) {
                    headers.insert(*name, value);
                }
            }
            prop_assert!(verifier.check(&headers, &body, Time(now)).is_err());
        }
    }
}
