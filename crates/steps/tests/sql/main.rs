//! `sql` steps against real databases. What was done is read by another client, not by the step.

#[path = "../shared/mod.rs"]
mod shared;

mod cut;
mod forms;
mod injection;
mod proxy;
mod receipts;
mod refused;
mod types;
mod world;

use std::sync::Arc;

use semel_act::{SecretSet, Task};
use semel_flow::Value;
use semel_flow::model::{Class, Kind};
use semel_steps::{Connection, Settings, Steps};

use shared::{Sent, message, perform, result, word};

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

/// A task with these fields.
fn task(input: &str) -> Task {
    shared::task(Kind::Sql, Class::Keyed, "shop/order", input)
}

/// A task whose SQL is written with `$1`, as that database wants it.
fn sql(form: &str, sql: &str, params: &str) -> Task {
    let sql = Value::text(sql).to_json();
    task(&format!(
        r#"{{"on":"shop","{form}":{sql},"params":{params}}}"#
    ))
}

/// Performs, and expects it to be done.
async fn done(steps: &Steps, task: &Task) -> String {
    result(&perform(steps, task).await.0)
}
