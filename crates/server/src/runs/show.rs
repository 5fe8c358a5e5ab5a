//! `GET /v1/runs/{run}`: one run with everything that is known of it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_engine::flows::Compiled;
use semel_engine::journal::{Origin, Raw};
use semel_engine::state::Phase;
use semel_flow::check::{self, Row};
use semel_ledger::{EffectId, Scope};
use semel_store::run::RunId;
use semel_store::{Receipt, ReceiptFilter, Record, Store, Stored};

use crate::app::App;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::runs::spans;
use crate::runs::story::{Story, Touched, write_kept};
use crate::runs::timeline::{self, Entry};
use crate::runs::{in_path, write_row};
use crate::target::Segment;
use crate::view;

/// How many receipts of one effect are shown.
const RECEIPTS: usize = 20;
/// How many effects of a run are shown.
pub(crate) const EFFECTS: usize = 200;

/// `GET /v1/runs/{run}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let story = Story::load(&app.store, in_path(&name)?).await?;
    let flows = app.engine.flows();
    // A run is shown even if this version cannot read its release any more.
    let compiled = flows.release(&app.store, story.run.release).await.ok();
    let start = match start_effect(&story) {
        Some(effect) => Blocked::load(&app.store, effect).await?,
        None => None,
    };
    let effects = effects(&app.store, &story).await?;
    let children = app.store.children(story.run.id).await?;
    let mut out = Object::new();
    write_row(&mut out, &story.run);
    write_opening(&mut out, &story);
    write_steps(&mut out, &story, compiled.as_deref(), &effects);
    let all = entries(&story, start.as_ref(), &effects);
    out.list("timeline", &all, |out, entry| entry.write(out));
    let now = app.store.now();
    out.list("effects", &effects, |out, (touched, blocked)| {
        out.text("step", &touched.step);
        write_effect(out, &blocked.record, now);
    });
    let count = start.as_ref().map_or(0, |start| start.record.blocked);
    out.number("duplicates", count);
    out.object("children", |out| {
        for (state, count) in children.iter().filter(|(_, count)| *count > 0) {
            out.number(state.name(), *count);
        }
    });
    Ok(out.respond(StatusCode::OK))
}

/// An effect with the claims that it refused.
#[derive(Debug)]
pub(crate) struct Blocked {
    pub(crate) record: Record,
    pub(crate) receipts: Vec<Receipt>,
}

impl Blocked {
    /// The effect of that name, if it is on record.
    pub(crate) async fn load(store: &Store, effect: EffectId) -> Result<Option<Blocked>, Problem> {
        let Some(record) = store.load(&effect).await? else {
            return Ok(None);
        };
        let receipts = if record.blocked == 0 {
            Vec::new()
        } else {
            let filter = ReceiptFilter {
                effect: Some(effect.hash()),
                limit: RECEIPTS,
                ..ReceiptFilter::default()
            };
            store.receipts(&filter).await?.items
        };
        Ok(Some(Blocked { record, receipts }))
    }
}

/// The effect that stands for a run's key, if the run was started by an event of its own.
pub(crate) fn start_effect(story: &Story) -> Option<EffectId> {
    let inner = matches!(
        story.opening().by,
        Origin::Rerun | Origin::Item | Origin::Call
    );
    let scope = Scope::new(&story.run.flow).ok().filter(|_| !inner)?;
    Some(EffectId::new(scope, story.run.key.clone()))
}

/// The effects of a run's steps, as far as they are on record.
pub(crate) async fn effects(
    store: &Store,
    told: &Story,
) -> Result<Vec<(Touched, Blocked)>, Problem> {
    let mut all = Vec::new();
    for touched in told.effects().into_iter().take(EFFECTS) {
        if let Some(blocked) = Blocked::load(store, touched.effect.clone()).await? {
            all.push((touched, blocked));
        }
    }
    Ok(all)
}

/// Writes what the ledger knows of an effect, without the values.
pub(crate) fn write_effect(out: &mut Object, record: &Record, now: semel_ledger::Time) {
    let entry = record.entry.seen_at(now);
    out.text("scope", record.effect.scope.as_str())
        .text("key", record.effect.key.as_str())
        .text("state", entry.state.name())
        .number("attempt", entry.attempt.into())
        .text_or_null("owner", record.by.as_deref())
        .text_or_null("external_id", record.external_id.as_deref())
        .time("claimed_at", entry.claimed_at)
        .time("changed_at", entry.changed_at)
        .number("blocked", record.blocked);
}

fn write_opening(out: &mut Object, story: &Story) {
    let opening = story.opening();
    out.text("by", opening.by.name())
        .text_or_null("from", opening.from.as_deref())
        .time("at", opening.at);
    write_kept(out, "payload", Some(&opening.event));
    let (text, blob) = match &opening.raw {
        Some(Raw::Text(text)) => (Some(&**text), None),
        Some(Raw::Blob(blob)) => (None, Some(blob)),
        None => (None, None),
    };
    out.text_or_null("raw", text);
    match blob {
        Some(blob) => out.hex("raw_blob", &blob.hash),
        None => out.raw("raw_blob", "null"),
    };
    out.object("headers", |out| {
        for (name, value) in &opening.headers {
            out.text(name, value);
        }
    });
    let again = opening.again.as_ref();
    out.text_or_null("again", again.map(|again| &*again.of));
    let within = opening.within.as_ref();
    out.text_or_null("within", within.map(|within| &*within.step));
}

