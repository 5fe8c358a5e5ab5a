//! Every function on plain values: what it gives, and what it says to what it cannot take.

use super::*;

#[test]
fn conversions() {
    check(&[
        ("size(\"grüße\")", "5"),
        ("event.items.size()", "3"),
        ("size(event.customer)", "3"),
        (
            "size(5)",
            "error: `size` needs text, a list or an object, not a whole number",
        ),
        ("string(5)", "\"5\""),
        ("string(1.50)", "\"1.5\""),
        ("string(true)", "\"true\""),
        ("string(\"a\")", "\"a\""),
        ("string(timestamp(0))", "\"1970-01-01T00:00:00Z\""),
        ("string(duration(\"90m\"))", "\"1h30m\""),
        (
            "string(null)",
            "error: `string` needs a number, a bool, a time or text, not null",
        ),
        (
            "string([1])",
            "error: for lists and objects write `toJson(value)`",
        ),
        ("int(\"42\")", "42"),
        ("int(\"-1\")", "-1"),
        ("int(\"4.2\")", "error: …such as \"42\""),
        ("int(-4.9)", "-4"),
        ("int(4.9)", "4"),
        (
            "int(true)",
            "error: `int` needs a number, text or a time, not a bool",
        ),
        ("int(timestamp(\"1969-12-31T23:59:59.5Z\"))", "-1"),
        ("int(duration(\"2m\"))", "120"),
        ("int(1e30)", "error: the whole number does not fit 64 bits"),
        (
            "int(null)",
            "error: `int` needs a number, text or a time, not null",
        ),
        ("double(\"1.50\")", "1.5"),
        ("double(\" 2 \")", "2"),
        ("double(\"[1]\")", "error: …such as \"1.5\""),
        ("double(\"NaN\")", "error: …such as \"1.5\""),
        (
            "double(true)",
            "error: `double` needs a number or text, not a bool",
        ),
        ("bool(\"true\") && !bool(\"false\") && bool(true)", "true"),
        (
            "bool(\"yes\")",
            "error: `bool` needs the text \"true\" or \"false\"",
        ),
        (
            "bool(1)",
            "error: `bool` needs a bool or text, not a whole number",
        ),
        (
            "[null, true, 1, 1.5, \"\", [], {}, now(), duration(\"1s\")].map(x, type(x))",
            r#"["null","bool","int","double","string","list","map","timestamp","duration"]"#,
        ),
    ]);
}

