//! `POST /v1/runs/{run}/plan`, `…/rerun` and `…/retry`: doing a run again, and only what was shown.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_engine::flows::{Compiled, ReleaseError};
use semel_engine::plan::{Plan, PlanError};
use semel_store::run::RunId;

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::decide::who;
use crate::flows::flow_missing;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::releases::{self, release_text};
use crate::runs::story::unreadable;
use crate::runs::{in_path, missing};
use crate::target::Segment;

/// What a request says about a re-run.
struct Asked {
    run: RunId,
    hash: Option<Box<str>>,
    release: Option<Arc<Compiled>>,
    by: Box<str>,
}

impl Asked {
    async fn read(
        app: &App,
        name: &str,
        caller: &Caller,
        request: Request,
        known: &[&str],
    ) -> Result<Asked, Problem> {
        Query::parse(request.uri().query(), &[])?;
        let document = body::optional(app, request).await?;
        let run = in_path(name)?;
        let (mut by, mut hash, mut release) = (None, None, None);
        if let Some(document) = &document {
            let fields = document.fields()?;
            fields.only(known)?;
            by = fields.name("by")?;
            hash = fields.name("plan_hash")?;
            release = fields.name("release")?;
        }
        let release = match release {
            Some(release) => Some(release_named(app, name, run, &release).await?),
            None => None,
        };
        Ok(Asked {
            run,
            hash,
            release,
            by: who(caller, by.as_deref()),
        })
    }
}

/// The release by which a run is to be done again: the live one, or one by name.
async fn release_named(
    app: &App,
    name: &str,
    run: RunId,
    release: &str,
) -> Result<Arc<Compiled>, Problem> {
    let run = app.store.run(run).await?.ok_or_else(|| missing(name))?;
    if release == "live" {
        app.engine.flows().refresh(&app.store).await?;
        let live = app.engine.flows().live();
        let found = live.flows.get(&run.flow).cloned();
        return found.ok_or_else(|| flow_missing(&run.flow));
    }
    let release = releases::find(app, Some(&run.flow), release).await?;
    releases::compiled(app, &release).await
}

/// `POST /v1/runs/{run}/plan`
pub(crate) async fn plan(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let asked = Asked::read(&app, &name, &caller, request, &["release"]).await?;
    let plan = app.engine.plan(asked.run, asked.release).await;
    let plan = plan.map_err(|error| refused(error, &name))?;
    let mut out = Object::new();
    write(&mut out, &plan);
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/runs/{run}/rerun`
pub(crate) async fn rerun(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let known = ["plan_hash", "release", "by"];
    let asked = Asked::read(&app, &name, &caller, request, &known).await?;
    let Some(hash) = &asked.hash else {
        let detail = "the field plan_hash is needed: only a plan that was shown is carried out";
        return Err(Problem::new(Code::FieldMissing, detail)
            .field("plan_hash")
            .fix("take it from POST /v1/runs/{run}/plan"));
    };
    let started = app
        .engine
        .rerun(asked.run, asked.release, hash, &asked.by)
        .await;
    answer(started, &name)
}

/// `POST /v1/runs/{run}/retry`: plans and carries out in one call, by the run's own release.
pub(crate) async fn retry(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let asked = Asked::read(&app, &name, &caller, request, &["by"]).await?;
    let plan = app.engine.plan(asked.run, None).await;
    let plan = plan.map_err(|error| refused(error, &name))?;
    let started = app
        .engine
        .rerun(asked.run, None, &plan.hash, &asked.by)
        .await;
    answer(started, &name)
}

fn answer(started: Result<RunId, PlanError>, name: &str) -> Result<Response, Problem> {
    let mut out = Object::new();
    let status = match started {
        Ok(run) => {
            out.text("status", "accepted")
                .text("run", &run.text())
                .text("event", &run.event_text());
            StatusCode::ACCEPTED
        }
        Err(PlanError::Again { run }) => {
            out.text("status", "duplicate")
                .text_or_null("run", run.map(RunId::text).as_deref())
                .text_or_null("event", run.map(RunId::event_text).as_deref());
            StatusCode::OK
        }
        Err(error) => return Err(refused(error, name)),
    };
    Ok(out.respond(status))
}

fn write(out: &mut Object, plan: &Plan) {
    out.text("run", &plan.run.id.text())
        .text("flow", &plan.run.flow)
        .text("key", plan.run.key.as_str())
        .text("release", &release_text(plan.release.id))
        .text("plan_hash", &plan.hash);
    out.list("steps", &plan.steps, |out, planned| {
        out.text("step", &planned.step)
            .text("class", planned.class.name())
            .text("what", planned.what.name())
            .text("why", &planned.why);
        match &planned.effect {
            Some(effect) => out.object("effect", |out| {
                out.text("scope", effect.scope.as_str())
                    .text("key", effect.key.as_str());
            }),
            None => out.raw("effect", "null"),
        };
    });
}

fn refused(error: PlanError, name: &str) -> Problem {
    let detail = error.to_string();
    match error {
        PlanError::NoRun => missing(name),
        PlanError::Open { state } => {
            let mut problem = Problem::new(Code::RunOpen, detail);
            problem.more.text("state", state);
            problem
        }
        PlanError::Child { parent } => {
            let mut problem = Problem::new(Code::RunInner, detail);
            problem.more.text("parent", &parent);
            problem
        }
        PlanError::Changed { plan } => {
            let mut problem = Problem::new(Code::PlanChanged, detail);
            problem.more.object("plan", |out| write(out, &plan));
            problem
        }
        PlanError::Store { source }
        | PlanError::Release {
            source: ReleaseError::Store { source },
        } => source.into(),
        PlanError::Name { source } => source.into(),
        PlanError::Load { source } => {
            tracing::warn!(run = name, error = %source, "a run cannot be planned again");
            unreadable(&source.to_string())
        }
        PlanError::Release { source } => unreadable(&source.to_string()),
        PlanError::Again { .. } => Problem::new(Code::PlanChanged, detail),
    }
}
