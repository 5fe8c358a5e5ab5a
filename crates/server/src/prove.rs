//! `POST /v1/prove`: a flow file under every crash, resend and lost answer, for whoever writes one.
//!
//! The document is the one of `semel prove --json`. It takes processor time that runs could use, so one is
//! made at a time, with a bounded number of schedules, on a thread of its own.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use semel_flow::{Flow, Level, render};
use semel_prove::report::{Plan, Report};
use semel_prove::{Options, examples};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::app::App;
use crate::body;
use crate::code::Code;
use crate::examine::{self, Examined, FILE};
use crate::problem::Problem;
use crate::query::Query;

/// The most schedules of one event; of more, some are chosen.
const SCHEDULES: usize = 2000;
/// How many are tried at a time.
const THREADS: usize = 1;
/// When to come back while another is under way, in seconds.
const COME_BACK: u64 = 5;

/// `POST /v1/prove`
pub(crate) async fn prove(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["source"])?;
    let source = fields.need("source", fields.text("source")?)?;
    let Examined { flow, diagnostics } = examine::examine(&source);
    let wrong = diagnostics.iter().any(|it| it.level == Level::Error);
    let Some(flow) = flow.filter(|_| !wrong) else {
        let found = render::to_json(&source, &diagnostics, FILE);
        return Ok(answered(&json!({"ok": false, "diagnostics": found})));
    };
    // Held by the thread: also when nobody waits for the answer any more.
    let turn = Arc::clone(&app.proving).try_acquire_owned();
    let turn = turn.map_err(|_| {
        let detail = "another proof is under way; one is made at a time";
        Problem::new(Code::ProveBusy, detail).retry_after(COME_BACK)
    })?;
    let (tell, told) = oneshot::channel();
    let spawned = std::thread::Builder::new()
        .name("prove".to_owned())
        .spawn(move || {
            // Whoever asked may be gone.
            let _ = tell.send(report(&source, &flow));
            drop(turn);
        });
    let failed = |detail: String| Problem::new(Code::Internal, detail);
    spawned.map_err(|error| failed(format!("the proof could not be begun: {error}")))?;
    let report = told
        .await
        .map_err(|_| failed("the proof ended without an answer".to_owned()))?;
    report.map(|it| answered(&it)).map_err(failed)
}

fn report(source: &str, flow: &Flow) -> Result<Value, String> {
    let plan = Plan::All(Options {
        limit: SCHEDULES,
        threads: THREADS,
        ..Options::default()
    });
    let report = Report::of(source, examples::of_flow(flow), &plan, &|_, _| {});
    let report = report.map_err(|error| format!("the flow could not be tried: {error}"))?;
    Ok(report.document())
}

fn answered(document: &Value) -> Response {
    let mut response = Response::new(Body::from(document.to_string()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
