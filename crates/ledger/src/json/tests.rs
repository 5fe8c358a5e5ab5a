use super::*;
use proptest::prelude::*;

fn canonical(text: &str) -> String {
    Canonical::read(text.as_bytes())
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .as_str()
        .to_owned()
}

#[test]
fn one_value_has_one_spelling() {
    for (text, expected) in [
        (
            " { \"b\" : 1 , \"a\" : [ true , null ] } ",
            r#"{"a":[true,null],"b":1}"#,
        ),
        ("\u{feff}{}", "{}"),
        (r#""\u00e9\/\u0041\n\u001f""#, "\"é/A\\n\\u001f\""),
        (r#""\ud83d\ude00""#, "\"😀\""),
        // RFC 8785, section 3.2.3: the order is by UTF-16 code units.
        (
            r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#,
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}",
        ),
        (
            r#"{"a":{"z":1,"y":2},"A":[]}"#,
            r#"{"A":[],"a":{"y":2,"z":1}}"#,
        ),
    ] {
        assert_eq!(canonical(text), expected);
    }
}

#[test]
fn numbers_keep_their_value() {
    for (text, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("0.000e5", "0"),
        ("1.0", "1"),
        ("10e-1", "1"),
        ("100", "100"),
        ("9007199254740993", "9007199254740993"),
        ("1234567890123456789", "1234567890123456789"),
        ("1234567890123456788", "1234567890123456788"),
        ("0.1", "0.1"),
        ("0.10", "0.1"),
        (
            "3.141592653589793238462643383279",
            "3.141592653589793238462643383279",
        ),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        (
            "123456789012345678901234567890",
            "1.2345678901234567890123456789e+29",
        ),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("-1.5E+3", "-1500"),
        ("1e308", "1e+308"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn wrong_json_is_refused_with_its_offset() {
    let deep = "[".repeat(MAX_DEPTH + 1);
    let fits = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert_eq!(canonical(&fits), fits);
    for (bytes, offset, message) in [
        (&b""[..], 0, "empty"),
        (b"  ", 2, "empty"),
        (b"{\"a\":1", 6, "ends in the middle"),
        (b"[1,2", 4, "ends in the middle"),
        (b"\"abc", 4, "ends in the middle"),
        (b"{\"a\":1} x", 8, "follows the end"),
        (b"[1,]", 3, "unexpected character ']'"),
        (b"{a:1}", 1, "unexpected character 'a'"),
        (b"nul", 3, "ends in the middle"),
        (b"NaN", 0, "unexpected character 'N'"),
        (b"-", 1, "ends in the middle"),
        (b"01", 1, "unexpected character '1'"),
        (b"1.", 2, "ends in the middle"),
        (b"1e", 2, "ends in the middle"),
        (b"1e+x", 3, "unexpected character 'x'"),
        (b"[1e400]", 1, "beyond 1e"),
        (b"1e-400", 0, "beyond 1e"),
        (b"1e99999999999999999999", 0, "beyond 1e"),
        (b"\"\xff\"", 1, "UTF-8"),
        (b"\"\\u0000\"", 1, "U+0000"),
        (b"\"\\ud800\"", 1, "surrogate"),
        (b"\"\\ud800\\u0041\"", 1, "surrogate"),
        (b"\"\\udc00\"", 1, "surrogate"),
        (b"\"\\x\"", 1, "escape"),
        (b"\"\\u12g4\"", 5, "unexpected character 'g'"),
        (b"\"a\nb\"", 2, "unexpected character '\\n'"),
        (
            b"{\"a\":1,\"b\":2,\"\\u0061\":3}",
            13,
            "\"a\" appears twice",
        ),
        (deep.as_bytes(), MAX_DEPTH, "more than 64 levels"),
    ] {
        let error = Canonical::read(bytes).expect_err(&String::from_utf8_lossy(bytes));
        assert_eq!(
            error.offset,
            offset,
            "{}: {error}",
            String::from_utf8_lossy(bytes)
        );
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn differences_name_places_and_no_values() {
    for (a, b, expected) in [
        (
            r#"{"a":1,"b":{"c":2}}"#,
            r#"{"b":{"c":3},"a":1}"#,
            vec!["/b/c"],
        ),
        (r#"{"a":1}"#, r#"{"b":1}"#, vec!["/a", "/b"]),
        (r#"{"x":[1,2,3]}"#, r#"{"x":[1,5]}"#, vec!["/x/1", "/x/2"]),
        (r#"{"a/b~c":"s}\","}"#, r#"{"a/b~c":"t"}"#, vec!["/a~1b~0c"]),
        ("1", r#"{"a":1}"#, vec![""]),
        (r#"{"a":[]}"#, r#"{"a":[]}"#, vec![]),
        (
            r#"{"a":{},"b":[[],{}]}"#,
            r#"{"a":{},"b":[[],{"k":1}]}"#,
            vec!["/b/1/k"],
        ),
    ] {
        let read = |text: &str| Canonical::read(text.as_bytes()).expect("valid");
        assert_eq!(differences(&read(a), &read(b), 16), expected, "{a} {b}");
    }
    let wide =
        |n: u32| Canonical::read(format!("[{}]", vec![n.to_string(); 40].join(",")).as_bytes());
    assert_eq!(
        differences(&wide(1).expect("valid"), &wide(2).expect("valid"), 16).len(),
        16
    );
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        (any::<i32>(), -20..20i32).prop_map(|(n, e)| format!("{n}e{e}")),
        "[a-z\\u{e0}-\\u{ff}\u{1F600}]{0,6}".prop_map(|s| format!("\"{s}\"")),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::btree_map("[a-z\u{e9}]{1,4}", inner, 0..5).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .rev()
                    .map(|(k, v)| format!("\"{k}\" :{v}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn reading_canonical_text_changes_nothing(text in any_json()) {
        let once = canonical(&text);
        prop_assert_eq!(canonical(&once), once.clone());
        let value = Canonical::read(text.as_bytes()).expect("valid");
        prop_assert!(differences(&value, &value, 16).is_empty());
    }

    #[test]
    fn different_values_differ_somewhere(a in any_json(), b in any_json()) {
        let (a, b) = (Canonical::read(a.as_bytes()).expect("valid"), Canonical::read(b.as_bytes()).expect("valid"));
        prop_assert_eq!(differences(&a, &b, 16).is_empty(), a == b);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Canonical::read(&bytes);
    }

    #[test]
    fn mutated_json_is_read_or_refused(text in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(value) = Canonical::read(&bytes) {
            prop_assert_eq!(Canonical::read(value.as_str().as_bytes()).expect("own text"), value);
        }
    }
}

#[test]
fn sums_are_exact() {
    let read = |text: &str| Canonical::read(text.as_bytes()).expect(text);
    for (a, b, expected) in [
        ("1", "2", Some("3")),
        ("0", "0", Some("0")),
        ("999", "1", Some("1000")),
        ("5", "-5", Some("0")),
        ("3", "-5", Some("-2")),
        ("-3", "-5", Some("-8")),
        ("-3", "5", Some("2")),
        ("0.1", "0.2", Some("0.3")),
        ("100", "-0.01", Some("99.99")),
        ("9007199254740993", "1", Some("9007199254740994")),
        ("9223372036854775807", "1", Some("9223372036854775808")),
        (
            "123456789012345678901234567890",
            "1",
            Some("1.2345678901234567890123456789100e+29"),
        ),
        ("1e-7", "-1e-7", Some("0")),
        ("9e308", "9e308", None),
        ("\"1\"", "1", None),
        ("1", "null", None),
        ("[1]", "1", None),
    ] {
        let expected = expected.map(read);
        assert_eq!(sum(&read(a), &read(b)), expected, "{a} + {b}");
        assert_eq!(sum(&read(b), &read(a)), expected, "{b} + {a}");
    }
}

proptest! {
    #[test]
    fn sums_of_whole_numbers_are_those_of_the_machine(a: i64, b: i64) {
        let read = |number: i128| Canonical::read(number.to_string().as_bytes()).expect("a number");
        let both = i128::from(a) + i128::from(b);
        prop_assert_eq!(sum(&read(a.into()), &read(b.into())), Some(read(both)));
    }
}
