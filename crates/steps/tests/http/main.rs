//! `http` steps, and those that speak over it, against a destination that behaves as badly as real ones do.

#[path = "../shared/mod.rs"]
mod shared;

mod forbidden;
mod notify;
mod outcomes;
mod pages;
mod proxy;
mod redirects;
mod requests;
mod reuse;
mod secrets;
mod sink;
mod tls;

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_act::{SecretSet, Task};
use semel_flow::Expr;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Class, Kind};
use semel_steps::{OutgoingRules, Settings, Steps};

use shared::{message, perform, result, sealed, word};

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

/// A task with these fields.
fn task(class: Class, input: &str) -> Task {
    shared::task(Kind::Http, class, "bill", input)
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
