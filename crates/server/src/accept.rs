//! From an event to a run: the one way in, for hooks and for people.
//!
//! Owns handing a start to the store and, if this node has room, the run to the engine; and reading
//! from the refusal what became of the same event before. Leaves identity, queue and opening to
//! `semel_engine::start`. The invariant: an event is answered only when it is durable, together
//! with the run it started or the record that it started none.

use std::sync::Arc;

use semel_engine::Fresh;
use semel_engine::flows::Compiled;
use semel_engine::journal::Kept;
use semel_engine::load::fold;
use semel_engine::start::{Incoming, StartError, started_run};
use semel_ledger::json::{Canonical, differences};
use semel_ledger::key::MAX_PARTS;
use semel_ledger::{Fingerprint, Key, Verdict};
use semel_store::blob::hex;
use semel_store::run::{Lane, Latest, RunId, StartOutcome, Started, WhenFull};
use semel_store::{Record, Store, Stored};

use crate::app::App;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::refusal;

/// The result of an event that started nothing: something newer was applied before it.
const STALE: &str = r#"{"status":"stale"}"#;
/// The result of an event that started nothing: another run was under way.
const SKIPPED: &str = r#"{"status":"skipped"}"#;
/// How many differences are named.
const DIFFERENCES: usize = 8;

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// It started this run.
    Started(RunId),
    /// It came before.
    Duplicate(First),
    /// The same key came before with another payload.
    Conflict(First),
    /// Something newer about the same thing was applied.
    Stale,
    /// Another run was under way, and the flow says skip.
    Skipped,
}

/// What came first under a key, as far as it is remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct First {
    pub(crate) run: Option<RunId>,
    pub(crate) event: Option<Box<str>>,
}

impl First {
    /// As the effect of a key tells.
    pub(crate) fn of(record: &Record) -> First {
        First {
            run: result_of(record).and_then(started_run),
            event: record.by.clone(),
        }
    }

    /// Writes which run and event it was.
    pub(crate) fn write(&self, out: &mut Object) {
        out.text_or_null("run", self.run.map(RunId::text).as_deref())
            .text_or_null("event", self.event.as_deref());
    }
}

/// An event that has its identity and its queue.
#[derive(Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) compiled: &'a Arc<Compiled>,
    pub(crate) incoming: Incoming<'a>,
    pub(crate) key: Key,
    pub(crate) lane: Option<Lane>,
    pub(crate) latest: Option<Latest>,
}

/// Starts a run for an event, unless its key has one; begins it here if there is room.
pub(crate) async fn start(app: &Arc<App>, arrival: Arrival<'_>) -> Result<Accepted, Problem> {
    let Arrival {
        compiled,
        mut incoming,
        key,
        lane,
        latest,
    } = arrival;
    let once = incoming.once(key.clone()).map_err(unwritable)?;
    if let Some(refused) = app.store.start_refused(&once).await? {
        return became(incoming.id, &refused);
    }
    let (id, room) = (incoming.id, app.engine.room());
    incoming.begin = room.is_some();
    let fresh = room.map(|room| {
        let fresh = Fresh {
            id,
            compiled: Arc::clone(compiled),
            key: key.as_str().into(),
            opening: incoming.opening(),
        };
        (room, fresh)
    });
    let mut start = Box::new(incoming.start_once(once, key, lane));
    start.latest = latest;
    start.otherwise = otherwise(latest, lane);
    let started = match fresh {
        Some((room, fresh)) => app.engine.start(room, fresh, start).await?,
        None => app.store.start(start).await?,
    };
    if let StartOutcome::Started { held } = started.outcome {
        app.engine.run_started(compiled, id);
        if !held {
            app.engine.has_started(&compiled.flow);
        }
    }
    became(id, &started)
}

/// Files an event as a run that waits for a person.
pub(crate) async fn park(
    app: &App,
    incoming: Incoming<'_>,
    key: Key,
    why: &str,
) -> Result<Accepted, Problem> {
    let (id, compiled) = (incoming.id, incoming.compiled);
    let start = incoming.into_parked(key, why).map_err(unwritable)?;
    let started = app.store.start(start).await?;
    if matches!(started.outcome, StartOutcome::Started { .. }) {
        app.engine.run_started(compiled, id);
    }
    became(id, &started)
}