/// The steps in the order of the file: those that have begun, and those that are still to come.
fn write_steps(
    out: &mut Object,
    story: &Story,
    compiled: Option<&Compiled>,
    effects: &[(Touched, Blocked)],
) {
    let spans = spans::of(story);
    let rows = compiled.map_or_else(Vec::new, |it| check::table(&it.flow));
    let is_item = story.opening().by == Origin::Item;
    let mut inside: Option<usize> = None;
    let shown = rows.into_iter().filter(|row: &Row| {
        if inside.is_some_and(|depth| row.depth <= depth) {
            inside = None;
        }
        // What is done for each item stands in the items' own runs.
        let others = inside.is_some() || is_item || row.on_failure;
        if row.kind == "for_each" && inside.is_none() {
            inside = Some(row.depth);
        }
        !others || story.state.steps.contains_key(row.step.as_str())
    });
    out.list("steps", shown, |out, row| {
        let state = story.state.steps.get(row.step.as_str());
        let phase = state.map(|state| &state.phase);
        let undo = story.state.steps.get(format!("{}/undo", row.step).as_str());
        let undo = undo.map(|undo| &undo.phase);
        out.text("step", &row.step)
            .text("kind", row.kind)
            .text("class", row.class.name())
            .text("phase", phase.map_or("pending", phase_name))
            .number("attempts", state.map_or(0, |state| state.attempts.into()))
            .text_or_null("why", phase.and_then(why))
            .text_or_null("undo", undo.map(phase_name))
            .text_or_null("undo_why", undo.and_then(why));
        write_kept(out, "result", story.result(&row.step));
        write_request(out, story, &row.step, effects);
        let spans = spans.get(row.step.as_str()).into_iter().flatten();
        out.list("spans", spans, |out, span| span.write(out));
    });
}

/// Writes what a step asked of the world, secrets by name: as the ledger keeps it, or the journal where
/// the ledger has no entry. What changes from moment to moment is not a part of an effect.
fn write_request(out: &mut Object, story: &Story, step: &str, effects: &[(Touched, Blocked)]) {
    let own = effects.iter().rfind(|(touched, _)| *touched.step == *step);
    match own.and_then(|(_, blocked)| blocked.record.input.as_ref()) {
        Some(Stored::Inline(text)) => out.raw("request", text).raw("request_blob", "null"),
        Some(Stored::Blob(blob)) => out.raw("request", "null").hex("request_blob", &blob.hash),
        None => {
            write_kept(out, "request", story.asked(step));
            out
        }
    };
}

fn phase_name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Asked(_)
        | Phase::Resumed
        | Phase::Entered { .. }
        | Phase::Returned(_)
        | Phase::Emitted(_) => "running",
        Phase::Ready { .. } => "retrying",
        Phase::Lost { .. } | Phase::Probed { .. } => "unknown",
        Phase::Busy { .. } | Phase::Spawned(_) | Phase::Waiting { .. } | Phase::Requested(_) => {
            "waiting"
        }
        Phase::Parked { .. } => "parked",
        Phase::Done(_) => "done",
        Phase::Skipped => "skipped",
        Phase::GaveUp => "failed",
    }
}

fn why(phase: &Phase) -> Option<&str> {
    match phase {
        Phase::Parked { why, .. } => Some(why),
        Phase::Lost { message, .. } => Some(message),
        _ => None,
    }
}

/// The timeline with the duplicates that were blocked, in order of time.
fn entries(story: &Story, start: Option<&Blocked>, effects: &[(Touched, Blocked)]) -> Vec<Entry> {
    let mut all = timeline::of(story);
    if let Some(start) = start {
        all.extend(start.receipts.iter().map(resend));
    }
    let own = story.run.id.text();
    for (touched, blocked) in effects {
        // What this run itself was refused stands in its journal.
        let others = blocked
            .receipts
            .iter()
            .filter(|receipt| receipt.by.as_deref() != Some(&*own));
        all.extend(others.map(|receipt| Entry {
            step: Some(Arc::clone(&touched.step)),
            ..refusal(receipt)
        }));
    }
    all.sort_by_key(|entry| entry.at);
    all
}

fn resend(receipt: &Receipt) -> Entry {
    let verdict = receipt.verdict.name();
    let text = format!("the same event came again ({verdict}) and started nothing");
    Entry::plain(receipt.at, "blocked", text)
}

fn refusal(receipt: &Receipt) -> Entry {
    let by = receipt.by.as_deref().unwrap_or("somebody");
    let verdict = receipt.verdict.name();
    let text = format!("{by} wanted to do the same and was refused ({verdict})");
    let effect = &receipt.effect;
    Entry {
        effect: Some((effect.scope.as_str().into(), effect.key.as_str().into())),
        ..Entry::plain(receipt.at, "blocked", text)
    }
}

/// Writes the receipts of an effect.
pub(crate) fn write_receipts(out: &mut Object, blocked: &Blocked) {
    out.list("receipts", &blocked.receipts, view::receipt);
}

/// The run that an effect's owner names, if it is one.
pub(crate) fn run_of(by: Option<&str>) -> Option<RunId> {
    by.and_then(crate::runs::parse)
}
