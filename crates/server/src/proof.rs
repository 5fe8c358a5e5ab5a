//! `GET /v1/proof`: did we do this twice? On one page, and signed if asked.
//!
//! Owns what is told about one thing: the first event and run, every effect with its state, attempts
//! and the destination's name for it, and each duplicate that was blocked. Says only what the ledger
//! has; `proof/sign.rs` seals it.

pub(crate) mod sign;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_engine::start::started_run;
use semel_ledger::json::Canonical;
use semel_ledger::{EffectId, Key, Scope, State as EffectState};
use semel_store::run::{Run, RunFilter, RunId};
use semel_store::{Record, Stored};

use crate::app::App;
use crate::code::Code;
use crate::guard;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::{Query, invalid};
use crate::runs::show::{self, Blocked};
use crate::runs::story::{Story, Touched};
use crate::runs::{self, write_row};

const PARAMETERS: [&str; 6] = ["event", "run", "scope", "flow", "key", "signed"];
/// How many runs about the same thing are shown.
const RUNS: usize = 20;

/// `GET /v1/proof`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &PARAMETERS)?;
    let signed = match query.one("signed")? {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(invalid("signed", "must be true or false")),
    };
    let subject = Subject::read(&query)?;
    // What was blocked a moment ago is to be in it.
    app.store.write_receipts().await?;
    let found = subject.look(&app).await?;
    let mut proof = Object::new();
    found.write(&mut proof, &app);
    let proof = Canonical::read(&proof.into_bytes()).map_err(|error| {
        tracing::error!(%error, "a proof is no JSON");
        Problem::new(Code::Internal, "the proof could not be written")
    })?;
    let mut out = Object::new();
    out.raw("proof", proof.as_str());
    if signed {
        let signature = sign::signature(&app, &proof)?;
        out.object("signature", |out| signature.write(out));
    }
    Ok(out.respond(StatusCode::OK))
}

/// `GET /v1/proof/key`
pub(crate) async fn key(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let mut out = Object::new();
    sign::write_key(&app, &mut out)?;
    Ok(out.respond(StatusCode::OK))
}

/// What is asked about.
enum Subject {
    Run(RunId),
    /// What a flow did about a key.
    Flow(EffectId),
    Effect(EffectId),
}

impl Subject {
    fn read(query: &Query) -> Result<Subject, Problem> {
        let run = |name| -> Result<Option<RunId>, Problem> {
            let Some(text) = query.one(name)? else {
                return Ok(None);
            };
            let wrong = || invalid(name, "is no name of a run (run_…) or event (evt_…)");
            runs::parse(text).map(Some).ok_or_else(wrong)
        };
        let (event, run) = (run("event")?, run("run")?);
        let (scope, flow) = (query.one("scope")?, query.one("flow")?);
        let key = query.one("key")?.map(str::parse::<Key>).transpose()?;
        let effect = |name: &str, key| Ok::<_, Problem>(EffectId::new(Scope::new(name)?, key));
        match (event.or(run), scope, flow, key) {
            (Some(id), None, None, None) if event.is_none() || run.is_none() => {
                Ok(Subject::Run(id))
            }
            (None, Some(scope), None, Some(key)) => Ok(Subject::Effect(effect(scope, key)?)),
            (None, None, Some(flow), Some(key)) => Ok(Subject::Flow(effect(flow, key)?)),
            _ => {
                let detail = "give one of: event; run; flow and key; scope and key";
                Err(Problem::new(Code::ParameterInvalid, detail))
            }
        }
    }

    async fn look(&self, app: &App) -> Result<Found, Problem> {
        match self {
            Subject::Run(id) => Found::of_run(app, *id).await,
            Subject::Effect(effect) => Found::of_effect(app, effect).await,
            Subject::Flow(effect) => {
                let record = app.store.load(effect).await?;
                let record = record.ok_or_else(|| guard::missing(effect))?;
                match started_by(&record) {
                    Some(run) if app.store.run(run).await?.is_some() => {
                        Found::of_run(app, run).await
                    }
                    _ => Found::of_effect(app, effect).await,
                }
            }
        }
    }
}

/// The run that the effect of a run's key names.
fn started_by(record: &Record) -> Option<RunId> {
    match record.result.as_ref()? {
        Stored::Inline(text) => started_run(text),
        Stored::Blob(_) => None,
    }
}

/// What is on record.
struct Found {
    first: Option<Run>,
    /// The first and those that did it again, oldest first.
    runs: Vec<Run>,
    /// The effect that stands for the key of the first.
    start: Option<Blocked>,
    effects: Vec<(Option<Arc<str>>, Blocked)>,
}

