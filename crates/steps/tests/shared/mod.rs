//! What the tests of all kinds of steps have in common: a task, its performance, and what is known
//! afterwards.

#![allow(
    dead_code,
    reason = "compiled into several test binaries, each of which uses a part of it"
)]

pub(crate) mod corpus;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel_act::{Outcome, Perform as _, Task, Trace};
use semel_flow::Value;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_flow::value::Piece;
use semel_ledger::{Millis, Scope};
use semel_steps::Steps;

/// Counts how often it was told that a byte may leave.
#[derive(Default)]
pub(crate) struct Sent(AtomicUsize);

impl Sent {
    pub(crate) fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A task with these fields, for the order 17. A `{{NAME}}` in a text is the secret of that name.
pub(crate) fn task(kind: Kind, class: Class, scope: &str, input: &str) -> Task {
    Task {
        act: Arc::new(Act {
            kind,
            input: Tree::Null,
            exprs: BTreeMap::new(),
            span: Span::default(),
            shadow: None,
        }),
        input: sealed(Value::read(input.as_bytes()).expect(input)),
        class,
        scope: Some(Scope::new(scope).expect("a scope")),
        key: Some("order/17".parse().expect("a key")),
        attempt: 1,
        timeout: Millis::seconds(20),
    }
}

/// A value with `{{NAME}}` in its texts replaced by the secret of that name.
pub(crate) fn sealed(value: Value) -> Value {
    match value {
        Value::Text(text) => match secret_in(&text) {
            Some((before, name, after)) => Value::Sealed(Arc::new([
                Piece::Plain(before.into()),
                Piece::Secret(name.into()),
                Piece::Plain(after.into()),
            ])),
            None => Value::Text(text),
        },
        Value::List(items) => Value::list(items.iter().cloned().map(sealed).collect()),
        Value::Map(members) => Value::map(
            members
                .iter()
                .map(|(name, value)| (Arc::clone(name), sealed(value.clone()))),
        ),
        other => other,
    }
}

/// What stands before, in and after `{{NAME}}`; anything that is not the name of a secret is only text.
fn secret_in(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    let fits = |c: char| c.is_ascii_uppercase() || c == '_';
    name.chars().all(fits).then_some((before, name, after))
}

pub(crate) async fn perform(steps: &Steps, task: &Task) -> (Outcome, usize) {
    let sent = Sent::default();
    let outcome = steps.perform(task, &sent).await;
    (outcome, sent.times())
}

/// What is known about the effect, in a word.
pub(crate) fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Failed(failure) => failure.class.name(),
        Outcome::Unknown { .. } => "unknown",
    }
}

pub(crate) fn message(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(answer) => format!("done: {}", answer.names.to_json()),
        Outcome::Failed(failure) => failure.message.clone(),
        Outcome::Unknown { message, .. } => message.clone(),
    }
}

/// The result of what is done.
pub(crate) fn result(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(answer) => answer.result.to_json(),
        other => panic!("not done: {other:?}"),
    }
}
