//! `ai` steps against a model that speaks all three APIs over real HTTP, counts, and behaves badly when told to.
//!
//! That it speaks as the real ones do is shown by the official client libraries.

#[path = "../shared/mod.rs"]
mod shared;

mod answers;
mod identity;
mod official;
mod questions;
mod server;

use std::sync::Arc;

use semel_act::{Outcome, SecretSet, Task};
use semel_flow::Value;
use semel_flow::model::{Class, Kind};
use semel_flow::value::Piece;
use semel_steps::{Api, Model, Models, OutgoingRules, Price, Settings, Steps};

use server::{KEY, Server};
use shared::{message, perform, result, word};

/// What the key is in the configuration.
fn key() -> Value {
    Value::Sealed(Arc::new([Piece::Secret("MODEL_KEY".into())]))
}

/// A model of the test's server, which is told by its name what to do.
fn model(server: &Server, api: Api, name: &str) -> Model {
    let model = Model::new(api, name).expect("a name");
    let mut model = model.at(&server.base(api)).expect("an address");
    model.key = Some(key());
    model.price = Some(Price::new("0.15", "0.60", "USD").expect("prices"));
    model
}

/// Steps that know one model, as `small`.
fn steps(small: Model) -> Steps {
    let mut models = Models::default();
    models.add("small", small);
    let secrets = SecretSet::from_iter([("MODEL_KEY", KEY), ("CODE", "t0p-s3cret-code")]);
    Steps::new(Settings {
        rules: OutgoingRules::parse("127.0.0.1/32").expect("a range"),
        models,
        ..Settings::new(Arc::new(secrets))
    })
}

/// A question with these fields.
fn ask(input: &str) -> Task {
    shared::task(Kind::Ai, Class::Guarded, "note", input)
}

/// Asks a model of that name by that API.
async fn asked(server: &Server, api: Api, name: &str, input: &str) -> (Outcome, usize) {
    perform(&steps(model(server, api, name)), &ask(input)).await
}

const PLAIN: &str = r#"{"model":"small","prompt":"How are you?"}"#;
const MOOD: &str = r#"{"model":"small","prompt":"How are you?","schema":{"type":"object",
    "properties":{"mood":{"type":"string","enum":["good","bad"]},"score":{"type":"integer"}},
    "required":["mood","score"],"additionalProperties":false}}"#;
