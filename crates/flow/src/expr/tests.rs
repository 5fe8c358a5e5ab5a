//! Expressions from the outside: text in, value or message out.

mod basics;
mod functions;
mod limits;
mod messages;
mod oracle;
mod page;
mod secrets;
mod spellings;
mod templates;

use std::collections::BTreeMap;

use semel_ledger::Time;

use super::*;

/// Names for tests: a few roots, a clock that stands, randomness that is none.
pub(super) struct World(BTreeMap<&'static str, Value>);

pub(super) fn json(text: &str) -> Value {
    Value::read(text.as_bytes()).expect(text)
}

impl World {
    pub(super) fn new() -> World {
        let event = json(
            r#"{
            "id": "evt_1", "amount": 250, "price": 12.5, "big": 9007199254740993,
            "nothing": null, "blank": "", "ok": true, "html": "${7*7} ${{ 7*7 }}",
            "items": [{"id": 1, "qty": 2}, {"id": 2, "qty": 0}, {"id": 3, "qty": 5}],
            "tags": ["b", "a", "b"],
            "customer": {"email": "ann@example.com", "name": "Ann Lee", "e-mail": "x"}
        }"#,
        );
        World([("event", event), ("n", Value::Int(7))].into())
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

/// The place of a whole text.
pub(super) fn whole(source: &str) -> Span {
    Span {
        start: 0,
        end: source.len(),
    }
}

pub(super) fn parse(source: &str) -> Expr {
    match Expr::parse(source, whole(source)) {
        Ok(expr) => expr,
        Err(diagnostic) => panic!("{source}: {diagnostic:?}"),
    }
}

pub(super) fn eval(source: &str) -> Result<Value, EvalError> {
    parse(source).eval(&World::new())
}

/// What an expression gives, as JSON, or the message.
pub(super) fn shown(source: &str) -> String {
    match eval(source) {
        Ok(value) => value.to_json(),
        Err(error) => format!("error: {}", error.message),
    }
}

/// Every expression of a table gives what stands beside it.
pub(super) fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(source, expected)| (source, expected, shown(source)))
        .filter(|(_, expected, found)| !matching(expected, found))
        .map(|(source, expected, found)| format!("{source}\n  due:   {expected}\n  found: {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `error: …x` stands for any error message that contains `x`.
fn matching(expected: &str, found: &str) -> bool {
    match expected.strip_prefix("error: …") {
        Some(part) => found.starts_with("error: ") && found.contains(part),
        None => expected == found,
    }
}
