//! What a destination was told, and what it is asked by: it can find a thing only by what it knows of it.
//!
//! Owns comparing a question with a call. Generous with spelling (case, percent-escapes), strict with substance.

use semel_act::Task;
use semel_flow::Value;
use semel_flow::expr::{Part, Template};
use semel_flow::model::{Class, Kind, Tree};

/// Everything that a call told its destination, to be searched.
pub(crate) fn told(task: &Task) -> String {
    let mut all = plain(&task.input.to_json());
    // It is in a header, in a mark beside the row or the work, or in the id of the mail.
    let knows_key = task.class == Class::Keyed || task.act.kind == Kind::Email;
    if let Some(key) = task.key.as_ref().filter(|_| knows_key) {
        all.push('\n');
        all.push_str(&plain(key.as_str()));
    }
    all
}

/// The values that a question asks by: what its expressions stand for. What depends on the moment, and secrets, are none.
pub(crate) fn asked_by(task: &Task) -> Vec<String> {
    let mut found = Vec::new();
    gather(&task.act.input, &task.input, &mut found);
    found.iter().map(|text| plain(text)).collect()
}

/// The first value that was asked by and that the destination was never told.
pub(crate) fn never_told<'a>(asked: &'a [String], told: &str) -> Option<&'a str> {
    let unknown = asked.iter().find(|value| !told.contains(value.as_str()));
    unknown.map(String::as_str)
}

fn gather(tree: &Tree, value: &Value, found: &mut Vec<String>) {
    match (tree, value) {
        (Tree::Text(template), value) => of_text(template, value, found),
        (Tree::List(trees), Value::List(values)) => {
            let pairs = trees.iter().zip(values.iter());
            pairs.for_each(|(tree, value)| gather(tree, value, found));
        }
        (Tree::Map(members), Value::Map(values)) => {
            for (name, tree) in members {
                if let Some(value) = values.get(name.it.as_str()) {
                    gather(tree, value, found);
                }
            }
        }
        _ => {}
    }
}

fn of_text(template: &Template, value: &Value, found: &mut Vec<String>) {
    let counts = |text: &str| !text.is_empty();
    match (template.parts.as_slice(), value) {
        (_, Value::Sealed(_)) => {}
        ([Part::Expr(expr)], value) if !expr.volatile => match value {
            Value::Text(_) | Value::Int(_) | Value::Decimal(_) => found.push(value.shown()),
            _ => {}
        },
        (parts, Value::Text(text)) => {
            let mut rest = &**text;
            for (at, part) in parts.iter().enumerate() {
                match part {
                    Part::Text(literal) => rest = rest.strip_prefix(&**literal).unwrap_or(rest),
                    Part::Expr(expr) => {
                        let end = match parts.get(at + 1) {
                            Some(Part::Text(literal)) => rest.find(&**literal),
                            _ => None,
                        };
                        let (own, after) = rest.split_at(end.unwrap_or(rest.len()));
                        rest = after;
                        if !expr.volatile && counts(own) {
                            found.push(own.to_owned());
                        }
                    }
                }
            }
        }
        _ => {}
    }
}

/// Without escapes and capitals: another spelling is not another value.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        plain.push(code.unwrap_or(bytes[at]).to_ascii_lowercase());
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_between_what_is_written() {
        let source = "name: a\non: manual\nsteps:\n  - id: ask\n    \
                      http: {get: \"https://a.example/${{ event.id }}/x?by=${{ event.mail }}\", query: {at: \"${{ now() }}\", of: \"${{ event.of }}\"}}\n";
        let compiled = semel_engine::flows::Compiled::read(
            semel_store::run::ReleaseId([0; 32]),
            source.into(),
        );
        let compiled = compiled.expect("a flow");
        let act = compiled.flow.steps[0].act().expect("a call");
        let query = Value::map([("at", Value::text("2026")), ("of", Value::Int(7))]);
        let url = Value::text("https://a.example/id_1/x?by=Ann%40Example.com");
        let rendered = Value::map([("url", url), ("query", query)]);
        let mut found = Vec::new();
        gather(&act.input, &rendered, &mut found);
        found.sort();
        assert_eq!(found, ["7", "Ann%40Example.com", "id_1"]);
        let found: Vec<String> = found.iter().map(|it| plain(it)).collect();
        assert_eq!(never_told(&found, "id_1 ann@example.com 7"), None);
        assert_eq!(never_told(&found, "id_1 7"), Some("ann@example.com"));
    }
}
