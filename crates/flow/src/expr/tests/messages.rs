//! What is said about expressions that cannot be read, down to the caret.

use std::fmt::Write as _;

use super::*;

/// A message as a person sees it, roughly.
fn drawn(source: &str) -> String {
    let Err(diagnostic) = Expr::parse(source, whole(source)) else {
        return format!("{source}\n  is fine\n\n");
    };
    let mut text = format!("{}: {}\n  {source}\n", diagnostic.code, diagnostic.title);
    let before = source[..diagnostic.at.start].chars().count();
    let under = source[diagnostic.at.start..diagnostic.at.end]
        .chars()
        .count();
    let (blank, carets) = (" ".repeat(before), "^".repeat(under.max(1)));
    let _ = writeln!(text, "  {blank}{carets} {}", diagnostic.label);
    for help in &diagnostic.help {
        let _ = writeln!(text, "  = help: {help}");
    }
    text.push('\n');
    text
}

#[test]
fn what_cannot_be_read_is_pointed_at() {
    let sources = [
        "",
        "event.id +",
        "event.id + * 2",
        "event.id = 1",
        "event.a & event.b",
        "event.a and event.b",
        "a or b",
        "not a",
        "${{ event.id }}",
        "\"grüße\" + )",
        "size(event.items",
        "'it's'",
        "\"abc",
        "1 + \"\\d\" + 2",
        "'\\400'",
        "99999999999999999999",
        "event.für",
        "for + 1",
        "b'bytes'",
        "Order{id: 1}",
        "a.?b",
        "[1, 2",
        "1 2",
        "secrets",
        "has(event)",
        "has(secrets.KEY)",
        "[1].map(1, 2)",
    ];
    insta::assert_snapshot!(sources.map(drawn).concat());
}

#[test]
fn what_cannot_be_called_is_pointed_at() {
    let sources = [
        "sizee(event.items)",
        "event.name.toLowerCase()",
        "event.name.frobnicate(1)",
        "1 + size()",
        "size(1, 2)",
        "event.x.now()",
        "\"a\".replace(\"b\")",
        "event.items.map(i)",
        "has(event.a, event.b)",
        "default(event.a)",
        "filter(event.items, i, true)",
        "\"a\".matches(\"[\")",
        "\"a\".matches(\"(a{1000}){1000}\")",
    ];
    insta::assert_snapshot!(sources.map(drawn).concat());
}

#[test]
fn parts_know_their_places() {
    let source = " a.b[ 'c' ].map(x, -x.`d-e` + -1.5) == f ? size( [1] ) : {'k': !has(a.b)}";
    let source = source.replace("f ?", "n ?");
    let mut lines = String::new();
    places(parse(&source).ast(), &source, 0, &mut lines);
    insta::assert_snapshot!(lines);
}

fn places(ast: &ast::Ast, source: &str, depth: usize, lines: &mut String) {
    let text = &source[ast.span.start..ast.span.end];
    let _ = writeln!(lines, "{}{text}", "  ".repeat(depth));
    for part in ast.parts() {
        places(part, source, depth + 1, lines);
    }
}
