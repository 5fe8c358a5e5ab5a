//! Every expression ends, none overflows the stack, and what is too much is said.

use std::time::{Duration, Instant};

use super::*;

/// As much stack as a worker thread has.
const STACK: usize = 2 << 20;

/// Parses and evaluates on a thread of its own with a common stack.
fn on_a_common_stack(source: String) -> Result<String, String> {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let thread = thread.spawn(move || match Expr::parse(&source, whole(&source)) {
        Err(diagnostic) => Err(format!("{} {}", diagnostic.code, diagnostic.title)),
        Ok(expr) => match expr.eval(&World::new()) {
            Ok(value) => Ok(value.to_json()),
            Err(error) => Err(error.message),
        },
    });
    thread.expect("a thread").join().expect("no panic")
}

#[test]
fn long_chains_do_not_overflow() {
    let chain = |term: &str, sign: &str, count: usize| vec![term; count].join(sign);
    for (source, expected) in [
        (chain("1", "+", 1500), "1500"),
        (chain("1", "-", 1500), "-1498"),
        (chain("n", "*0+", 800), "7"),
        (chain("true", "&&", 600), "true"),
        (chain("false", "||", 500), "false"),
        (chain("''", "+", 1000), "\"\""),
    ] {
        let start = source[..20].to_owned();
        assert_eq!(
            on_a_common_stack(source),
            Ok(expected.to_owned()),
            "{start}"
        );
    }
}

#[test]
fn a_long_chain_within_the_deepest_nesting_does_not_overflow() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{'a':", "}"), ("[n].map(n,", ")")] {
        let levels = MAX_DEPTH - 2;
        let room = MAX_EXPR_BYTES - levels * (open.len() + close.len());
        let chain = vec!["1"; room / 2].join("+");
        let source = format!("{}{chain}{}", open.repeat(levels), close.repeat(levels));
        assert!(source.len() > MAX_EXPR_BYTES - 3);
        let found = on_a_common_stack(source);
        assert!(found.is_ok(), "{open}: {found:?}");
    }
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    for source in [
        format!("{}1{}", "(".repeat(65), ")".repeat(65)),
        "[".repeat(4000),
        "{".repeat(4000),
        "f(".repeat(2000),
        "!(".repeat(2000),
        "-(".repeat(2000),
        "a[".repeat(2000),
        format!("{}1", "true?1:".repeat(500)),
        format!("a{}", ".b".repeat(2000)),
        format!("a{}", "[0]".repeat(1300)),
        format!("a{}", ".b()".repeat(1000)),
        vec!["a"; 1300].join("=="),
        format!("{}1{}", "\"\\\"(\"+(".repeat(400), ")".repeat(400)),
    ] {
        let start = source[..10].to_owned();
        let found = on_a_common_stack(source).expect_err(&start);
        let due = "X002 expression is nested deeper than 64";
        // What is unreadable besides may be called that.
        assert!(
            found == due || found.starts_with("X003"),
            "{start}: {found}"
        );
    }
}

/// Where the count takes brackets for part of a quoted name and the parser does not, the parser's
/// own limit must hold.
#[test]
fn brackets_that_are_not_counted_do_not_overflow_either() {
    for open in ["(", "[", "{", "f(", "true?1:("] {
        let source = format!("`{}`", open.repeat(4000 / open.len()));
        let found = on_a_common_stack(source).expect_err(open);
        assert!(found.starts_with("X00"), "{open}: {found}");
    }
}

#[test]
fn what_is_too_long_is_refused() {
    let source = "1".repeat(MAX_EXPR_BYTES + 1);
    let error = Expr::parse(&source, whole(&source)).expect_err("too long");
    assert_eq!(error.code, "X002");
    assert_eq!(error.title, "expression has 4097 bytes; the limit is 4096");
    let most = format!("'{}'", "x".repeat(MAX_EXPR_BYTES - 2));
    assert!(Expr::parse(&most, whole(&most)).is_ok());
}

