//! What starts a flow in a proof: what a person gives, what the file has as examples, or what is made up.
//!
//! Owns where an event comes from. Leaves the outline of a sender's events to `preset` and values to `shape`.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::journal::Headers;
use semel_flow::check::{Due, Part, Read, headers, reads};
use semel_flow::expr::ast::Compare;
use semel_flow::model::{Preset, Trigger};
use semel_flow::{Flow, Value};

use crate::preset::{Outline, Wanted, outline};
use crate::shape::Shape;

/// An event that a flow is proved on.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it is called; the same in reports and on the command line.
    pub name: String,
    /// Where it comes from.
    pub from: From,
    /// The event.
    pub event: Value,
    /// The headers of its request that the flow uses.
    pub headers: Headers,
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// A person gave it.
    Given,
    /// The file has it as an example.
    Example,
    /// It is made up from what the flow reads and who sends it.
    MadeUp,
}

/// The events that the file itself leads to: its examples, or else one that is made up.
#[must_use]
pub fn of_flow(flow: &Flow) -> Vec<Event> {
    let examples = flow.examples.events.iter();
    let examples: Vec<Event> = examples
        .map(|example| Event {
            from: From::Example,
            headers: with_headers(flow, &example.headers),
            ..given(flow, &example.name, example.event.it.clone())
        })
        .collect();
    if examples.is_empty() {
        vec![made_up(flow, 1)]
    } else {
        examples
    }
}

/// An event that a person gives.
#[must_use]
pub fn given(flow: &Flow, name: &str, event: Value) -> Event {
    Event {
        name: name.to_owned(),
        from: From::Given,
        event,
        headers: with_headers(flow, &[]),
    }
}

/// The `number`th event, made up so that the flow finds what it reads.
#[must_use]
pub fn made_up(flow: &Flow, number: usize) -> Event {
    let all = reads(flow);
    let (mut shape, sketch) = (shape_of(&all), sketch(flow, &all, number));
    let event = if let Some(sketch) = &sketch {
        shape.fitted("event", number, &sketch.event)
    } else {
        // Whoever sends it, something tells one event from another.
        shape.add(&[Part::Member("id".into())], &Due::Any);
        shape.value("event", number)
    };
    Event {
        name: "made up".to_owned(),
        from: From::MadeUp,
        event,
        headers: with_headers(flow, &[]),
    }
}

/// What the flow reads of an event; an item of a list is one too.
fn shape_of(reads: &[Read]) -> Shape {
    let mut shape = Shape::Map(BTreeMap::new());
    for read in reads {
        if matches!(&*read.root, "event" | "item") && !read.path.is_empty() {
            shape.add(&read.path, &read.due);
        }
    }
    shape
}

/// What a sender that is known would send.
fn sketch(flow: &Flow, reads: &[Read], number: usize) -> Option<Outline> {
    let preset = flow.triggers.iter().find_map(|trigger| match trigger {
        Trigger::Webhook(hook) => Some(hook.verify.preset.it),
        _ => None,
    })?;
    outline(preset, &wanted(preset, reads), number)
}

fn wanted(preset: Preset, reads: &[Read]) -> Wanted<'_> {
    let member = match preset {
        Preset::Typeform => "event_type",
        _ => "type",
    };
    let kind = reads
        .iter()
        .find_map(|read| match (&read.due, &*read.path) {
            (Due::Like(Compare::Equal, value), [Part::Member(name)])
                if &*read.root == "event" && **name == *member =>
            {
                value.as_text()
            }
            _ => None,
        });
    let members = reads.iter().filter_map(|read| match read.path.first() {
        Some(Part::Member(name)) if &*read.root == "event" => Some(&**name),
        _ => None,
    });
    Wanted {
        kind,
        members: members.collect(),
    }
}

/// The headers that the flow uses: as given, else as its sender would send them, else made up.
fn with_headers(flow: &Flow, given: &[(Box<str>, Box<str>)]) -> Headers {
    let used = headers(flow);
    if used.is_empty() {
        return Headers::new();
    }
    let all = reads(flow);
    let mut shape = Shape::Map(BTreeMap::new());
    for read in all.iter().filter(|read| &*read.root == "request") {
        if let [Part::Member(_), rest @ ..] = &*read.path {
            shape.add(rest, &read.due);
        }
    }
    for name in &used {
        shape.add(&[Part::Member(name.as_str().into())], &Due::Any);
    }
    let known = sketch(flow, &all, 1).map_or(Vec::new(), |sketch| sketch.headers);
    let made = shape.fitted("", 1, &Value::map(known));
    let text = |name: &String| -> Option<(Box<str>, Box<str>)> {
        let written = given.iter().find(|(given, _)| **given == **name);
        let text: Arc<str> = match written {
            Some((_, text)) => (**text).into(),
            None => made.get(name)?.shown().into(),
        };
        Some((name.as_str().into(), (*text).into()))
    };
    used.iter().filter_map(text).collect()
}
