//! `/v1/flows…` and `/v1/check`: what is live, deploying, and saying what is wrong with a file.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_flow::Flow;
use semel_flow::model::{Missed, OverlapPolicy, Schedule, Timing, Trigger};

use crate::app::App;
use crate::audit::Told;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::deploy::{self, DeployError, DeployOptions};
use crate::examine::{self, Examined};
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::releases::{self, release_text};
use crate::target::Segment;

/// `GET /v1/flows`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    app.engine.flows().refresh(&app.store).await?;
    let live = app.engine.flows().live();
    let releases = app.store.live().await?;
    let mut out = Object::new();
    out.list("flows", &releases, |out, release| {
        releases::write(out, release);
        // Left out if this version of Semel cannot read it.
        if let Some(compiled) = live.flows.get(&release.flow) {
            write_triggers(out, &compiled.flow);
        }
    });
    Ok(out.respond(StatusCode::OK))
}

/// `GET /v1/flows/{flow}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let live = app.store.live().await?;
    let release = live.into_iter().find(|release| *release.flow == *flow);
    let release = release.ok_or_else(|| flow_missing(&flow))?;
    let compiled = releases::compiled(&app, &release).await?;
    let mut out = Object::new();
    releases::write(&mut out, &release);
    out.text("source", &compiled.source);
    write_flow(&mut out, &compiled.flow);
    Ok(out.respond(StatusCode::OK))
}

/// No flow of that name is live.
pub(crate) fn flow_missing(flow: &str) -> Problem {
    Problem::new(
        Code::FlowMissing,
        format!("no flow called {flow:?} is live"),
    )
    .fix("GET /v1/flows lists those that are; POST /v1/flows deploys one")
}

/// Writes what a flow says about itself.
pub(crate) fn write_flow(out: &mut Object, flow: &Flow) {
    let remember = flow.remember.as_ref().map(|it| it.it.to_string());
    let overlap = flow.overlap.as_ref();
    let policy = overlap.map_or(OverlapPolicy::default(), |overlap| overlap.policy);
    out.text_or_null("description", flow.description.as_deref())
        .text_or_null("remember", remember.as_deref())
        .text("overlap", policy.name());
    write_triggers(out, flow);
    examine::write_steps(out, flow);
}

fn write_triggers(out: &mut Object, flow: &Flow) {
    out.list("triggers", &flow.triggers, |out, trigger| match trigger {
        Trigger::Webhook(webhook) => {
            out.text("kind", "webhook")
                .text("path", &webhook.path.it)
                .text("verify", webhook.verify.preset.it.name());
        }
        Trigger::Schedule(schedule) => write_schedule(out.text("kind", "schedule"), schedule),
        Trigger::Sync(sync) => write_schedule(out.text("kind", "sync"), &sync.schedule),
        Trigger::Event { name, .. } => {
            out.text("kind", "event").text("event", &name.it);
        }
    });
}

fn write_schedule(out: &mut Object, schedule: &Schedule) {
    match &schedule.timing {
        Timing::Cron { cron, zone } => out.text("cron", &cron.it).text("zone", &zone.it),
        Timing::Every(every) => out.text("every", &every.it.to_string()),
    };
    out.text(
        "missed",
        match schedule.missed {
            Missed::Skip => "skip",
            Missed::Once => "once",
            Missed::All => "all",
        },
    );
}

/// `POST /v1/flows`
pub(crate) async fn deploy(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["source", "draft", "abandon", "shadow"])?;
    let source = fields.need("source", fields.text("source")?)?;
    let options = DeployOptions {
        draft: fields.flag("draft")?,
        abandon: fields.flag("abandon")?,
        shadow: fields.flag("shadow")?,
    };
    if options.draft && options.shadow {
        return Err(Problem::new(
            Code::FieldInvalid,
            "a shadow takes triggers, a draft takes none",
        )
        .field("shadow")
        .fix("leave one of both out"));
    }
    let deployed = deploy::deploy(&app, &source, options, &caller.name).await;
    let deployed = deployed.map_err(|error| refused(error, &source))?;
    let mut out = Object::new();
    out.text("status", deployed.status.name())
        .text("flow", &deployed.flow)
        .text("release", &release_text(deployed.release));
    examine::write_diagnostics(&mut out, &source, &deployed.diagnostics);
    out.texts("missing_secrets", deployed.missing_secrets);
    let told = Told::of(&deployed.flow).noted(deployed.status.name());
    Ok(told.with(out.respond(StatusCode::OK)))
}

fn refused(error: DeployError, source: &str) -> Problem {
    if let DeployError::Invalid { diagnostics } = &error {
        let mut problem = Problem::new(Code::FlowInvalid, error.to_string());
        examine::write_diagnostics(&mut problem.more, source, diagnostics);
        return problem;
    }
    error.into()
}

impl From<DeployError> for Problem {
    fn from(error: DeployError) -> Problem {
        let detail = error.to_string();
        match error {
            DeployError::Store { source } => source.into(),
            DeployError::Name { source } => source.into(),
            DeployError::Links { source } => source.into(),
            DeployError::Invalid { .. } => Problem::new(Code::FlowInvalid, detail),
            DeployError::Raced => Problem::new(Code::Busy, detail).retry_after(1),
            DeployError::PathTaken { path, flow } => {
                let mut problem = Problem::new(Code::PathTaken, detail);
                problem.more.text("path", &path).text("flow", &flow);
                problem
            }
            DeployError::Abandoned { abandoned } => {
                let mut problem = Problem::new(Code::KeysAbandoned, detail)
                    .fix("write what `keep` says, or deploy with \"abandon\":true");
                examine::write_abandoned(&mut problem.more, &abandoned);
                problem
            }
        }
    }
}

/// `DELETE /v1/flows/{flow}`
pub(crate) async fn retire(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    if !deploy::retire(&app, &flow).await? {
        return Err(flow_missing(&flow));
    }
    tracing::info!(flow, by = %caller.name, "retired");
    let mut out = Object::new();
    out.text("status", "retired").text("flow", &flow);
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/check`
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["source"])?;
    let source = fields.need("source", fields.text("source")?)?;
    let Examined { flow, diagnostics } = examine::examine(&source);
    app.engine.flows().refresh(&app.store).await?;
    let live = app.engine.flows().live();
    let before = flow
        .as_ref()
        .and_then(|flow| live.flows.get(flow.name.it.as_str()));
    let abandoned = match (before, &flow) {
        (Some(before), Some(flow)) => deploy::abandoned(&app.store, &before.flow, flow).await?,
        _ => Vec::new(),
    };
    let missing = match &flow {
        Some(flow) => deploy::missing_secrets(&app, flow).await?,
        None => Vec::new(),
    };
    let mut out = Object::new();
    let name = flow.as_ref().map(|flow| flow.name.it.as_str());
    out.text_or_null("flow", name)
        .text("release", &release_text(deploy::release_of(&source)));
    examine::write_diagnostics(&mut out, &source, &diagnostics);
    examine::write_abandoned(&mut out, &abandoned);
    out.texts("missing_secrets", missing);
    match &flow {
        Some(flow) => examine::write_steps(&mut out, flow),
        None => {
            out.raw("steps", "[]");
        }
    }
    Ok(out.respond(StatusCode::OK))
}
