//! Text with expressions in it, keys and trees.

use super::*;
use crate::diagnostic::Spanned;
use crate::model::Tree;

fn template(text: &str) -> Template {
    match Template::parse(text, whole(text), true) {
        Ok(template) => template,
        Err(diagnostic) => panic!("{text}: {diagnostic:?}"),
    }
}

fn rendered(text: &str) -> String {
    match template(text).render(&World::new()) {
        Ok(value) => value.to_json(),
        Err(error) => format!("error: {}", error.message),
    }
}

#[test]
fn text_is_filled_in() {
    for (text, expected) in [
        ("", r#""""#),
        ("plain $ {{ }} text", r#""plain $ {{ }} text""#),
        ("order ${{ event.id }}!", r#""order evt_1!""#),
        ("${{event.amount}}", "250"),
        ("${{ event.amount }} ", r#""250 ""#),
        ("${{ event.items[0] }}", r#"{"id":1,"qty":2}"#),
        ("x ${{ event.items[0] }}", r#""x {\"id\":1,\"qty\":2}""#),
        ("${{ event.nothing }}", "null"),
        ("${{ n }}${{ n }}", r#""77""#),
        ("a ${{ \"}}\" }} b", r#""a }} b""#),
        ("a ${{ '}}' + '\\'}}' }} b", r#""a }}'}} b""#),
        ("${{ {\"a\": {\"b\": 1}} }}", r#"{"a":{"b":1}}"#),
        ("${{ {\"a\": 1}}}", r#"{"a":1}"#),
        ("$${{ event.id }}", r#""${{ event.id }}""#),
        ("$$${{ n }}", r#""$${{ n }}""#),
        ("a $${{ ${{ n }}", r#""a ${{ 7""#),
        ("time ${{ timestamp(0) }}", r#""time 1970-01-01T00:00:00Z""#),
        ("x ${{ event.price }} ${{ event.ok }}", r#""x 12.5 true""#),
        (
            "x ${{ event.nothing }}",
            "error: `event.nothing` is null and cannot stand in text; write `default(event.nothing, \"…\")`",
        ),
    ] {
        assert_eq!(rendered(text), expected, "{text}");
    }
    assert!(template("${{ n }}").is_single());
    assert!(!template("${{ n }} ").is_single());
    assert!(!template("n").is_single());
}

#[test]
fn what_came_in_is_never_evaluated() {
    let text = template("got: ${{ event.html }}").render(&World::new());
    assert_eq!(text, Ok(Value::text("got: ${7*7} ${{ 7*7 }}")));
    let text = text.expect("text").shown();
    assert_eq!(rendered("${{ event.html }}"), "\"${7*7} ${{ 7*7 }}\"");
    assert!(text.contains("${{ 7*7 }}"));
}

#[test]
fn text_that_grows_too_long_is_refused() {
    let world = World([("long", Value::text(&"x".repeat(MAX_TEXT_BYTES / 2)))].into());
    let error = template("${{ long }}${{ long }}!").render(&world);
    let message = error.expect_err("too long").message;
    assert_eq!(message, "the text has more than 1048576 bytes");
}

#[test]
fn carets_stand_under_the_expression() {
    let text = "ab ${{  event.id + }} c";
    let error = Template::parse(
        text,
        Span {
            start: 100,
            end: 123,
        },
        true,
    )
    .expect_err("syntax");
    assert_eq!(
        error.at,
        Span {
            start: 117,
            end: 118
        }
    );
    let error = Template::parse(
        text,
        Span {
            start: 100,
            end: 123,
        },
        false,
    )
    .expect_err("syntax");
    assert_eq!(
        error.at,
        Span {
            start: 100,
            end: 123
        }
    );

    let ok = Template::parse(
        "ab ${{ n + nope }}",
        Span {
            start: 100,
            end: 118,
        },
        true,
    );
    let error = ok
        .expect("parses")
        .render(&World::new())
        .expect_err("missing");
    assert_eq!(
        error.span,
        Span {
            start: 111,
            end: 115
        }
    );

    for (open, quote) in [
        ("a ${{ event.id", None),
        ("a ${{ {\"b\": 1 }}", None),
        ("a ${{ x + '}} b", Some(10)),
        ("a ${{ x + '\n}} b", Some(10)),
    ] {
        let error = Template::parse(open, whole(open), true).expect_err(open);
        let due = ("X005", Span { start: 2, end: 5 });
        assert_eq!((error.code, error.at), due, "{open}");
        let found = error.also.first().map(|(span, _)| span.start);
        assert_eq!(found, quote, "{open}");
    }
    let error = Template::parse("a ${{ }}", whole("a ${{ }}"), true).expect_err("empty");
    assert_eq!((error.code, error.at), ("X001", Span { start: 2, end: 8 }));
}

fn key(text: &str, x: &Value, y: &Value) -> Result<String, KeyFault> {
    let world = World([("x", x.clone()), ("y", y.clone())].into());
    template(text)
        .key(&world)
        .map(|key| key.as_str().to_owned())
}

#[test]
fn values_in_a_key_cannot_collide() {
    let two = |x: &str, y: &str| key("a/${{ x }}/${{ y }}", &Value::text(x), &Value::text(y));
    assert_eq!(two("b/c", "d"), Ok("a/b%2Fc/d".to_owned()));
    assert_eq!(two("b", "c/d"), Ok("a/b/c%2Fd".to_owned()));
    assert_eq!(two("%2F", "x"), Ok("a/%252F/x".to_owned()));
    let (x, y) = (Value::Int(-4), json("18446744073709551615"));
    assert_eq!(
        key("o-${{ x }}-${{ y }}/z", &x, &y),
        Ok("o--4-18446744073709551615/z".to_owned())
    );
}

#[test]
fn a_key_is_made_of_text_and_whole_numbers() {
    for (value, kind) in [
        (Value::Null, "null"),
        (Value::text(""), "empty"),
        (Value::text(" \t"), "empty"),
        (Value::Bool(true), "a bool"),
        (json("1.5"), "a number"),
        (json("1e30"), "a number"),
        (json("{}"), "an object"),
        (json("[1]"), "a list"),
        (Value::Time(Time(0)), "a time"),
        (Value::Span(1), "a duration"),
    ] {
        let error = key("order-${{ x }}", &value, &Value::Null).expect_err(kind);
        assert_eq!(
            error.to_string(),
            format!("key part `x` is {kind}; a key is made of text and whole numbers")
        );
    }
    let error = key("a/${{ secrets.KEY }}", &Value::Null, &Value::Null).expect_err("secret");
    assert!(
        error
            .to_string()
            .starts_with("key part `secrets.KEY` is a secret;")
    );
    let error = key("a//b", &Value::Null, &Value::Null).expect_err("blank");
    assert!(
        error.to_string().starts_with("key part 2 is empty"),
        "{error}"
    );
    let error = key("a/${{ x.b }}", &json("{}"), &Value::Null).expect_err("missing");
    assert!(matches!(error, KeyFault::Eval(_)));
}

#[test]
fn trees_are_rendered_with_their_types() {
    let name = |it: &str| Spanned {
        it: it.to_owned(),
        span: Span::default(),
    };
    let mut volatile = template("at ${{ now() }}");
    for part in &mut volatile.parts {
        if let Part::Expr(expr) = part {
            expr.volatile = true;
        }
    }
    let tree = Tree::Map(vec![
        (name("z"), Tree::Text(template("${{ event.amount }}"))),
        (
            name("a"),
            Tree::List(vec![
                Tree::Null,
                Tree::Bool(true),
                Tree::Number("1.50".to_owned()),
            ]),
        ),
        (name("t"), Tree::Text(volatile)),
    ]);
    let fresh = tree.render(&World::new()).expect("values");
    assert_eq!(
        fresh.to_json(),
        r#"{"a":[null,true,1.5],"t":"at 2026-11-15T09:00:00Z","z":250}"#
    );
    let stable = tree.render_stable(&World::new()).expect("values");
    assert_eq!(
        stable.to_json(),
        r#"{"a":[null,true,1.5],"t":"at ${{ now() }}","z":250}"#
    );
    let error = Tree::List(vec![Tree::Text(template("${{ event.nope }}"))]).render(&World::new());
    assert!(
        error
            .expect_err("missing")
            .message
            .contains("no member `nope`")
    );
}