#[test]
fn work_is_bounded() {
    let ten = "[1,2,3,4,5,6,7,8,9,0]";
    let nested = "abcdefg".chars().fold("1".to_owned(), |body, name| {
        format!("{ten}.map({name}, {body})")
    });
    let out_of_fuel = "error: the expression takes more than 1000000 steps; do less at once";
    let started = Instant::now();
    check(&[
        (&nested, out_of_fuel),
        // Nothing hides it, and it is not paid for again and again.
        (&format!("({nested} == []) || true"), out_of_fuel),
        (&format!("default({nested}, 1)"), out_of_fuel),
        (&format!("{ten}.exists(x, {nested} == [])"), out_of_fuel),
    ]);
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_is_made_is_bounded() {
    let text = World(
        [
            ("text", Value::text(&"x".repeat(100_000))),
            ("list", Value::list(vec![Value::Int(1); 60_000])),
            ("more", Value::list(vec![Value::Int(1); MAX_ITEMS + 1])),
        ]
        .into(),
    );
    for (source, part) in [
        (
            "[1,2,3,4,5,6,7,8,9,0,1].map(x, text).join()",
            "the limit is 1048576",
        ),
        (
            "text + text + text + text + text + text + text + text + text + text + text",
            "the limit is 1048576",
        ),
        (
            "text.replace(\"x\", \"0123456789ab\")",
            "the limit is 1048576",
        ),
        ("text.replace(\"\", text)", "the limit is 1048576"),
        ("list + list", "the limit is 100000"),
        ("more.filter(x, true)", "the limit is 100000"),
        ("more.map(x, x)", "the limit is 100000"),
        ("reverse(more)", "the limit is 100000"),
        ("flatten([list, list])", "the limit is 100000"),
        (
            "hexEncode(text.replace(\"x\", \"yyyyyy\"))",
            "the limit is 1048576",
        ),
        (
            "toJson([text, text, text, text, text, text, text, text, text, text, text])",
            "the limit is 1048576",
        ),
        ("(text + text).split(\"\")", "the limit is 100000"),
        (
            "[text, text].map(t, t.split(\"\").map(c, t.replace(\"x\", c))) ",
            "more than 1000000 steps",
        ),
    ] {
        let error = parse(source).eval(&text).expect_err(source).message;
        assert!(error.contains(part), "{source}: {error}");
    }
}

/// A pattern that takes exponential time elsewhere.
#[test]
fn patterns_take_linear_time() {
    let world = World(
        [
            ("long", Value::text(&"a".repeat(30_000))),
            ("bomb", Value::text("(a*)*(a*)*(a*)*$x")),
            ("heavy", Value::text("((a{9}){9}){3}$x")),
            ("huge", Value::text(&"a".repeat(1001))),
        ]
        .into(),
    );
    let started = Instant::now();
    for source in [
        "long.matches('(a*)*(a*)*(a|a)*b')",
        "long.matches(bomb)",
        "long.matches(heavy)",
    ] {
        assert_eq!(
            parse(source).eval(&world),
            Ok(Value::Bool(false)),
            "{source}"
        );
    }
    let often = "[1, 2, 3, 4, 5, 6, 7, 8].exists(x, long.matches(heavy))";
    let error = parse(often).eval(&world).expect_err("fuel").message;
    assert!(error.contains("more than 1000000 steps"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(30));
    let error = parse("'a'.matches(huge)")
        .eval(&world)
        .expect_err("long")
        .message;
    assert_eq!(error, "the pattern has 1001 bytes; the limit is 1000");
    for pattern in ["a{1000}{1000}", "((a{100}){100}){100}", &"(".repeat(40)] {
        let source = format!("'a'.matches(r'{pattern}')");
        let error = Expr::parse(&source, whole(&source)).expect_err(pattern);
        assert_eq!(error.code, "X006", "{error:?}");
    }
}
