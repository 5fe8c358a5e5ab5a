//! What comes from outside: what a sender repeats of an event, and what it tells of the same thing later.
//!
//! Owns believable deliveries. The invariant: the same number gives the same delivery, so a try can be
//! tried again.

use std::sync::Arc;

use semel_engine::journal::Headers;
use semel_flow::check::{Due, Part, Read, is_of_delivery, is_repeated, reads_of};
use semel_flow::expr::{Part as TextPart, Template};
use semel_flow::model::{Act, Action, Kind, Step, Tree, Trigger};
use semel_flow::{Expr, Flow, Value};

use crate::stage::steps;

/// The way to a member.
type Path = Vec<Part>;

/// An event on its way: what is posted, with the headers that the flow uses.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) event: Value,
    pub(crate) headers: Headers,
}

/// What a sender makes of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    headers: Headers,
    /// What it calls differently at every delivery.
    moving: Vec<Path>,
}

impl Sender {
    /// Whoever sends these headers, and what is read of the event.
    pub(crate) fn of(headers: Headers, reads: &[Read]) -> Sender {
        let of_event = reads.iter().filter(|read| &*read.root == "event");
        let moves = |read: &&Read| match read.path.last() {
            Some(Part::Member(name)) => is_of_delivery(name),
            _ => false,
        };
        Sender {
            headers,
            moving: of_event
                .filter(moves)
                .map(|read| read.path.clone())
                .collect(),
        }
    }

    /// The delivery of that number, from 1.
    pub(crate) fn sends(&self, event: &Value, nth: usize) -> Arrival {
        let mut headers = self.headers.clone();
        let mut event = event.clone();
        if nth > 1 {
            for (name, value) in &mut headers {
                if !is_repeated(name) {
                    *value = format!("{value}-{nth}").into();
                }
            }
            for path in &self.moving {
                event = changed(&event, path, &|value| next(value, nth - 1));
            }
        }
        Arrival { event, headers }
    }
}

/// A later event about the same thing: another event by its key, newer, with other content. `None` if the flow
/// takes all that is told of one thing for the same event.
pub(crate) fn sibling(flow: &Flow, reads: &[Read], first: &Value) -> Option<Value> {
    let key = match &flow.key {
        Some(key) => paths(flow, key),
        None => vec![vec![Part::Member("id".into())]],
    };
    let thing = things(flow);
    let of_event = |read: &&Read| &*read.root == "event";
    let compared = |path: &Path| {
        let mut same = reads.iter().filter(of_event).filter(|it| it.path == *path);
        same.any(|read| matches!(read.due, Due::Like(..) | Due::Truth))
    };
    let stays = |path: &Path| thing.contains(path) || compared(path);
    if key.iter().all(stays) {
        return None;
    }
    let read = reads.iter().filter(of_event).map(|read| read.path.clone());
    let mut moves: Vec<Path> = read.chain(key).collect();
    moves.retain(|path| !path.is_empty() && !stays(path) && !path.contains(&Part::Item));
    moves.sort_by_key(|path| format!("{path:?}"));
    moves.dedup();
    let mut event = first.clone();
    for path in &moves {
        event = changed(&event, path, &|value| next(value, 1));
    }
    (event != *first).then_some(event)
}

/// What names the thing that is told of: where it is put, and what it is compared by.
fn things(flow: &Flow) -> Vec<Path> {
    let mut found = Vec::new();
    for trigger in &flow.triggers {
        if let Trigger::Webhook(hook) = trigger
            && let Some(latest) = &hook.latest
        {
            found.extend(paths(flow, &latest.of));
        }
    }
    for step in steps(flow) {
        step.key
            .iter()
            .for_each(|key| found.extend(paths(flow, key)));
        for act in acts(step) {
            found.extend(target(act).into_iter().flat_map(|tree| in_tree(flow, tree)));
        }
    }
    found
}

fn acts(step: &Step) -> Vec<&Act> {
    match &step.action {
        Action::Act(act) => vec![act],
        Action::Ensure(ensure) => vec![&ensure.find.act, &ensure.create.act],
        _ => Vec::new(),
    }
}

/// The fields of a call that say which thing it is about.
fn target(act: &Act) -> Vec<&Tree> {
    let fields: &[&str] = match act.kind {
        Kind::Http => &["url", "query"],
        Kind::Notify => &["update"],
        Kind::Kv => &["get", "set", "set_if_absent", "swap", "delete", "add"],
        Kind::Sql => &[],
        _ => return Vec::new(),
    };
    let own = fields.iter().filter_map(|field| act.member(field));
    let rows = [("upsert", "on"), ("insert", "on"), ("update", "where")];
    let rows = rows
        .into_iter()
        .filter_map(|(form, by)| act.member(form)?.member(by));
    own.chain(rows).collect()
}