impl Found {
    async fn of_effect(app: &App, effect: &EffectId) -> Result<Found, Problem> {
        let blocked = Blocked::load(&app.store, effect.clone()).await?;
        let blocked = blocked.ok_or_else(|| guard::missing(effect))?;
        let by = show::run_of(blocked.record.by.as_deref());
        let first = match by {
            Some(run) => app.store.run(run).await?,
            None => None,
        };
        Ok(Found {
            runs: first.clone().into_iter().collect(),
            first,
            start: None,
            effects: vec![(None, blocked)],
        })
    }

    async fn of_run(app: &App, id: RunId) -> Result<Found, Problem> {
        let store = &app.store;
        let asked = Story::load(store, id).await?;
        let start = match show::start_effect(&asked) {
            Some(effect) => Blocked::load(store, effect).await?,
            None => None,
        };
        let filter = RunFilter {
            flow: Some(asked.run.flow.to_string()),
            key: Some(asked.run.key.as_str().to_owned()),
            parent: asked.run.parent,
            limit: RUNS,
            ..RunFilter::default()
        };
        let mut runs = store.runs(&filter).await?.items;
        runs.reverse();
        let mut effects: Vec<(Option<Arc<str>>, Blocked)> = Vec::new();
        for run in &runs {
            let told = Story::load(store, run.id).await?;
            for (Touched { step, .. }, blocked) in show::effects(store, &told).await? {
                let known =
                    |(_, other): &(_, Blocked)| other.record.effect == blocked.record.effect;
                if !effects.iter().any(known) {
                    effects.push((Some(step), blocked));
                }
            }
        }
        Ok(Found {
            first: runs.first().cloned().or(Some(asked.run)),
            runs,
            start,
            effects,
        })
    }

    fn write(&self, out: &mut Object, app: &App) {
        let now = app.store.now();
        out.text("kind", "semel proof 1").time("made_at", now);
        let resends = self.start.as_ref().map_or(0, |start| start.record.blocked);
        let blocked: u64 = self.effects.iter().map(|(_, it)| it.record.blocked).sum();
        let in_state = |state: EffectState| {
            let all = self.effects.iter();
            all.filter(|(_, it)| it.record.state_at(now) == state)
                .count()
        };
        let undone = in_state(EffectState::Undone);
        // What was taken back was done.
        let done = in_state(EffectState::Done) + undone;
        let open = in_state(EffectState::Unknown) + in_state(EffectState::Review);
        out.text("answer", &answer(done, undone, open, resends + blocked))
            .number("done", done as u64)
            .number("undone", undone as u64)
            .number("unknown", open as u64)
            .number("events_blocked", resends)
            .number("effects_blocked", blocked);
        match &self.first {
            Some(run) => out.object("first", |out| write_row(out, run)),
            None => out.raw("first", "null"),
        };
        out.texts("runs", self.runs.iter().map(|run| run.id.text()));
        match &self.start {
            Some(start) => out.object("event_duplicates", |out| {
                out.number("blocked", start.record.blocked);
                show::write_receipts(out, start);
            }),
            None => out.raw("event_duplicates", "null"),
        };
        out.list("effects", &self.effects, |out, (step, blocked)| {
            out.text_or_null("step", step.as_deref());
            show::write_effect(out, &blocked.record, now);
            show::write_receipts(out, blocked);
        });
    }
}

/// The answer in one line. It promises no more than the ledger knows.
fn answer(done: usize, undone: usize, open: usize, blocked: u64) -> String {
    let effects = match done {
        0 => "nothing was done".to_owned(),
        1 => "1 effect was done, once".to_owned(),
        done => format!("{done} effects were done, each once"),
    };
    let back = match undone {
        0 => String::new(),
        1 => "; 1 of them was taken back".to_owned(),
        undone => format!("; {undone} of them were taken back"),
    };
    let unknown = match open {
        0 => String::new(),
        1 => "; of 1 nobody knows whether it happened".to_owned(),
        open => format!("; of {open} nobody knows whether they happened"),
    };
    let repeats = match blocked {
        0 => "no repeat was asked for".to_owned(),
        1 => "1 repeat was blocked".to_owned(),
        blocked => format!("{blocked} repeats were blocked"),
    };
    format!("{effects}{back}{unknown}; {repeats}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_says_what_is_known_and_no_more() {
        for (done, undone, open, blocked, text) in [
            (0, 0, 0, 0, "nothing was done; no repeat was asked for"),
            (1, 0, 0, 1, "1 effect was done, once; 1 repeat was blocked"),
            (
                3,
                1,
                0,
                0,
                "3 effects were done, each once; 1 of them was taken back; no repeat was asked for",
            ),
            (
                2,
                0,
                1,
                5,
                "2 effects were done, each once; of 1 nobody knows whether it happened; 5 repeats were blocked",
            ),
        ] {
            assert_eq!(answer(done, undone, open, blocked), text);
        }
    }
}
