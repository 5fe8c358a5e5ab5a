//! Values that a flow can work with, made up from the paths that it reads.
//!
//! Owns the shape of an event or an answer, and believable values for it. The invariant: the same shape and number
//! give the same value, so a resend is the same event and a retry gets the same answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_flow::Value;
use semel_flow::check::{Due, Part};
use semel_flow::expr::ast::Compare;

/// How many items a list has.
const ITEMS: usize = 2;
/// A number where one is due, and nothing says which.
const NUMBER: i64 = 4200;

/// What a value must look like.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Leaf(Due),
    Map(BTreeMap<Arc<str>, Shape>),
    List(Box<Shape>),
}

impl Default for Shape {
    fn default() -> Shape {
        Shape::Leaf(Due::Any)
    }
}

impl Shape {
    /// Makes room for what is read by that way.
    pub(crate) fn add(&mut self, path: &[Part], due: &Due) {
        let Some((first, rest)) = path.split_first() else {
            self.end(due);
            return;
        };
        match first {
            Part::Member(name) => {
                if !matches!(self, Shape::Map(_)) {
                    *self = Shape::Map(BTreeMap::new());
                }
                if let Shape::Map(members) = self {
                    members.entry(Arc::clone(name)).or_default().add(rest, due);
                }
            }
            Part::Item => {
                if let Shape::Leaf(_) = self {
                    *self = Shape::List(Box::default());
                }
                if let Shape::List(item) = self {
                    item.add(rest, due);
                }
            }
        }
    }

    fn end(&mut self, due: &Due) {
        match (&self, due) {
            (Shape::Leaf(_), Due::List) => *self = Shape::List(Box::default()),
            // What is said first counts: it is the condition that stands first in the file.
            (Shape::Leaf(Due::Any), _) => *self = Shape::Leaf(due.clone()),
            _ => {}
        }
    }

    /// Whether there is a list in it, which can be empty.
    pub(crate) fn has_list(&self) -> bool {
        match self {
            Shape::Leaf(_) => false,
            Shape::List(_) => true,
            Shape::Map(members) => members.values().any(Shape::has_list),
        }
    }

    /// A value of that shape, the `number`th of its kind.
    pub(crate) fn value(&self, name: &str, number: usize) -> Value {
        match self {
            Shape::Leaf(due) => leaf(name, due, number),
            Shape::Map(members) => Value::map(
                members
                    .iter()
                    .map(|(name, shape)| (Arc::clone(name), shape.value(name, number))),
            ),
            Shape::List(item) => {
                let items = (0..ITEMS).map(|at| item.value(name, number * 10 + at + 1));
                Value::list(items.collect())
            }
        }
    }

    /// A value of that shape that keeps as much of an outline as fits.
    pub(crate) fn fitted(&self, name: &str, number: usize, outline: &Value) -> Value {
        match (self, outline) {
            (_, Value::Null) => self.value(name, number),
            (Shape::Map(members), Value::Map(known)) => {
                let mut all = (**known).clone();
                for (name, shape) in members {
                    let known = known.get(name).unwrap_or(&Value::Null);
                    all.insert(Arc::clone(name), shape.fitted(name, number, known));
                }
                Value::Map(Arc::new(all))
            }
            (Shape::List(item), Value::List(items)) if !items.is_empty() => {
                let items = items.iter().zip(1..);
                let items = items.map(|(it, at)| item.fitted(name, number * 10 + at, it));
                Value::list(items.collect())
            }
            (Shape::Leaf(due), known) if fits(due, known) => known.clone(),
            _ => self.value(name, number),
        }
    }

    /// The same with every list empty: nothing was found.
    pub(crate) fn emptied(&self, name: &str) -> Value {
        match self {
            Shape::Leaf(Due::Truth) => Value::Bool(false),
            Shape::Leaf(due) => match leaf(name, due, 1) {
                Value::Bool(_) => Value::Bool(false),
                _ => Value::Null,
            },
            Shape::List(_) => Value::list(Vec::new()),
            Shape::Map(members) => Value::map(
                members
                    .iter()
                    .map(|(name, shape)| (Arc::clone(name), shape.emptied(name))),
            ),
        }
        .named(name)
    }
}