fn in_tree(flow: &Flow, tree: &Tree) -> Vec<Path> {
    match tree {
        Tree::Text(template) => paths(flow, template),
        Tree::List(items) => items.iter().flat_map(|it| in_tree(flow, it)).collect(),
        Tree::Map(members) => members
            .iter()
            .flat_map(|(_, it)| in_tree(flow, it))
            .collect(),
        _ => Vec::new(),
    }
}

/// What a text reads of the event.
fn paths(flow: &Flow, template: &Template) -> Vec<Path> {
    let exprs = template.parts.iter().filter_map(|part| match part {
        TextPart::Expr(expr) => Some(expr),
        TextPart::Text(_) => None,
    });
    let read = |expr: &Expr| reads_of(flow, expr, Due::Any);
    let reads = exprs.flat_map(read).filter(|read| &*read.root == "event");
    reads.map(|read| read.path).collect()
}

/// The value with what stands at the end of the way changed.
fn changed(value: &Value, path: &[Part], change: &dyn Fn(&Value) -> Value) -> Value {
    match (path.split_first(), value) {
        (None, value) => change(value),
        (Some((Part::Member(name), rest)), Value::Map(members)) => {
            let mut members = Arc::clone(members);
            if let Some(member) = Arc::make_mut(&mut members).get_mut(name) {
                *member = changed(member, rest, change);
            }
            Value::Map(members)
        }
        (_, value) => value.clone(),
    }
}

/// The next of its kind: a later time, a larger number, another name.
fn next(value: &Value, more: usize) -> Value {
    let by = i64::try_from(more).unwrap_or(1);
    match value {
        Value::Int(number) => Value::Int(number.saturating_add(by)),
        Value::Text(text) if is_time(text) => {
            let year: i64 = text[..4].parse().unwrap_or(2026);
            Value::text(&format!("{:04}{}", year + by, &text[4..]))
        }
        Value::Text(text) => Value::text(&format!("{text}-{}", more + 1)),
        other => other.clone(),
    }
}

/// `2026-01-05T…`
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        let part = bytes.get(range);
        part.is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    text.is_ascii() && digits(0..4) && digits(5..7) && bytes.get(4) == Some(&b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Event, made_up};

    fn flow(key: &str) -> Flow {
        let source = format!(
            "name: a\non: {{webhook: {{path: /hooks/a, verify: none}}}}\nkey: {key}\nsteps:\n  - id: put\n    \
             http: {{put: \"https://a.example/${{{{ event.order }}}}\", json: {{state: \"${{{{ event.state }}}}\"}}}}\n"
        );
        semel_flow::read(&source).flow.expect("a flow")
    }

    #[test]
    fn a_later_event_tells_of_the_same_thing() {
        let flow = flow("${{ event.id }}");
        let reads = semel_flow::check::reads(&flow);
        let first = made_up(&flow, 1).event;
        let later = sibling(&flow, &reads, &first).expect("another");
        let text = r#"{"id":"id_1-2","order":"order_1","state":"state_1-2"}"#;
        assert_eq!(later.to_json(), text);
    }

    #[test]
    fn what_has_the_key_of_the_thing_is_the_same_event() {
        let flow = flow("${{ event.order }}");
        let reads = semel_flow::check::reads(&flow);
        assert_eq!(sibling(&flow, &reads, &made_up(&flow, 1).event), None);
    }

    #[test]
    fn a_sender_changes_only_what_belongs_to_the_delivery() {
        let source = "name: a\non: {webhook: {path: /hooks/a, verify: none}}\n\
                      key: ${{ event.id }}/${{ event.attempt }}/${{ request.headers[\"x-request-id\"] }}/${{ request.headers[\"x-event-id\"] }}\nsteps:\n  - {id: end, stop: }\n";
        let flow = semel_flow::read(source).flow.expect("a flow");
        let reads = semel_flow::check::reads(&flow);
        let Event { event, headers, .. } = made_up(&flow, 1);
        let sender = Sender::of(headers, &reads);
        let (one, two) = (sender.sends(&event, 1), sender.sends(&event, 2));
        assert_eq!(one.event.get("id"), two.event.get("id"));
        assert_ne!(one.event.get("attempt"), two.event.get("attempt"));
        assert_eq!(one.headers["x-event-id"], two.headers["x-event-id"]);
        assert_ne!(one.headers["x-request-id"], two.headers["x-request-id"]);
    }
}
