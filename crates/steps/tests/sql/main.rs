//! `sql` steps against real databases. What was done is read by another client, not by the step.

mod cut;
mod forms;
mod proxy;
mod receipts;
mod refused;
mod types;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel_act::{Outcome, Perform as _, SecretSet, Task, Trace};
use semel_flow::Value;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_flow::value::Piece;
use semel_ledger::{Millis, Scope};
use semel_steps::{Connection, Settings, Steps};

/// Counts how often it was told that a byte may have an effect.
#[derive(Default)]
struct Sent(AtomicUsize);

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Steps that know the database at that address as `shop`.
fn steps(url: &str) -> Steps {
    steps_with(url, None)
}

fn steps_with(url: &str, password: Option<&str>) -> Steps {
    let secrets =
        SecretSet::from_iter([("TOKEN", "s3cret-t0ken"), ("PASSWORD", "hunter22-password")]);
    let mut settings = Settings::new(Arc::new(secrets));
    let shop = Connection::parse(url, password).expect(url);
    settings.connections.insert("shop".to_owned(), shop);
    Steps::new(settings)
}

/// A task with these fields, for the order 17. A text `{{NAME}}` is the secret of that name.
fn task(input: &str) -> Task {
    Task {
        act: Arc::new(Act {
            kind: Kind::Sql,
            input: Tree::Null,
            exprs: BTreeMap::new(),
            span: Span::default(),
        }),
        input: sealed(Value::read(input.as_bytes()).expect(input)),
        class: Class::Keyed,
        key: Some("order/17".parse().expect("a key")),
        scope: Some(Scope::new("shop/order").expect("a scope")),
        attempt: 1,
        timeout: Millis::seconds(20),
    }
}

fn sealed(value: Value) -> Value {
    match value {
        Value::Text(text) if text.starts_with("{{") => {
            let name = text.trim_matches(['{', '}']);
            Value::Sealed(Arc::new([Piece::Secret(name.into())]))
        }
        Value::List(items) => Value::list(items.iter().cloned().map(sealed).collect()),
        Value::Map(members) => Value::map(
            members
                .iter()
                .map(|(name, value)| (Arc::clone(name), sealed(value.clone()))),
        ),
        other => other,
    }
}

/// A task whose SQL is written with `$1`, as that database wants it.
fn sql(form: &str, sql: &str, params: &str) -> Task {
    let sql = Value::text(sql).to_json();
    task(&format!(
        r#"{{"on":"shop","{form}":{sql},"params":{params}}}"#
    ))
}

async fn perform(steps: &Steps, task: &Task) -> (Outcome, usize) {
    let sent = Sent::default();
    let outcome = steps.perform(task, &sent).await;
    (outcome, sent.0.load(Ordering::SeqCst))
}

/// What is known about the effect, in a word.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Failed(failure) => failure.class.name(),
        Outcome::Unknown { .. } => "unknown",
    }
}

fn message(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(answer) => format!("done: {}", answer.names.to_json()),
        Outcome::Failed(failure) => failure.message.clone(),
        Outcome::Unknown { message, .. } => message.clone(),
    }
}

/// The result of what is done.
fn result(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(answer) => answer.result.to_json(),
        other => panic!("not done: {other:?}"),
    }
}

/// Performs, and expects it to be done.
async fn done(steps: &Steps, task: &Task) -> String {
    result(&perform(steps, task).await.0)
}
