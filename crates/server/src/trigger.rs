//! `POST /v1/flows/{flow}/runs`: a person or program starts a run, once per key.
//!
//! Owns reading the `Idempotency-Key` and the answers to it. Unlike a webhook's sender, whoever calls
//! here can mend what is wrong, so an event that gives no key is refused instead of filed.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use semel_engine::flows::Compiled;
use semel_engine::journal::{Headers, Origin};
use semel_engine::names::EventNames;
use semel_engine::start::{Incoming, StartError};
use semel_flow::{Value, shadow};
use semel_ledger::json::Canonical;
use semel_ledger::{EffectId, Fence, Key, KeyError, Scope, Verdict};
use semel_store::run::RunId;
use semel_store::store::random_bytes;
use semel_store::{Answer, Record, StoreError};

use crate::accept::{self, Accepted, Arrival, First};
use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, Document};
use crate::code::Code;
use crate::flows::flow_missing;
use crate::hooks::senders::header;
use crate::metrics::EventStatus;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::releases;
use crate::target::Segment;

const HEADER: &str = "Idempotency-Key";

/// `POST /v1/flows/{flow}/runs`
pub(crate) async fn trigger(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &["draft"])?;
    let compiled = flow_to_run(&app, &flow, query.one("draft")?).await?;
    let asked = idempotency_key(request.headers())?;
    let document = body::optional(&app, request).await?;
    let canonical = document.map_or_else(
        || Canonical::trusted("null".into()),
        Document::into_canonical,
    );
    let accepted = start(&app, &compiled, asked.clone(), &canonical, &caller).await?;
    let live = app.engine.flows().live();
    if let Some(shadow) = live.flows.get(shadow::name_of(&flow).as_str()) {
        // Whatever becomes of it, what is live has been answered for.
        let cast = Box::pin(start(&app, shadow, asked, &canonical, &caller)).await;
        if let Err(problem) = cast {
            tracing::warn!(flow, ?problem, "a shadow did not take an event");
        }
    }
    answer(&app, &flow, &canonical, accepted).await
}

/// Starts a run of a flow for whoever asks, once.
async fn start(
    app: &Arc<App>,
    compiled: &Arc<Compiled>,
    asked: Key,
    canonical: &Canonical,
    caller: &Caller,
) -> Result<Accepted, Problem> {
    let now = app.store.now();
    let incoming = Incoming {
        compiled,
        id: app.store.new_run_id(),
        by: Origin::Manual,
        event: Value::of(canonical),
        canonical: Some(canonical.clone()),
        raw: None,
        headers: Headers::new(),
        at: now,
        from: Some((*caller.name).into()),
        key: None,
        own_key: Some(asked.clone()),
        begin: false,
        remember: app.settings.remember,
        now,
        fence: Fence(random_bytes()),
    };
    let arrival = Arrival {
        compiled,
        key: incoming.key().map_err(|error| unfit(&error))?,
        lane: incoming.lane().map_err(|error| unfit(&error))?,
        latest: None,
        incoming,
    };
    if arrival.key != asked {
        asked_for(app, asked, &arrival.incoming, canonical).await?;
    }
    accept::start(app, arrival).await
}

/// The live release, or the one that is asked for.
async fn flow_to_run(app: &App, flow: &str, draft: Option<&str>) -> Result<Arc<Compiled>, Problem> {
    if let Some(draft) = draft {
        let release = releases::find(app, Some(flow), draft).await?;
        return releases::compiled(app, &release).await;
    }
    app.engine.flows().refresh(&app.store).await?;
    let live = app.engine.flows().live();
    live.flows
        .get(flow)
        .cloned()
        .ok_or_else(|| flow_missing(flow))
}

/// The caller's name for this run.
fn idempotency_key(headers: &HeaderMap) -> Result<Key, Problem> {
    let Some(key) = header(headers, HEADER)? else {
        let detail = format!("the header {HEADER} is needed, so that asking twice starts one run");
        return Err(Problem::new(Code::KeyMissing, detail)
            .field(HEADER)
            .fix("send a name for this intent, the same when you repeat it"));
    };
    // Looked at alone first: messages then speak of the key and not of a part of one.
    let checked = Key::from_parts(&[&*key]).and_then(|_| Key::from_parts(&["manual", &*key]));
    checked.map_err(|error| {
        let code = match error {
            KeyError::Blank { .. } => Code::KeyMissing,
            _ => Code::KeyInvalid,
        };
        let problem = Problem::new(code, format!("{HEADER}: {error}")).field(HEADER);
        match error {
            KeyError::TooLong { .. } => problem.limit(semel_ledger::key::MAX_NAME_BYTES),
            _ => problem,
        }
    })
}

