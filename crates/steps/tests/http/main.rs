//! `http` steps, and those that speak over it, against a destination that behaves as badly as real ones do.

mod forbidden;
mod notify;
mod outcomes;
mod pages;
mod redirects;
mod requests;
mod reuse;
mod secrets;
mod sink;
mod tls;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel_act::{Outcome, Perform as _, SecretSet, Task, Trace};
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_flow::value::Piece;
use semel_flow::{Expr, Value};
use semel_ledger::{Millis, Scope};
use semel_steps::{OutgoingRules, Settings, Steps};

/// Counts how often it was told that a byte may leave.
#[derive(Default)]
struct Sent(AtomicUsize);

impl Sent {
    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn settings() -> Settings {
    let secrets = SecretSet::from_iter([
        ("TOKEN", "s3cret-t0ken/+"),
        ("URL", "http://127.0.0.1/hidden"),
    ]);
    Settings {
        rules: OutgoingRules::parse("127.0.0.1/32").expect("a range"),
        ..Settings::new(Arc::new(secrets))
    }
}

fn steps() -> Steps {
    Steps::new(settings())
}

/// A value with `{{NAME}}` in its texts replaced by the secret of that name.
fn sealed(value: Value) -> Value {
    match value {
        Value::Text(text) => match text.split_once("{{") {
            Some((before, rest)) => {
                let (name, after) = rest.split_once("}}").expect("a closed name");
                Value::Sealed(Arc::new([
                    Piece::Plain(before.into()),
                    Piece::Secret(name.into()),
                    Piece::Plain(after.into()),
                ]))
            }
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

/// A task with these fields.
fn task(class: Class, input: &str) -> Task {
    Task {
        act: Arc::new(Act {
            kind: Kind::Http,
            input: Tree::Null,
            exprs: BTreeMap::new(),
            span: Span::default(),
        }),
        input: sealed(Value::read(input.as_bytes()).expect(input)),
        class,
        scope: Some(Scope::new("bill").expect("a scope")),
        key: Some("order/17".parse().expect("a key")),
        attempt: 1,
        timeout: Millis::seconds(20),
    }
}

/// A POST whose repeat would be noticed.
fn post(url: &str) -> Task {
    task(
        Class::Guarded,
        &format!(r#"{{"post":"{url}","json":{{"n":1}}}}"#),
    )
}

fn get(url: &str) -> Task {
    task(Class::Read, &format!(r#"{{"get":"{url}"}}"#))
}

fn paged(input: &str, items: &str, next: &str) -> Task {
    let expr = |text: &str| Expr::parse(text, Span::default()).expect("an expression");
    let mut task = task(Class::Read, input);
    let act = Arc::get_mut(&mut task.act).expect("one owner");
    act.exprs = BTreeMap::from([("paging.items", expr(items)), ("paging.next", expr(next))]);
    task
}

async fn perform(steps: &Steps, task: &Task) -> (Outcome, usize) {
    let sent = Sent::default();
    let outcome = steps.perform(task, &sent).await;
    (outcome, sent.times())
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
