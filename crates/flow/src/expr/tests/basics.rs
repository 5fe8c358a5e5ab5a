//! Operators, names, macros.

use super::*;

#[test]
fn arithmetic() {
    check(&[
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 3 - 2", "5"),
        ("2 * 3 % 4", "2"),
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("-7 % 3", "-1"),
        ("7 / 2.0", "3.5"),
        ("double(7) / 2", "3.5"),
        ("4.0 / 2 / 4", "0.5"),
        ("event.amount / 100", "2"),
        ("event.amount / 100.0", "2.5"),
        ("0.1 + 0.2", "0.3"),
        ("0.1 + 0.2 == 0.3", "true"),
        ("1.10 * 3", "3.3"),
        ("12.5 - 12", "0.5"),
        ("-event.price", "-12.5"),
        ("-(-5)", "5"),
        ("5u + 1", "6"),
        ("0x10", "16"),
        ("1e3", "1000"),
        (".5 + 0.50", "1"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        (
            "9223372036854775807 + 1",
            "error: the whole number does not fit 64 bits",
        ),
        (
            "-9223372036854775808 - 1",
            "error: the whole number does not fit 64 bits",
        ),
        (
            "-9223372036854775808 / -1",
            "error: the whole number does not fit 64 bits",
        ),
        (
            "-9223372036854775808 % -1",
            "error: the whole number does not fit 64 bits",
        ),
        (
            "4611686018427387904 * 2",
            "error: the whole number does not fit 64 bits",
        ),
        (
            "-(-9223372036854775807 - 1)",
            "error: the whole number does not fit 64 bits",
        ),
        ("9223372036854775807 + 0.5", "9223372036854775807.5"),
        ("3.14159265358979323846264 + 0", "3.14159265358979323846264"),
        ("1 / 0", "error: division by zero"),
        ("1 % 0", "error: division by zero"),
        ("1.5 / 0", "error: division by zero"),
        ("1.5 % 2", "error: `%` needs whole numbers"),
        ("1e308 * 1e308", "error: the result is not a finite number"),
        ("\"a\" + 'b' + \"\"\"c\"\"\"", "\"abc\""),
        ("[1] + [2, 3] + []", "[1,2,3]"),
        (
            "\"a\" + 1",
            "error: `+` does not go with text and a whole number; write `string(value)`",
        ),
        (
            "1 + event.nothing",
            "error: …write `default(value, fallback)`",
        ),
        (
            "true + 1",
            "error: `+` does not go with a bool and a whole number",
        ),
        (
            "-\"a\"",
            "error: `-` needs a number or a duration, not text",
        ),
    ]);
}

#[test]
fn comparison() {
    check(&[
        ("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", "true"),
        ("1 == 1.0", "true"),
        ("9007199254740993 == 9007199254740992", "false"),
        ("9007199254740993 > 9007199254740992.0", "true"),
        ("9007199254740992.5 < 9007199254740993", "true"),
        ("-1.5 < -1 && -1.5 > -2 && -0.1 < 0 && 0 < 0.1", "true"),
        ("1e300 > 123456789012345678901234567890.5", "true"),
        ("0.10 < 0.2 && 0.09 < 0.1", "true"),
        ("\"a\" < \"b\" && false < true", "true"),
        ("1 == \"1\"", "false"),
        ("event.nothing == null", "true"),
        ("event.ok != false", "true"),
        ("[1, {\"a\": 2}] == [1.0, {\"a\": 2}]", "true"),
        ("[1] == [1, 2]", "false"),
        ("{\"a\": 1} == {\"b\": 1}", "false"),
        ("1 < \"2\"", "error: a whole number and text have no order"),
        ("[1] < [2]", "error: a list and a list have no order"),
        ("null < 1", "error: null and a whole number have no order"),
        ("2 in [1, 2.0]", "true"),
        ("3 in [1, 2]", "false"),
        ("\"id\" in event", "true"),
        ("1 in event", "false"),
        ("\"a\" in \"abc\"", "error: …text.contains(part)"),
        (
            "1 in 5",
            "error: `in` looks into lists and objects, not a whole number",
        ),
    ]);
}

#[test]
fn logic_needs_only_what_decides() {
    check(&[
        ("false && 1 / 0 == 1", "false"),
        ("1 / 0 == 1 && false", "false"),
        ("true || 1 / 0 == 1", "true"),
        ("1 / 0 == 1 || true", "true"),
        ("true && 1 / 0 == 1", "error: division by zero"),
        ("1 / 0 == 1 || false", "error: division by zero"),
        ("1 && false", "false"),
        (
            "1 && true",
            "error: a condition must be true or false, not a whole number",
        ),
        ("!true || !false", "true"),
        ("!1", "error: `!` needs true or false, not a whole number"),
        ("true ? 1 : 1 / 0", "1"),
        ("false ? 1 / 0 : 2", "2"),
        (
            "1 ? 2 : 3",
            "error: `? :` needs true or false before it, not a whole number",
        ),
        ("n > 5 ? \"big\" : n > 3 ? \"mid\" : \"small\"", "\"big\""),
    ]);
}

#[test]
fn members_and_places() {
    check(&[
        ("event.customer.email", "\"ann@example.com\""),
        ("event[\"customer\"][\"name\"]", "\"Ann Lee\""),
        ("event.customer.`e-mail`", "\"x\""),
        ("event.items[1].qty", "0"),
        (
            "event.items[3]",
            "error: `event.items` has 3 items and no item 3",
        ),
        (
            "event.items[-1]",
            "error: `event.items` has 3 items and no item -1",
        ),
        (
            "event.items[0.5]",
            "error: a list is indexed by a whole number, not a number",
        ),
        (
            "event[0]",
            "error: an object is indexed by text, not a whole number",
        ),
        (
            "n[0]",
            "error: only lists and objects are indexed, not a whole number",
        ),
        (
            "event.custmer.email",
            "error: `event` has no member `custmer`; did you mean `customer`?",
        ),
        (
            "event.customer.phone",
            "error: `event.customer` has no member `phone`; it has e-mail, email, name",
        ),
        ("{}.a", "error: `the value` has no member `a`; it is empty"),
        (
            "event.nothing.a",
            "error: `event.nothing` is null and has no member `a`",
        ),
        (
            "event.id.a",
            "error: `event.id` is text and has no member `a`",
        ),
        ("envt", "error: there is no `envt` here"),
        ("has(event.id)", "true"),
        ("has(event.idd)", "false"),
        ("has(event.nothing)", "true"),
        ("has(event.nope.id)", "error: …has no member `nope`"),
        (
            "has(event.id.x)",
            "error: `event.id` is text and has no member `x`",
        ),
        ("default(event.nope, 1)", "1"),
        ("default(event.nope.deeper[3].x, \"x\")", "\"x\""),
        ("default(event.nothing, 2)", "2"),
        ("event.blank.default(\"x\")", "\"\""),
        ("default(event.id, 1 / 0)", "\"evt_1\""),
        ("default(1 / 0, 2)", "error: division by zero"),
        ("{\"a\": 1, \"b\": [2]}", "{\"a\":1,\"b\":[2]}"),
        (
            "{\"a\": 1, \"a\": 2}",
            "error: the member `a` is there twice",
        ),
        (
            "{1: 2}",
            "error: a member's name must be text, not a whole number",
        ),
    ]);
}

#[test]
fn macros() {
    check(&[
        ("event.items.all(i, i.id > 0)", "true"),
        ("event.items.exists(i, i.qty == 0)", "true"),
        ("event.items.exists_one(i, i.qty > 1)", "false"),
        ("event.items.existsOne(i, i.qty == 5)", "true"),
        ("event.items.filter(i, i.qty > 0).map(i, i.id)", "[1,3]"),
        ("event.items.map(i, i.qty > 0, i.id * 10)", "[10,30]"),
        (
            "event.items.map(i, event.tags.map(t, t + string(i.id)))[0]",
            "[\"b1\",\"a1\",\"b1\"]",
        ),
        ("[1, 2].map(x, [3].map(x, x))", "[[3],[3]]"),
        ("{\"b\": 1, \"a\": 2}.map(k, k)", "[\"a\",\"b\"]"),
        ("[].all(x, x) && ![].exists(x, x)", "true"),
        ("[0, 1].exists(x, 1 / x == 1)", "true"),
        ("[0, 2].all(x, 1 / x == 1)", "false"),
        ("[0].exists(x, 1 / x == 1)", "error: division by zero"),
        (
            "[1].filter(x, x)",
            "error: a condition must be true or false, not a whole number",
        ),
        (
            "n.map(x, x)",
            "error: only lists and objects have items, not a whole number",
        ),
        ("[n].map(n, n + 1)", "[8]"),
    ]);
}

/// Names whose roots are too large to be made.
struct Lazy;

impl Names for Lazy {
    fn get(&self, name: &str) -> Option<Value> {
        assert_ne!(name, "steps", "the whole root was asked for");
        None
    }

    fn member(&self, root: &str, member: &str) -> Option<Value> {
        (root == "steps" && member == "invoice").then(|| json("{\"result\": 5}"))
    }

    fn now(&self) -> Time {
        Time(0)
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }
}

#[test]
fn a_member_is_asked_for_without_its_root() {
    for (source, expected) in [
        ("steps.invoice.result + 1", Value::Int(6)),
        ("has(steps.invoice)", Value::Bool(true)),
        (
            "[{\"invoice\": 9}].map(steps, steps.invoice)[0]",
            Value::Int(9),
        ),
        ("default(nothing.here, 1)", Value::Int(1)),
    ] {
        assert_eq!(parse(source).eval(&Lazy), Ok(expected), "{source}");
    }
}