/// A flow that has a key goes by it; but neither may the caller's key stand for two events. Kept
/// before the run: whoever dies in between asks again, and is not refused for that.
async fn asked_for(
    app: &App,
    asked: Key,
    incoming: &Incoming<'_>,
    canonical: &Canonical,
) -> Result<(), Problem> {
    let mut once = incoming.once(asked).map_err(|error| unfit(&error))?;
    once.content.result = None;
    once.content.input = Some(canonical.clone());
    // Not as a claim that may be refused: the flow's own key says whether it is a repeat.
    let answered = app.store.commit(vec![once.into()]).await?.pop();
    match answered {
        Some(Answer::Effect(it)) if it.verdict == Verdict::Conflict => {
            let first = led_to(app, incoming, it.record.as_deref()).await?;
            Err(conflict(app, canonical, &first).await)
        }
        _ => Ok(()),
    }
}

/// What the event that a caller's key stood for first has led to, as far as it is kept.
async fn led_to(
    app: &App,
    incoming: &Incoming<'_>,
    record: Option<&Record>,
) -> Result<First, StoreError> {
    let flow = &incoming.compiled.flow;
    let input = match record.and_then(|record| record.input.as_ref()) {
        Some(stored) => app.store.text(stored).await?,
        None => None,
    };
    let key = input.zip(flow.key.as_ref()).and_then(|(text, template)| {
        let event = Value::of(&Canonical::trusted(text));
        let names = incoming.names();
        let names = EventNames {
            event: &event,
            ..names
        };
        template.key(&names).ok()
    });
    let effect = key.zip(Scope::new(&flow.name.it).ok());
    let record = match effect {
        Some((key, scope)) => app.store.load(&EffectId::new(scope, key)).await?,
        None => None,
    };
    Ok(record.map_or(First::default(), |record| First::of(&record)))
}

fn unfit(error: &StartError) -> Problem {
    Problem::new(Code::KeyInvalid, error.to_string())
        .field("key")
        .fix("send an event that has what the flow's key is made of")
}

async fn answer(
    app: &App,
    flow: &str,
    canonical: &Canonical,
    accepted: Accepted,
) -> Result<Response, Problem> {
    let mut out = Object::new();
    let counts = app.metrics.events(flow);
    let (status, code) = match &accepted {
        Accepted::Started(_) => (EventStatus::Accepted, StatusCode::ACCEPTED),
        Accepted::Duplicate(_) => (EventStatus::Duplicate, StatusCode::OK),
        Accepted::Stale => (EventStatus::Stale, StatusCode::OK),
        Accepted::Skipped => (EventStatus::Skipped, StatusCode::OK),
        Accepted::Conflict(first) => {
            counts.count(EventStatus::Conflict);
            return Err(conflict(app, canonical, first).await);
        }
    };
    counts.count(status);
    out.text("status", status.name());
    match accepted {
        Accepted::Started(run) => {
            out.text("run", &run.text())
                .text("event", &run.event_text());
        }
        Accepted::Duplicate(first) => first.write(&mut out),
        _ => {}
    }
    Ok(out.respond(code))
}

async fn conflict(app: &App, canonical: &Canonical, first: &First) -> Problem {
    let differs = accept::differing(&app.store, first, canonical).await;
    let detail = match first.run.map(RunId::text) {
        Some(run) => format!("the key stood for another event, which started {run}"),
        None => "the key stood for another event, which is no longer kept".to_owned(),
    };
    let mut problem = Problem::new(Code::Conflict, detail)
        .fix("use another key for another intent, or send the same event");
    problem.more.text("verdict", "conflict");
    first.write(&mut problem.more);
    problem.more.texts("differs", &differs);
    problem
}