trait Named {
    fn named(self, name: &str) -> Value;
}

impl Named for Value {
    /// A count of nothing is zero.
    fn named(self, name: &str) -> Value {
        match (self, name) {
            (Value::Null, "count" | "total") => Value::Int(0),
            (value, _) => value,
        }
    }
}

/// Whether a value is what is due.
fn fits(due: &Due, value: &Value) -> bool {
    match due {
        Due::Any => true,
        Due::Number => matches!(value, Value::Int(_) | Value::Decimal(_)),
        Due::Truth => matches!(value, Value::Bool(true)),
        Due::List => matches!(value, Value::List(_)),
        Due::Like(Compare::Equal, due) => value == due,
        Due::Like(Compare::Unequal, due) => value != due,
        Due::Like(..) => false,
    }
}

fn leaf(name: &str, due: &Due, number: usize) -> Value {
    match due {
        Due::Like(by, value) => like(*by, value, name, number),
        Due::Number => Value::Int(NUMBER + i64::try_from(number).unwrap_or(1) - 1),
        Due::Truth => Value::Bool(true),
        Due::List => Value::list(Vec::new()),
        Due::Any => by_name(name, number),
    }
}

fn like(by: Compare, value: &Value, name: &str, number: usize) -> Value {
    match (by, value) {
        (Compare::Equal | Compare::AtLeast | Compare::AtMost, value) => value.clone(),
        (Compare::Greater, Value::Int(bound)) => Value::Int(bound.saturating_add(1)),
        (Compare::Less, Value::Int(bound)) => Value::Int(bound.saturating_sub(1)),
        (Compare::Unequal, Value::Bool(truth)) => Value::Bool(!truth),
        (Compare::Unequal, Value::Int(other)) => Value::Int(other.saturating_add(1)),
        _ => by_name(name, number),
    }
}

/// A value as people would expect it under that name.
fn by_name(name: &str, number: usize) -> Value {
    const NUMBERS: [&str; 16] = [
        "amount", "total", "price", "count", "quantity", "created", "updated", "version", "number",
        "size", "age", "status", "time", "cents", "weight", "seats",
    ];
    let words = words(name);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let name = name.to_ascii_lowercase();
    if has(&["mail", "email"]) {
        Value::text(&format!("person{number}@example.com"))
    } else if has(&["url", "link", "href"]) {
        Value::text(&format!("https://example.com/{number}"))
    } else if name == "currency" {
        Value::text("eur")
    } else if has(&NUMBERS) {
        Value::Int(NUMBER + i64::try_from(number).unwrap_or(0))
    } else if has(&["is", "has", "paid", "active", "enabled"]) {
        Value::Bool(true)
    } else if name.is_empty() {
        Value::text(&format!("item_{number}"))
    } else {
        Value::text(&format!("{name}_{number}"))
    }
}

/// The words of a name: `receipt_email`, `receiptEmail`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Part {
        Part::Member(name.into())
    }

    #[test]
    fn values_fit_what_is_read() {
        let mut shape = Shape::default();
        let paid = Due::Like(Compare::Equal, Value::text("paid"));
        shape.add(&[member("type")], &paid);
        shape.add(&[member("type")], &Due::Any);
        let above = Due::Like(Compare::Greater, Value::Int(500));
        shape.add(&[member("data"), member("amount")], &above);
        shape.add(&[member("lines"), Part::Item, member("sku")], &Due::Any);
        shape.add(&[member("lines")], &Due::List);
        let value = shape.value("event", 1).to_json();
        assert_eq!(
            value,
            r#"{"data":{"amount":501},"lines":[{"sku":"sku_11"},{"sku":"sku_12"}],"type":"paid"}"#
        );
        assert_eq!(value, shape.value("event", 1).to_json());
        assert!(shape.has_list());
        let empty = shape.emptied("event").to_json();
        assert_eq!(empty, r#"{"data":{"amount":null},"lines":[],"type":null}"#);
    }
}
