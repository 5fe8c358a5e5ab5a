//! `POST /v1/guard/{scope}/{key}`: ask to act. Also the heartbeat and word of a dead owner.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{Command, EffectId, Owner, State as EffectState, Verdict};
use semel_store::{Answered, EffectChange, Record, Store};

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::claiming::{Asked, DEFAULT_LEASE, LEASE, read_process, read_token};
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::refusal;
use crate::settle::stale;
use crate::target::Target;

const FIELDS: [&str; 7] = [
    "input",
    "lease",
    "on_unknown",
    "remember",
    "owner",
    "token",
    "process",
];

/// `POST /v1/guard/{scope}/{key}`
pub(crate) async fn claim(
    State(app): State<Arc<App>>,
    Target(effect): Target,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let mut asked = Asked::plain(&app.settings, &caller);
    let document = body::optional(&app, request).await?;
    if let Some(document) = &document {
        let fields = document.fields()?;
        fields.only(&FIELDS)?;
        asked.read(&fields)?;
    }
    let Asked { claim, content } = asked;
    let fence = claim.fence;
    let answered = app
        .store
        .step(EffectChange {
            effect: effect.clone(),
            command: Command::Claim(claim),
            content,
        })
        .await?;
    app.claimed(answered.verdict);
    match answered.verdict {
        Verdict::Granted => Ok(granted(&answered)),
        Verdict::Done => done(&app.store, &answered).await,
        Verdict::Stale => Err(stale(&app.store, &effect, fence, &answered)),
        _ => Err(refusal::explain(&app.store, &effect, document.as_ref(), &answered).await),
    }
}

fn granted(answered: &Answered) -> Response {
    let mut out = Object::new();
    out.text("verdict", "granted");
    if let Some(entry) = answered.entry {
        out.hex("token", &entry.fence.0)
            .number("attempt", entry.attempt.into())
            .time("lease_until", entry.lease_until);
    }
    out.respond(StatusCode::CREATED)
}

async fn done(store: &Store, answered: &Answered) -> Result<Response, Problem> {
    let mut out = Object::new();
    out.text("verdict", "done");
    match &answered.record {
        Some(record) => {
            let result = match &record.result {
                Some(stored) => store.text(stored).await?,
                None => None,
            };
            out.raw("result", result.as_deref().unwrap_or("null"));
            out.object("first", |out| first(out, record));
        }
        None => {
            out.raw("result", "null").object("first", |_| {});
        }
    }
    let receipt = answered.receipt.map(semel_store::ReceiptId::text);
    out.text_or_null("receipt", receipt.as_deref());
    Ok(out.respond(StatusCode::OK))
}

/// The effect that stands in the way of a repeat.
pub(crate) fn first(out: &mut Object, record: &Record) {
    let entry = &record.entry;
    out.text("state", entry.state.name())
        .number("attempt", entry.attempt.into())
        .text_or_null("owner", record.by.as_deref())
        .text_or_null("external_id", record.external_id.as_deref())
        .text_or_null("reason", record.note.as_deref())
        .time("claimed_at", entry.claimed_at)
        .time("settled_at", entry.changed_at)
        .time_or_null("forgotten_at", entry.forgotten_at());
}

/// `POST /v1/guard/{scope}/{key}/heartbeat`
pub(crate) async fn heartbeat(
    State(app): State<Arc<App>>,
    Target(effect): Target,
    request: Request,
) -> Result<Response, Problem> {
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["token", "lease"])?;
    let fence = read_token(&fields)?;
    let lease = fields.span("lease", LEASE.0, LEASE.1)?;
    let command = Command::Heartbeat {
        fence,
        lease: lease.unwrap_or(DEFAULT_LEASE),
    };
    let change = EffectChange::bare(effect.clone(), command);
    let answered = app.store.step(change).await?;
    match (answered.verdict, answered.entry) {
        (Verdict::Extended, Some(entry)) => {
            let mut out = Object::new();
            out.text("verdict", "extended")
                .time("lease_until", entry.lease_until);
            Ok(out.respond(StatusCode::OK))
        }
        (Verdict::Stale, Some(_)) => Err(stale(&app.store, &effect, fence, &answered)),
        (Verdict::Missing, _) => Err(missing(&effect)),
        (verdict, _) => Err(refusal::unexpected(verdict)),
    }
}

/// There is no such effect.
pub(crate) fn missing(effect: &EffectId) -> Problem {
    let detail = format!(
        "nothing is on record for the key {:?} in the scope {:?}",
        effect.key.as_str(),
        effect.scope.as_str()
    );
    Problem::new(Code::EffectMissing, detail)
        .fix("check the spelling; what is no longer remembered is gone")
}

/// `POST /v1/guard/{scope}/{key}/abandon`: whoever sees that the owning process is dead says so.
pub(crate) async fn abandon(
    State(app): State<Arc<App>>,
    Target(effect): Target,
    request: Request,
) -> Result<Response, Problem> {
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["process"])?;
    let process = fields.object("process", "process.")?;
    let process = read_process(&fields.need("process", process)?)?;
    let record = app.store.load(&effect).await?;
    let record = record.ok_or_else(|| missing(&effect))?;
    let held = record.state_at(app.store.now()) == EffectState::Claimed;
    if !held || record.entry.owner != Owner::Process(process) {
        return Err(not_abandoned(&app.store, &record));
    }
    // The fence ties what was seen to what is written: a later claim is left alone.
    let fence = record.entry.fence;
    let change = EffectChange::bare(effect.clone(), Command::Abandon { fence });
    let answered = app.store.step(change).await?;
    match answered.verdict {
        Verdict::Swept => {
            let mut out = Object::new();
            out.text("verdict", "abandoned").text("state", "unknown");
            Ok(out.respond(StatusCode::OK))
        }
        Verdict::Stale => {
            let now = answered.record.as_deref().unwrap_or(&record);
            Err(not_abandoned(&app.store, now))
        }
        Verdict::Missing => Err(missing(&effect)),
        verdict => Err(refusal::unexpected(verdict)),
    }
}

fn not_abandoned(store: &Store, record: &Record) -> Problem {
    let state = record.state_at(store.now());
    let detail = match state {
        EffectState::Claimed => "another process or client holds the claim".to_owned(),
        state => format!("nobody holds the claim; the effect is {}", state.name()),
    };
    let mut problem = Problem::new(Code::NotAbandoned, detail);
    problem
        .more
        .text("state", state.name())
        .process("process", refusal::process_of(record.entry.owner));
    problem
}
