//! What destinations answer: whatever later steps read, in the form of their kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_act::{Answer, Failure, FailureClass, Outcome};
use semel_flow::Value;
use semel_flow::expr::Names;
use semel_flow::model::{Act, Kind};
use semel_ledger::Time;

use crate::stage::Place;

/// The answer to the call of that number.
pub(crate) fn answer(place: &Place, number: usize) -> Answer {
    shaped(place, answered(place, number))
}

/// What is answered: as the file says, and made up where it does not.
fn answered(place: &Place, number: usize) -> Value {
    let made = place.answer.value("", number);
    let Some(Value::Map(given)) = &place.given else {
        return made;
    };
    let mut all = match made {
        Value::Map(made) => (*made).clone(),
        _ => BTreeMap::new(),
    };
    // What a later step reads of the result is made up as a body, whatever its kind calls it.
    all.retain(|name, _| place.kind.answer_names().contains(&&**name));
    all.extend((**given).clone());
    Value::Map(Arc::new(all))
}

/// An answer as the file gives it; of a list that is fetched page by page, all that its one page has.
pub(crate) fn given(act: &Act, answer: &Value) -> Value {
    let items = act.exprs.get("paging.items");
    let items = items.and_then(|items| items.eval(&Answered(answer)).ok());
    match items {
        Some(items) => with(answer, "body", items),
        None => answer.clone(),
    }
}

/// What expressions over an answer see.
struct Answered<'a>(&'a Value);

impl Names for Answered<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }

    fn now(&self) -> Time {
        Time(0)
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }
}

/// There is no such thing.
pub(crate) fn nothing(place: &Place) -> Outcome {
    let mut empty = shaped(place, place.answer.emptied(""));
    if place.kind != Kind::Http || place.answer.has_list() {
        return Outcome::Done(empty);
    }
    empty.names = with(&empty.names, "status", Value::Int(404));
    Outcome::Failed(Failure {
        class: FailureClass::Refused,
        message: "404".to_owned(),
        retry_after: None,
        answer: Some(empty),
    })
}

/// The page after the last.
pub(crate) fn empty_page(place: &Place) -> Answer {
    shaped(place, place.answer.emptied(""))
}

/// An answer with these names, and with what every answer of its kind has.
fn shaped(place: &Place, made: Value) -> Answer {
    let usual: &[(&str, Value)] = &match place.kind {
        Kind::Http | Kind::Notify => [
            ("status", Value::Int(200)),
            ("body", Value::map::<&str>([])),
        ],
        Kind::Sql => [("count", Value::Int(1)), ("rows", Value::list(Vec::new()))],
        Kind::Email => [
            ("message_id", Value::text("<1@example.com>")),
            ("accepted", Value::list(Vec::new())),
        ],
        Kind::Ai => [("model", Value::text("simulated")), ("cost", Value::Null)],
        _ => [("status", Value::Int(0)), ("stdout", Value::text(""))],
    };
    let mut names = made;
    for (name, value) in usual {
        if names.get(name).is_none() {
            names = with(&names, name, value.clone());
        }
    }
    if place.kind == Kind::Ai {
        names = said(&names);
    }
    let result = ["body", "json", "text", "rows", "stdout", "message_id"]
        .into_iter()
        .find_map(|name| names.get(name));
    let result = result.cloned().unwrap_or(Value::Null);
    Answer { names, result }
}

/// What a model said, as text and as JSON.
fn said(names: &Value) -> Value {
    let said = ["body", "json", "text"]
        .into_iter()
        .find_map(|name| names.get(name));
    let said = said.cloned().unwrap_or_else(|| Value::text("something"));
    let text = with(names, "text", Value::text(&said.shown()));
    with(&text, "json", said)
}

fn with(names: &Value, name: &str, value: Value) -> Value {
    let mut members = match names {
        Value::Map(members) => Arc::clone(members),
        _ => Arc::default(),
    };
    Arc::make_mut(&mut members).insert(name.into(), value);
    Value::Map(members)
}

/// It definitely did nothing.
pub(crate) fn failed(class: FailureClass, message: &str) -> Outcome {
    Outcome::Failed(Failure {
        class,
        message: message.to_owned(),
        retry_after: None,
        answer: None,
    })
}

/// Nobody knows.
pub(crate) fn lost(message: &str, evidence: Option<Answer>) -> Outcome {
    Outcome::Unknown {
        message: message.to_owned(),
        evidence,
    }
}
