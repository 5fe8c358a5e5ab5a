use aho_corasick::AhoCorasickKind;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use semel_flow::Value;

use crate::{Answer, Failure, FailureClass, Outcome, Redactor, SecretSet};

const MARK: &str = "[secret S]";

fn redactor(secret: &str) -> Redactor {
    SecretSet::from_iter([("S", secret)]).redactor().clone()
}

#[test]
fn a_secret_is_found_in_every_form() {
    let secret = "p/w+ ö<\"42";
    let redactor = redactor(secret);
    for text in [
        format!("<{secret}>"),
        "?q=p%2Fw%2B%20%C3%B6%3C%2242&".to_owned(),
        "?q=p%2fw%2b%20%c3%b6%3c%2242&".to_owned(),
        "q=p%2Fw%2B+%C3%B6%3C%2242".to_owned(),
        "/p/w%2B%20%C3%B6%3C%2242/".to_owned(),
        r#"{"a":"p/w+ ö<\"42"}"#.to_owned(),
        r#"{"a":"p\/w+ \u00f6<\"42"}"#.to_owned(),
        r#"{"a":"p/w+ ö\u003c\"42"}"#.to_owned(),
        r#"{"a":"p/w+ \u00F6<\"42"}"#.to_owned(),
        r#"{"a":"{\"b\":\"p/w+ ö<\\\"42\"}"}"#.to_owned(),
        STANDARD.encode(secret),
        format!("Basic {}", STANDARD.encode(format!("user:{secret}"))),
        STANDARD.encode(format!("u:{secret} and more")),
        URL_SAFE_NO_PAD.encode(format!("us:{secret}")),
    ] {
        let clean = redactor.text(&text);
        assert!(clean.contains(MARK), "{text} -> {clean}");
    }
    assert_eq!(redactor.text("nothing here"), "nothing here");
}

#[test]
fn values_are_searched_everywhere() {
    let secrets = SecretSet::from_iter([("K", "k12345678"), ("N", "912345678")]);
    let value = Value::read(br#"{"k12345678":["k12345678",{"a":1},912345678],"n":12}"#).unwrap();
    let clean = secrets.redactor().value(value).to_json();
    assert_eq!(
        clean,
        r#"{"[secret K]":["[secret K]",{"a":1},"[secret N]"],"n":12}"#
    );
}

#[test]
fn every_part_of_an_outcome_is_searched() {
    let answer = || Answer {
        names: Value::map([("body", Value::text("a canary!"))]),
        result: Value::text("a canary!"),
    };
    let message = || "said canary".to_owned();
    for outcome in [
        Outcome::Done(answer()),
        Outcome::Failed(Failure {
            class: FailureClass::Refused,
            message: message(),
            retry_after: None,
            answer: Some(answer()),
        }),
        Outcome::Unknown {
            message: message(),
            evidence: Some(answer()),
        },
    ] {
        let shown = format!("{:?}", redactor("canary").outcome(outcome));
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains(MARK), "{shown}");
    }
}

#[test]
fn short_secrets_are_not_looked_for() {
    assert_eq!(redactor("abc").text("abc"), "abc");
    assert_eq!(redactor("abcd").text("xabcdx"), "x[secret S]x");
    assert_eq!(redactor("").text("a"), "a");
}

#[test]
fn a_longer_secret_goes_first() {
    let secrets = SecretSet::from_iter([("A", "secret"), ("B", "secret-and-more")]);
    let redactor = secrets.redactor();
    assert_eq!(redactor.text("secret-and-more"), "[secret B]");
    assert_eq!(redactor.text("secret-and"), "[secret A]-and");
}

#[test]
fn a_long_secret_is_found_too() {
    // As a private key is: lines of letters that do not repeat.
    let noise = (0u32..80).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes());
    let line = |bytes: [u8; 4]| format!("{}/+\n", STANDARD.encode(bytes.repeat(9)));
    let secret: String = noise.map(line).collect();
    let redactor = redactor(&secret);
    for text in [secret.clone(), STANDARD.encode(format!("x{secret}"))] {
        let clean = redactor.text(&text);
        assert!(clean.contains(MARK) && clean.len() < 20, "{clean}");
    }
    let json = Value::text(&secret).to_json();
    assert_eq!(redactor.text(&json), format!("\"{MARK}\""));
}

/// Making a DFA follows every place of a repetitive secret back to its beginning, for every letter: the
/// square of its length. However few secrets there are, none is made.
#[test]
fn a_repetitive_secret_costs_no_more_than_its_letters() {
    for unit in ["a", "ab", "aab/", "0"] {
        let secret = unit.repeat(1024 / unit.len());
        let redactor = redactor(&secret);
        let kind = redactor.0.as_ref().unwrap().kind();
        assert_eq!(kind, AhoCorasickKind::ContiguousNFA, "{unit}");
        assert_eq!(redactor.text(&format!("<{secret}>")), format!("<{MARK}>"));
    }
    // The largest that is looked for.
    let secret = "a".repeat(64 * 1024);
    let redactor = redactor(&secret);
    assert_eq!(redactor.text(&secret), MARK);
    assert_eq!(redactor.text(&secret[1..]), &secret[1..]);
}

proptest! {
    #[test]
    fn base64_hides_nothing(before in "[ -~]{0,7}", secret in "[ -~]{4,20}", after in "[ -~]{0,7}") {
        let text = STANDARD.encode(format!("{before}{secret}{after}"));
        let clean = redactor(&secret).text(&text).into_owned();
        prop_assert!(clean.contains(MARK), "{} -> {}", text, clean);
    }

    /// Cutting and putting in never breaks what stands around a secret.
    #[test]
    fn what_is_no_secret_stays(before in "[a-m ö]{0,9}", after in "[a-m ö]{0,9}") {
        let text = format!("{before}XYZW{after}");
        let clean = redactor("XYZW").text(&text).into_owned();
        prop_assert_eq!(clean, format!("{before}{MARK}{after}"));
    }
}
