//! `/v1/runs…`: what became of events, how, and what to do about it.
//!
//! Owns listing and showing runs, following one (`watch`), ending and resuming one (`tell`) and doing
//! one again (`again`). What is shown of a run's history comes from its journal by one function
//! (`timeline`), for every reader. Leaves to `semel-engine` what any of it means.

pub(crate) mod again;
pub(crate) mod show;
pub(crate) mod spans;
pub(crate) mod story;
pub(crate) mod tell;
pub(crate) mod timeline;
pub(crate) mod watch;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_store::run::{Run, RunFilter, RunId, RunState};

use crate::app::App;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::{Query, invalid};
use crate::releases::release_text;

const PARAMETERS: [&str; 9] = [
    "flow", "state", "key", "text", "parent", "since", "until", "before", "limit",
];

/// `GET /v1/runs`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &PARAMETERS)?;
    let filter = RunFilter {
        flow: query.one("flow")?.map(str::to_owned),
        states: states(&query)?,
        key: query.one("key")?.map(str::to_owned),
        parent: named(&query, "parent")?,
        since: query.time("since")?,
        until: query.time("until")?,
        changed: None,
        text: query.one("text")?.map(str::to_owned),
        before: named(&query, "before")?,
        limit: query.limit()?,
    };
    let page = app.store.runs(&filter).await?;
    let mut out = Object::new();
    out.list("runs", &page.items, write_row);
    out.text_or_null("next", page.next.map(RunId::text).as_deref());
    Ok(out.respond(StatusCode::OK))
}

fn named(query: &Query, name: &str) -> Result<Option<RunId>, Problem> {
    let Some(text) = query.one(name)? else {
        return Ok(None);
    };
    let wrong = || invalid(name, "is not the name of a run: run_ and 32 digits");
    parse(text).map(Some).ok_or_else(wrong)
}

fn states(query: &Query) -> Result<Vec<RunState>, Problem> {
    let words = query.all("state").flat_map(|value| value.split(','));
    let wrong = || {
        let names = RunState::ALL.map(RunState::name).join(", ");
        invalid("state", &format!("must be some of {names}"))
    };
    words
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(|word| RunState::named(word).ok_or_else(wrong))
        .collect()
}

/// The run that a text names, by itself or by the event that started it.
pub(crate) fn parse(text: &str) -> Option<RunId> {
    RunId::parse(text).or_else(|| RunId::parse_event(text))
}

/// The run that a path names.
pub(crate) fn in_path(text: &str) -> Result<RunId, Problem> {
    parse(text).ok_or_else(|| missing(text))
}

/// There is no such run.
pub(crate) fn missing(name: &str) -> Problem {
    Problem::new(Code::RunMissing, format!("no run is called {name:?}"))
        .fix("GET /v1/runs lists them; what ended long ago is forgotten")
}

/// Writes a run without its history.
pub(crate) fn write_row(out: &mut Object, run: &Run) {
    out.text("run", &run.id.text())
        .text("event", &run.id.event_text())
        .text("flow", &run.flow)
        .text("release", &release_text(run.release))
        .text("key", run.key.as_str())
        .text("state", run.state.name())
        .text("why", &run.why)
        .time("created_at", run.created_at)
        .time("changed_at", run.changed_at)
        .time_or_null("wake", run.wake)
        .text_or_null("parent", run.parent.map(RunId::text).as_deref());
}
