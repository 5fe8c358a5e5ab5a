//! `POST /v1/runs/{run}/cancel` and `…/resume`: a person tells a run something.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_engine::journal::Note;

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::decide::who;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::runs::{in_path, missing};
use crate::settle::MAX_NOTE;
use crate::target::Segment;

/// `POST /v1/runs/{run}/cancel`
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let said = Said::read(&app, &caller, request, &["by", "note", "undo"]).await?;
    let note = Note::Cancel {
        by: said.by,
        undo: said.undo,
    };
    tell(&app, &name, &note, "cancelling").await
}

/// `POST /v1/runs/{run}/resume`
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let said = Said::read(&app, &caller, request, &["by", "note"]).await?;
    let note = Note::Resume {
        by: said.by,
        note: said.note,
    };
    tell(&app, &name, &note, "resuming").await
}

/// What a person said.
struct Said {
    by: Box<str>,
    note: Option<Box<str>>,
    undo: bool,
}

impl Said {
    async fn read(
        app: &App,
        caller: &Caller,
        request: Request,
        known: &[&str],
    ) -> Result<Said, Problem> {
        Query::parse(request.uri().query(), &[])?;
        let (mut by, mut note, mut undo) = (None, None, false);
        if let Some(document) = body::optional(app, request).await? {
            let fields = document.fields()?;
            fields.only(known)?;
            by = fields.name("by")?;
            note = fields.note("note", MAX_NOTE)?;
            undo = fields.flag("undo")?;
        }
        let by = who(caller, by.as_deref());
        Ok(Said { by, note, undo })
    }
}

async fn tell(app: &App, name: &str, note: &Note, status: &str) -> Result<Response, Problem> {
    let run = in_path(name)?;
    if !app.engine.tell(run, note).await? {
        let found = app.store.run(run).await?;
        let state = found.ok_or_else(|| missing(name))?.state.name();
        let detail = format!("the run is over: it is {state}");
        let mut problem = Problem::new(Code::RunOver, detail)
            .fix("to do it again, ask for a plan: POST /v1/runs/{run}/plan");
        problem.more.text("state", state);
        return Err(problem);
    }
    let mut out = Object::new();
    out.text("status", status).text("run", &run.text());
    Ok(out.respond(StatusCode::ACCEPTED))
}