#[test]
fn text() {
    check(&[
        ("\"abc\".contains(\"bc\")", "true"),
        ("contains(\"abc\", \"x\")", "false"),
        (
            "[1].contains(1)",
            "error: `contains` looks into text; for lists write `item in list`",
        ),
        (
            "\"abc\".contains(1)",
            "error: `contains` needs text as value 2, not a whole number",
        ),
        (
            "\"abc\".startsWith(\"ab\") && \"abc\".endsWith(\"bc\")",
            "true",
        ),
        (
            "1.startsWith(\"a\")",
            "error: `startsWith` needs text, not a whole number",
        ),
        ("\"a1\".matches(\"^[a-z]\\\\d$\")", "true"),
        ("\"xa1x\".matches(\"[a-z]\\\\d\")", "true"),
        ("\"Äb\".matches(\"(?i)^ÄB$\")", "true"),
        ("\"a\".matches(event.id + \"(\")", "error: …not a pattern"),
        ("\"ÄB\".lowerAscii()", "\"Äb\""),
        ("\"äb\".upperAscii()", "\"äB\""),
        ("\" a b\\n\".trim()", "\"a b\""),
        ("\"a,b,,c\".split(\",\")", r#"["a","b","","c"]"#),
        ("\"a,b,c\".split(\",\", 2)", r#"["a","b,c"]"#),
        ("\"a,b\".split(\",\", 0)", "[]"),
        ("\"äbc\".split(\"\")", r#"["ä","b","c"]"#),
        ("\"äbc\".split(\"\", 2)", r#"["ä","bc"]"#),
        (
            "\"a\".split(\",\", -1)",
            "error: `split` needs a number from 0, not -1",
        ),
        ("[\"a\", \"b\"].join(\"-\")", "\"a-b\""),
        ("[\"a\", \"b\"].join()", "\"ab\""),
        (
            "[\"a\", 1].join()",
            "error: `join` needs a list of text, but item 1 is a whole number",
        ),
        ("\"a-b-c\".replace(\"-\", \"+\")", "\"a+b+c\""),
        ("\"a-b-c\".replace(\"-\", \"+\", 1)", "\"a+b-c\""),
        ("\"ab\".replace(\"\", \"-\")", "\"-a-b-\""),
        ("\"aXb\".replace(\"X\", \"\", 0)", "\"aXb\""),
        ("\"grüße\".substring(2, 4)", "\"üß\""),
        ("\"grüße\".substring(5)", "\"\""),
        (
            "\"abc\".substring(2, 1)",
            "error: `substring` goes beyond the text of 3 characters",
        ),
        (
            "\"abc\".substring(4)",
            "error: `substring` goes beyond the text of 3 characters",
        ),
        ("\"grüße\".indexOf(\"ß\")", "3"),
        ("\"abab\".indexOf(\"b\", 2)", "3"),
        ("\"abab\".indexOf(\"c\")", "-1"),
        ("\"abab\".indexOf(\"a\", 9)", "-1"),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("min(3, 1.5, 2)", "1.5"),
        ("max([1, 7, 3])", "7"),
        ("max(\"a\", \"b\")", "\"b\""),
        ("min([])", "error: `min` of an empty list"),
        (
            "min(1, \"a\")",
            "error: text and a whole number have no order",
        ),
        ("max({})", "error: an object and an object have no order"),
        ("abs(-5)", "5"),
        ("abs(-1.5)", "1.5"),
        ("abs(1.5)", "1.5"),
        ("abs(duration(\"-1h\"))", "\"1h\""),
        (
            "abs(-9223372036854775808)",
            "error: the whole number does not fit 64 bits",
        ),
        ("abs(\"a\")", "error: `abs` needs a number, not text"),
        (
            "[round(2.5), round(-2.5), round(2.4), round(-2.6), round(7)]",
            "[3,-3,2,-3,7]",
        ),
        ("round(2.675, 2)", "2.68"),
        ("round(-2.675, 2)", "-2.68"),
        ("round(2.5, 3)", "2.5"),
        ("round(1e300, 2)", "1e+300"),
        (
            "round(0.3333333333333333333333333333333333333333333, 2)",
            "0.33",
        ),
        ("round(1.5, 16)", "error: `round` keeps at most 15 digits"),
        ("round(\"a\")", "error: `round` needs a number, not text"),
        (
            "[floor(1.9), floor(-1.1), ceil(1.1), ceil(-1.9)]",
            "[1,-2,2,-1]",
        ),
        ("floor(9007199254740993.5)", "9007199254740993"),
    ]);
}

#[test]
fn lists_and_objects() {
    check(&[
        ("keys({\"b\": 1, \"a\": 2})", r#"["a","b"]"#),
        ("values({\"b\": 1, \"a\": 2})", "[2,1]"),
        ("keys([1])", "error: `keys` needs an object, not a list"),
        ("sort([3, 1.5, 2])", "[1.5,2,3]"),
        ("event.tags.sort()", r#"["a","b","b"]"#),
        ("sort([])", "[]"),
        (
            "sort([1, \"a\"])",
            "error: text and a whole number have no order",
        ),
        ("sort([{}])", "error: an object and an object have no order"),
        ("distinct([1, \"1\", 1.0, 1])", r#"[1,"1"]"#),
        (
            "size(distinct([timestamp(0), \"1970-01-01T00:00:00Z\", timestamp(0)]))",
            "2",
        ),
        ("flatten([1, [2, [3]], []])", "[1,2,[3]]"),
        ("reverse([1, 2, 3])", "[3,2,1]"),
        ("[1, 2, 3].slice(1)", "[2,3]"),
        ("[1, 2, 3].slice(0, 2)", "[1,2]"),
        ("[1, 2, 3].slice(2, 99)", "[3]"),
        ("[1, 2, 3].slice(2, 1)", "[]"),
        (
            "[1].slice(-1)",
            "error: `slice` needs a number from 0, not -1",
        ),
        ("first([1, 2]) + last([1, 2])", "3"),
        ("first([])", "error: `first` of an empty list"),
        ("default(last([]), 5)", "5"),
    ]);
}
