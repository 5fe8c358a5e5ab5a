//! `POST /v1/prove`: a flow file under every duplicate, crash and lost answer, in a simulated world.
//!
//! Owns that a proof does not take the server from its runs: one at a time, on one thread, and so many
//! schedules at the most. Leaves to `semel-prove` what is tried and what it shows. Nothing leaves the process.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use semel_flow::{Flow, Level};
use semel_prove::examples::{self, From as Origin};
use semel_prove::report::{Plan, ReportError};
use semel_prove::{Options, Report};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::body;
use crate::code::Code;
use crate::examine::{self, Examined};
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;

/// How many schedules are tried; beyond, some are chosen.
const MOST_SCHEDULES: usize = 5000;

/// One proof at a time.
static UNDER_WAY: Semaphore = Semaphore::const_new(1);

/// `POST /v1/prove`
pub(crate) async fn prove(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["source"])?;
    let source = fields.need("source", fields.text("source")?)?.into_owned();
    let flow = sound(&source)?;
    let Ok(place) = UNDER_WAY.try_acquire() else {
        let detail = "another proof is under way on this node";
        return Err(Problem::new(Code::Busy, detail).retry_after(2));
    };
    let proving = tokio::task::spawn_blocking(move || {
        let _place = place;
        let options = Options {
            limit: MOST_SCHEDULES,
            threads: 1,
            ..Options::default()
        };
        let events = examples::of_flow(&flow);
        let report = Report::of(&source, events, &Plan::All(options), &|_, _| {})?;
        Ok::<String, ReportError>(report.document().to_string())
    });
    let ended = |_| Problem::new(Code::Internal, "the proof ended in the middle");
    let told = proving.await.map_err(ended)?.map_err(|error| {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "a flow cannot be tried"
        );
        refused("", &[], error.to_string())
    })?;
    let mut response = Response::new(Body::from(told));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// The flow, if the checker has nothing against it: what it refuses is not tried.
fn sound(source: &str) -> Result<Flow, Problem> {
    let Examined { flow, diagnostics } = examine::examine(source);
    let wrong = diagnostics.iter().any(|it| it.level == Level::Error);
    let detail = || "a file with errors is not tried".to_owned();
    flow.filter(|_| !wrong)
        .ok_or_else(|| refused(source, &diagnostics, detail()))
}

fn refused(source: &str, diagnostics: &[semel_flow::Diagnostic], detail: String) -> Problem {
    let mut problem = Problem::new(Code::FlowInvalid, detail);
    examine::write_diagnostics(&mut problem.more, source, diagnostics);
    problem
}

/// Writes events that a flow could be started with: those of its file, else one that is made up.
pub(crate) fn write_examples(out: &mut Object, flow: &Flow) {
    let all = examples::of_flow(flow);
    out.list("examples", &all, |out, example| {
        let made_up = example.from == Origin::MadeUp;
        out.text("name", &example.name)
            .flag("made_up", made_up)
            .raw("event", &example.event.to_json());
    });
}
