//! `GET /v1/inbox/{id}` and `POST /v1/inbox/{id}/decide`: one item, and a person's word on it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::app::App;
use crate::audit::Told;
use crate::auth::Caller;
use crate::body;
use crate::fields::Fields;
use crate::inbox::answer::{Outcome, Said, WORDS, Word, answer};
use crate::inbox::item::Item;
use crate::inbox::person::Person;
use crate::inbox::refuse;
use crate::inbox::show::Whole;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::settle::MAX_NOTE;
use crate::target::Segment;

const FIELDS: [&str; 5] = ["decision", "hash", "note", "result", "by"];

/// `GET /v1/inbox/{id}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let item = Item::named(&app, &name).await?;
    let whole = Whole::load(&app, &item).await?;
    let mut out = Object::new();
    whole.write(&app, &item, &mut out);
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/inbox/{id}/decide`
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&FIELDS)?;
    let word = word(&fields)?;
    caller.needs(word.scope())?;
    let hash = fields.text("hash")?;
    let said = Said {
        word,
        person: Person::calling(&app, &caller, fields.name("by")?.as_deref()),
        note: fields.note("note", MAX_NOTE)?,
        result: document.sent()?.any("result").map(Into::into),
    };
    let item = Item::named(&app, &name).await?;
    suits(&fields, &item, &said)?;
    if item.request.is_some() {
        fields.need("hash", hash.as_ref())?;
    }
    if hash.is_some_and(|hash| *hash != *item.hash()) {
        return Err(refuse::changed(&item));
    }
    let outcome = answer(&app, &item, &said).await?;
    let mut out = Object::new();
    out.text("id", &item.id());
    write_outcome(&mut out, &item, &outcome);
    Ok(Told::how(word.name()).with(out.respond(StatusCode::OK)))
}

/// The decision that is asked for.
pub(crate) fn word(fields: &Fields<'_>) -> Result<Word, Problem> {
    let word = fields.word("decision", Word::named, &WORDS)?;
    fields.need("decision", word)
}

/// A request is approved or rejected; of a lost answer it is said what is true.
fn suits(fields: &Fields<'_>, item: &Item, said: &Said) -> Result<(), Problem> {
    if !said.word.suits(item) {
        let (this, words) = match item.request {
            Some(_) => ("a request for leave", "approve or reject"),
            None => ("a lost answer", "happened, resend or failed"),
        };
        let why = format!("must be {words}: this is {this}");
        return Err(fields.invalid("decision", &why));
    }
    let happened = matches!(said.word, Word::Is(semel_ledger::Decision::Happened));
    if said.result.is_some() && !happened {
        return Err(fields.invalid("result", "goes with the decision happened only"));
    }
    Ok(())
}

/// Writes what became of a decision.
pub(crate) fn write_outcome(out: &mut Object, item: &Item, outcome: &Outcome) {
    let (again, left) = match outcome {
        Outcome::Decided { again, .. } => (*again, 0),
        Outcome::Voted { left, again } => (*again, *left),
    };
    out.text(
        "status",
        if again {
            "already_recorded"
        } else {
            "recorded"
        },
    )
    .number("left", left.into());
    match outcome {
        Outcome::Decided { winner, .. } => out.object("decided", |out| {
            refuse::write_winner(out, item, winner);
        }),
        Outcome::Voted { .. } => out.raw("decided", "null"),
    };
}
