//! A secret can be sent. Nothing else can be done with it, by any function or operator.

use super::*;
use crate::expr::functions;
use crate::value::Piece;

const REFUSED: &str = "error: a secret can be sent, never compared, printed or put in a key";

fn sealed(pieces: &[Piece]) -> Value {
    Value::Sealed(pieces.into())
}

#[test]
fn a_secret_can_be_joined_to_text() {
    let secret = |name: &str| Piece::Secret(name.into());
    let plain = |text: &str| Piece::Plain(text.into());
    for (source, pieces) in [
        ("secrets.KEY", vec![secret("KEY")]),
        (
            "\"Bearer \" + secrets.KEY",
            vec![plain("Bearer "), secret("KEY")],
        ),
        (
            "secrets.A + \":\" + secrets.B + \"!\"",
            vec![secret("A"), plain(":"), secret("B"), plain("!")],
        ),
        ("true ? secrets.A : \"\"", vec![secret("A")]),
        ("default(secrets.A, \"x\")", vec![secret("A")]),
        ("default(null, secrets.A)", vec![secret("A")]),
        ("[secrets.A][0]", vec![secret("A")]),
        ("{\"a\": secrets.A}.a", vec![secret("A")]),
        ("[1].map(x, secrets.A)[0]", vec![secret("A")]),
    ] {
        assert_eq!(eval(source), Ok(sealed(&pieces)), "{source}");
    }
}

#[test]
fn templates_with_a_secret_stay_sealed() {
    let text = "user ${{ n }}:${{ secrets.A }}${{ event.id }}${{ \"x\" + secrets.B }}";
    let template = Template::parse(text, whole(text), true).expect("template");
    let pieces = [
        Piece::Plain("user 7:".into()),
        Piece::Secret("A".into()),
        Piece::Plain("evt_1x".into()),
        Piece::Secret("B".into()),
    ];
    assert_eq!(template.render(&World::new()), Ok(sealed(&pieces)));
    let text = "list ${{ [secrets.A] }}";
    let template = Template::parse(text, whole(text), true).expect("template");
    let error = template.render(&World::new()).expect_err("printed");
    assert_eq!(format!("error: {}", error.message), REFUSED);
}

#[test]
fn no_operator_looks_at_a_secret() {
    let others = [
        "1",
        "\"a\"",
        "null",
        "true",
        "[1]",
        "{}",
        "now()",
        "secrets.B",
    ];
    let signs = [
        "==", "!=", "<", "<=", ">", ">=", "-", "*", "/", "%", "in", "&&", "||",
    ];
    for sign in signs {
        for other in others {
            for source in [
                format!("secrets.A {sign} {other}"),
                format!("{other} {sign} secrets.A"),
            ] {
                // `false && x` and `true || x` do not look, and `1 / 0` there would do as well.
                if source == "true || secrets.A" {
                    continue;
                }
                let found = shown(&source);
                assert!(found.starts_with("error: "), "{source}: {found}");
            }
        }
    }
    check(&[
        ("secrets.A + 1", REFUSED),
        ("!secrets.A", REFUSED),
        ("-secrets.A", REFUSED),
        ("secrets.A ? 1 : 2", REFUSED),
        ("secrets.A[0]", REFUSED),
        ("secrets.A.b", REFUSED),
        ("has(secrets.A.b)", REFUSED),
        ("{secrets.A: 1}", REFUSED),
        ("event[secrets.A]", REFUSED),
        ("[1][secrets.A]", REFUSED),
        ("secrets.A.map(x, x)", REFUSED),
        ("[secrets.A] == [\"a\"]", REFUSED),
        ("{\"a\": secrets.A} == {\"a\": \"a\"}", REFUSED),
        ("\"a\" in [secrets.A]", REFUSED),
        ("secrets.A in {}", REFUSED),
        ("[secrets.A].exists(s, s == \"a\")", REFUSED),
        ("secrets.A == \"a\" || true", REFUSED),
        ("[\"a\"].filter(x, x == secrets.A)", REFUSED),
    ]);
}

#[test]
fn no_function_looks_at_a_secret() {
    for function in functions::all().filter(|function| function.takes(1) || function.takes(2)) {
        for count in (1..=4).filter(|count| function.takes(*count)) {
            for at in 0..count {
                for other in ["\"a\"", "1", "[\"a\"]", "{}", "now()"] {
                    let mut args = vec![other; count];
                    args[at] = "secrets.A";
                    let source = format!("{}({})", function.name, args.join(", "));
                    assert_eq!(shown(&source), REFUSED, "{source}");
                }
            }
        }
    }
}

/// Within a list or an object a secret is carried along, or refused; it never turns into text.
#[test]
fn no_function_prints_what_a_list_hides() {
    for function in functions::all() {
        for hiding in [
            "[secrets.A]",
            "[[secrets.A]]",
            "{\"a\": secrets.A}",
            "[{\"a\": secrets.A}]",
        ] {
            for args in [
                "",
                ", 0",
                ", \"a\"",
                ", [\"b\"]",
                ", 0, 1",
                ", \"a\", \"b\"",
            ] {
                let source = format!("{}({hiding}{args})", function.name);
                let Ok(expr) = Expr::parse(&source, whole(&source)) else {
                    continue;
                };
                if let Ok(value) = expr.eval(&World::new()) {
                    let shown = value.to_json();
                    let unsealed = count_text(&value, "secrets.A");
                    assert_eq!(unsealed, 0, "{source}: {shown}");
                    assert!(
                        !["hash", "toJson", "string", "sort", "distinct", "join"]
                            .contains(&function.name),
                        "{source}: {shown}"
                    );
                }
            }
        }
    }
}

/// How many plain texts in a value tell of the secret.
fn count_text(value: &Value, part: &str) -> usize {
    match value {
        Value::Text(text) => usize::from(text.contains(part)),
        Value::List(items) => items.iter().map(|item| count_text(item, part)).sum(),
        Value::Map(members) => members.values().map(|item| count_text(item, part)).sum(),
        _ => 0,
    }
}

#[test]
fn all_secrets_at_once_and_questions_about_them_are_refused_when_read() {
    for source in [
        "secrets",
        "secrets[\"A\"]",
        "has(secrets.A)",
        "toJson(secrets)",
        "[1].map(secrets, secrets.A)",
        "keys(secrets)",
    ] {
        let error = Expr::parse(source, whole(source)).expect_err(source);
        assert_eq!(error.code, "X001", "{source}");
    }
}
