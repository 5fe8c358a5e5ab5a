use super::*;
use semel_ledger::Key;

fn key() -> KvKey {
    KvKey::new("k".parse().expect("a key")).expect("short")
}

fn json(text: &str) -> Option<KvValue> {
    let value = Canonical::read(text.as_bytes()).expect(text);
    KvValue::new(value).expect("short")
}

const NOW: Time = Time(1_000);

fn there(text: &str, expires_at: Option<Time>) -> Option<KvEntry> {
    Some(KvEntry {
        key: key(),
        value: json(text)?,
        expires_at,
        changed_at: Time(0),
        by: None,
    })
}

fn done(op: KvOp, before: &str) -> String {
    let entry = there(before, None);
    match op.apply(&key(), entry.as_ref(), NOW) {
        Ok(applied) => applied.result.to_json().into(),
        Err(fault) => fault.to_string(),
    }
}

fn add(by: &str) -> KvOp {
    let by = Canonical::read(by.as_bytes()).expect(by);
    KvOp::Add { by, ttl: None }
}

fn swap(from: &str, to: &str) -> KvOp {
    KvOp::Swap {
        from: json(from),
        to: json(to),
        ttl: None,
    }
}

fn set(to: &str) -> KvOp {
    let to = json(to);
    KvOp::Set { to, ttl: None }
}

fn if_absent(to: &str) -> KvOp {
    let to = json(to);
    KvOp::SetIfAbsent { to, ttl: None }
}

#[test]
fn each_operation_says_what_it_did() {
    for (op, before, expected) in [
        (
            set("1"),
            "null",
            r#"{"before":null,"changed":true,"value":1}"#,
        ),
        (set("1"), "1", r#"{"before":1,"changed":true,"value":1}"#),
        (
            set("null"),
            "1",
            r#"{"before":1,"changed":true,"value":null}"#,
        ),
        (
            set("null"),
            "null",
            r#"{"before":null,"changed":false,"value":null}"#,
        ),
        (
            if_absent("1"),
            "null",
            r#"{"before":null,"changed":true,"value":1}"#,
        ),
        (
            if_absent("1"),
            "false",
            r#"{"before":false,"changed":false,"value":false}"#,
        ),
        (
            swap("1.0", "2"),
            "1",
            r#"{"before":1,"changed":true,"value":2}"#,
        ),
        (
            swap("1", "2"),
            "3",
            r#"{"before":3,"changed":false,"value":3}"#,
        ),
        (
            swap("null", "2"),
            "null",
            r#"{"before":null,"changed":true,"value":2}"#,
        ),
        (
            swap("null", "2"),
            "1",
            r#"{"before":1,"changed":false,"value":1}"#,
        ),
        (
            swap("1", "null"),
            "1",
            r#"{"before":1,"changed":true,"value":null}"#,
        ),
        (
            add("1"),
            "null",
            r#"{"before":null,"changed":true,"value":1}"#,
        ),
        (
            add("-0.5"),
            "2",
            r#"{"before":2,"changed":true,"value":1.5}"#,
        ),
        (
            add("1"),
            "9007199254740992",
            r#"{"before":9007199254740992,"changed":true,"value":9007199254740993}"#,
        ),
        (
            add("1"),
            "\"a\"",
            "under `k` is text, and `add` needs a number there",
        ),
        (
            add("1"),
            "[1]",
            "under `k` is a list, and `add` needs a number there",
        ),
        (
            add("9e308"),
            "9e308",
            "the sum under `k` would be over 1e308",
        ),
    ] {
        assert_eq!(done(op.clone(), before), expected, "{op:?} of {before}");
    }
}

#[test]
fn a_counter_ends_when_it_would_have_ended() {
    let add = || KvOp::Add {
        by: Canonical::trusted("1".into()),
        ttl: Some(Millis(10)),
    };
    let expires = |entry: Option<KvEntry>| {
        let applied = add().apply(&key(), entry.as_ref(), NOW);
        applied.expect("a number").expires_at
    };
    assert_eq!(expires(None), Some(NOW.after(Millis(10))));
    assert_eq!(expires(there("1", Some(Time(1_005)))), Some(Time(1_005)));
    assert_eq!(expires(there("1", None)), None);
}

#[test]
fn a_prefix_ends_where_the_next_text_begins() {
    for (prefix, end) in [
        ("", None),
        ("a", Some("b")),
        ("a/", Some("a0")),
        ("a\u{10FFFF}", Some("b")),
        ("\u{10FFFF}", None),
        ("\u{D7FF}", Some("\u{E000}")),
    ] {
        let filter = KvFilter {
            prefix: prefix.to_owned(),
            ..KvFilter::default()
        };
        assert_eq!(filter.end().as_deref(), end, "{prefix}");
    }
}

#[test]
fn what_is_too_long_is_refused() {
    let long = |bytes: usize| Canonical::trusted(format!("\"{}\"", "x".repeat(bytes - 2)).into());
    assert!(KvValue::new(long(MAX_VALUE_BYTES)).is_ok());
    let bytes = MAX_VALUE_BYTES + 1;
    assert_eq!(KvValue::new(long(bytes)), Err(KvLimit::Value { bytes }));
    let parts = vec!["x".repeat(255); 5];
    let key = Key::from_parts(&parts).expect("a key");
    assert_eq!(KvKey::new(key), Err(KvLimit::Key { bytes: 1279 }));
}