/// A key for an event that gives none: its own content.
pub(crate) fn unkeyed(incoming: &Incoming<'_>) -> Result<Key, Problem> {
    Ok(Key::from_parts(&["unkeyed", &content_hash(incoming)?])?)
}

fn content_hash(incoming: &Incoming<'_>) -> Result<String, Problem> {
    let of = |canonical: &Canonical| hex(&Fingerprint::of(canonical).0[..16]);
    if let Some(canonical) = &incoming.canonical {
        return Ok(of(canonical));
    }
    let canonical = incoming.event.to_canonical();
    canonical.as_ref().map(of).map_err(|_| internal())
}

/// The key under which another payload with the same key is filed: once for each content.
pub(crate) fn conflict_key(key: &Key, incoming: &Incoming<'_>) -> Result<Key, Problem> {
    let content = content_hash(incoming)?;
    let mut parts: Vec<String> = key.parts().collect();
    if parts.len() + 2 > MAX_PARTS {
        let whole = blake3::hash(key.as_str().as_bytes()).to_hex();
        parts = vec![whole[..32].to_owned()];
    }
    parts.extend(["conflict".to_owned(), content]);
    Ok(Key::from_parts(&parts)?)
}

/// Says in one line what a conflict is about.
pub(crate) async fn why_conflict(store: &Store, first: &First, incoming: &Incoming<'_>) -> String {
    let whom = first.run.map_or("an earlier event".to_owned(), RunId::text);
    let differs = match incoming.event.to_canonical() {
        Ok(mine) => differing(store, first, &mine).await,
        Err(_) => Vec::new(),
    };
    if differs.is_empty() {
        return format!("the same key as {whom}, with another payload");
    }
    let differs = differs.join(", ");
    format!("the same key as {whom}, with another payload: it differs in {differs}")
}

/// Where an event differs from the first that came under its key, as far as that is kept.
pub(crate) async fn differing(store: &Store, first: &First, mine: &Canonical) -> Vec<String> {
    let Some(run) = first.run else {
        return Vec::new();
    };
    let loaded = store.load_run(run).await.ok().flatten();
    let rows = loaded.map(|loaded| loaded.journal).unwrap_or_default();
    let folded = fold(store, rows.get(..1).unwrap_or_default()).await;
    match folded.map(|folded| folded.state.opening.event) {
        Ok(Kept::Is(first)) => first
            .to_canonical()
            .map(|first| differences(&first, mine, DIFFERENCES))
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn otherwise(latest: Option<Latest>, lane: Option<Lane>) -> Option<Box<str>> {
    let skips = lane.is_some_and(|lane| lane.when_full == WhenFull::Skip);
    match (latest, skips) {
        (_, true) => Some(SKIPPED.into()),
        (Some(_), false) => Some(STALE.into()),
        (None, false) => None,
    }
}

fn became(id: RunId, started: &Started) -> Result<Accepted, Problem> {
    match started.outcome {
        StartOutcome::Started { .. } => Ok(Accepted::Started(id)),
        StartOutcome::Stale => Ok(Accepted::Stale),
        StartOutcome::Skipped => Ok(Accepted::Skipped),
        StartOutcome::Refused => {
            let answered = started.answered.as_ref().ok_or_else(internal)?;
            refused(answered.verdict, answered.record.as_deref())
        }
    }
}

fn refused(verdict: Verdict, record: Option<&Record>) -> Result<Accepted, Problem> {
    let first = record.map_or_else(First::default, First::of);
    match (verdict, record.and_then(result_of)) {
        (Verdict::Done, Some(STALE)) => Ok(Accepted::Stale),
        (Verdict::Done, Some(SKIPPED)) => Ok(Accepted::Skipped),
        (Verdict::Done, _) => Ok(Accepted::Duplicate(first)),
        (Verdict::Conflict, _) => Ok(Accepted::Conflict(first)),
        (verdict, _) => Err(refusal::unexpected(verdict)),
    }
}

/// What is on record of a start; it is short.
fn result_of(record: &Record) -> Option<&str> {
    match &record.result {
        Some(Stored::Inline(text)) => Some(text),
        Some(Stored::Blob(_)) | None => None,
    }
}

fn unwritable(error: StartError) -> Problem {
    match error {
        StartError::Name { source } => source.into(),
        error => {
            tracing::error!(%error, "an event could not be written down");
            internal()
        }
    }
}

fn internal() -> Problem {
    Problem::new(Code::Internal, "the event could not be taken in")
}
