//! `POST /callbacks/{token}`: somebody outside goes on with a run that waits, or will wait, for it.
//!
//! Owns the answers. Which callback counts is decided by one entry of the ledger, written in one commit with the mail
//! that wakes the run; the end of patience is decided by the same entry. The invariant: whatever is answered with 200
//! is durable, and nothing but a POST with a token of this server changes anything.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_engine::callback;
use semel_engine::token::{Purpose, Token};
use semel_ledger::Verdict;
use semel_ledger::json::Canonical;
use semel_store::blob::hex;
use semel_store::run::Run;
use semel_store::{Answer, Answered, EffectChange, Record, StoreError};

use crate::app::App;
use crate::body;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::refusal;

/// The path, up to the token.
const PATH: &str = "/callbacks/";
/// What an empty body says.
const NOTHING: &str = "null";

/// `POST /callbacks/{token}`
pub(crate) async fn receive(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let (token, run) = known(&app, request.uri().path()).await?;
    let document = body::optional(&app, request).await?;
    let posted = document.map(body::Document::into_canonical);
    let posted = posted.unwrap_or_else(|| Canonical::trusted(NOTHING.into()));
    let remember = app.settings.remember;
    let arrival = callback::arrival(token.run, &token.step, &posted, remember)?;
    let before = app.store.load(&arrival.effect).await?;
    let answered = match before {
        // What is on record refuses it, and that leaves a receipt.
        Some(_) => app.store.step(arrival).await?,
        None if run.state.is_open() => deliver(&app, &token, arrival).await?,
        None => return Err(expired()),
    };
    answer(&answered)
}

/// What a token of this server is for; every other path leads nowhere, alike.
async fn known(app: &App, path: &str) -> Result<(Token, Run), Problem> {
    let token = path.strip_prefix(PATH).and_then(|text| {
        let links = &app.engine.settings().links;
        links.read(text, Purpose::Callback)
    });
    let token = token.ok_or_else(nowhere)?;
    let run = app.store.run(token.run).await?.ok_or_else(nowhere)?;
    Ok((token, run))
}

/// Puts it on record and wakes the run, in one commit.
async fn deliver(app: &App, token: &Token, arrival: EffectChange) -> Result<Answered, Problem> {
    let (effect, by) = (arrival.effect.clone(), arrival.content.by.clone());
    let mail = callback::mail(token.run, &token.step);
    let answers = app.store.commit(vec![arrival.into(), mail]).await?;
    app.engine.mail_came(token.run);
    match answers.into_iter().next() {
        Some(Answer::Effect(answered)) if answered.verdict.is_grant() => Ok(*answered),
        Some(Answer::Effect(answered)) => Ok(app.store.refusal(effect, by, *answered)),
        _ => Err(StoreError::Closed.into()),
    }
}

fn answer(answered: &Answered) -> Result<Response, Problem> {
    let status = match (answered.verdict, answered.record.as_deref()) {
        (Verdict::First, _) => "accepted",
        (Verdict::Done, Some(first)) if callback::is_expired(first) => return Err(expired()),
        (Verdict::Done, _) => "already_recorded",
        (Verdict::Conflict, first) => return Err(another(first)),
        (verdict, _) => return Err(refusal::unexpected(verdict)),
    };
    let mut out = Object::new();
    out.text("status", status);
    Ok(out.respond(StatusCode::OK))
}

fn nowhere() -> Problem {
    Problem::new(Code::NotFound, "there is no such callback")
        .fix("call exactly the address that the flow gave")
}

fn expired() -> Problem {
    let detail = "nobody waits for this callback any more: its time is over, or its run is";
    Problem::new(Code::CallbackExpired, detail)
}

/// Something else was posted before: which, but not what.
fn another(first: Option<&Record>) -> Problem {
    let detail = "something else was posted before, and that counts";
    let mut problem = Problem::new(Code::CallbackAnswered, detail);
    if let Some(first) = first {
        let fingerprint = first.entry.fingerprint.map(|it| hex(&it.0));
        problem.more.object("first", |out| {
            out.time("at", first.entry.claimed_at)
                .text_or_null("fingerprint", fingerprint.as_deref());
        });
    }
    problem
}
