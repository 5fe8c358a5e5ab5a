//! What must hold whatever a flow file or an expression is: no panic, no endless work, and every
//! message points into the text.
//!
//! Run over generated text by the tests, and over whatever libFuzzer finds by the targets in `fuzz`,
//! which include this very file.

#![allow(dead_code, reason = "a fuzz target needs one of them")]

use semel_flow::expr::ast::Ast;
use semel_flow::expr::{Expr, Names, Template};
use semel_flow::render::{Style, render, to_json};
use semel_flow::{Diagnostic, Span, Value, check, graph};
use semel_ledger::Time;

/// Reads a file and, if it is a flow, does everything with it that is done before it runs.
pub(crate) fn flow(source: &str) {
    let reading = semel_flow::read(source);
    assert!(reading.flow.is_some() || reading.has_errors(), "{source:?}");
    messages(source, &reading.diagnostics);
    let again = semel_flow::read(source);
    assert_eq!(
        again.diagnostics, reading.diagnostics,
        "the same text, the same messages"
    );
    let Some(mut flow) = reading.flow else {
        return;
    };
    messages(source, &check::check(&flow));
    let before = again.flow.expect("the same text, the same flow");
    assert!(check::abandoned(&before, &flow).is_empty(), "{source:?}");
    let _ = (check::table(&flow), check::secrets(&flow));
    for header in check::headers(&flow) {
        assert!(!header.contains("authorization"), "{source:?}");
    }
    check::mark_volatile(&mut flow);
    let picture = graph::svg(&flow);
    assert!(picture.starts_with("<svg") && !picture.contains("<script"));
    let _ = graph::text(&flow);
}

/// Every message points into the text and can be drawn.
fn messages(source: &str, found: &[Diagnostic]) {
    for one in found {
        let places = one.also.iter().map(|(at, _)| *at).chain([one.at]);
        for at in places {
            let there = source.get(at.start..at.end);
            assert!(there.is_some(), "{one:?} in {source:?}");
        }
    }
    let style = Style {
        file: "f.yaml",
        colours: true,
        width: Some(100),
    };
    let text = render(source, found, style);
    assert_eq!(text.is_empty(), found.is_empty());
    let json = to_json(source, found, "f.yaml");
    assert_eq!(json.as_array().map(Vec::len), Some(found.len()));
}

/// Reads an expression and, if it is one, evaluates it: alone, in text and as a key.
pub(crate) fn expression(source: &str) {
    let names = World::new();
    match Expr::parse(source, whole(source)) {
        Ok(expr) => {
            within(expr.ast(), whole(source));
            if let Err(error) = expr.eval(&names) {
                assert!(source.get(..error.span.end).is_some(), "{source:?}");
                assert!(source.get(error.span.start..).is_some(), "{source:?}");
                assert!(!error.message.is_empty(), "{source:?}");
            }
        }
        Err(found) => {
            let at = found.at;
            let there = source.get(at.start..at.end);
            assert!(there.is_some(), "{source:?}: {found:?}");
        }
    }
    for text in [source.to_owned(), format!("a/${{{{ {source} }}}}/b")] {
        if let Ok(template) = Template::parse(&text, whole(&text), true) {
            let _ = template.render(&names);
            if let Ok(key) = template.key(&names) {
                assert_eq!(key.as_str().parse(), Ok(key.clone()), "{text:?}");
            }
        }
    }
}

/// Every part stands within what it is a part of.
fn within(ast: &Ast, outer: Span) {
    let (start, end) = (ast.span.start, ast.span.end);
    assert!(
        outer.start <= start && start < end && end <= outer.end,
        "{ast:?} in {outer:?}"
    );
    for part in ast.parts() {
        within(part, ast.span);
    }
}

/// The place of a whole text.
pub(crate) fn whole(source: &str) -> Span {
    Span {
        start: 0,
        end: source.len(),
    }
}

/// Names with a value of every kind, a clock that stands and randomness that is none.
pub(crate) struct World(Value);

impl World {
    pub(crate) fn new() -> World {
        let names = r#"{
            "event": {
                "id": "evt_1", "amount": 250, "price": 12.5, "big": 9007199254740993,
                "nothing": null, "blank": "", "ok": true, "html": "${7*7} ${{ 7*7 }}",
                "items": [{"id": 1, "qty": 2}, {"id": 2, "qty": 0}, {"id": 3, "qty": 5}],
                "tags": ["b", "a", "b"],
                "customer": {"email": "ann@example.com", "name": "Ann Lee", "e-mail": "x"}
            },
            "n": 7
        }"#;
        World(Value::read(names.as_bytes()).expect("JSON"))
    }

    pub(crate) fn of<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> World {
        let names = names.into_iter();
        World(Value::map(
            names.map(|(name, text)| (name, Value::text(text))),
        ))
    }
}

impl Names for World {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }

    fn now(&self) -> Time {
        Time(1_794_733_200_000)
    }

    fn random(&self) -> [u8; 16] {
        [0xff; 16]
    }
}
