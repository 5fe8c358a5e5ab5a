//! A flow as a picture, what happened at each of its steps, and what a flow file may say.
//!
//! The drawing is the one of `semel graph`; counts of steps come from where the overview's do.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use semel_engine::counts::What;
use semel_engine::flows::Compiled;
use semel_engine::state::Phase;
use semel_flow::{check, graph};
use semel_store::count::Part;
use semel_store::run::{RunFilter, RunState};

use crate::app::App;
use crate::body;
use crate::examine::{self, Examined};
use crate::flows::flow_missing;
use crate::out::Object;
use crate::overview::{self, Window};
use crate::problem::Problem;
use crate::query::Query;
use crate::runs::story::Story;
use crate::target::Segment;

/// How many runs under way are looked into for where they stand.
const LOOKED_INTO: usize = 200;
/// What is counted at a step.
const AT_STEPS: [What; 4] = [What::Done, What::Failed, What::Unknown, What::Blocked];

fn live(app: &App, flow: &str) -> Result<Arc<Compiled>, Problem> {
    let live = app.engine.flows().live();
    let found = live.flows.get(flow).map(Arc::clone);
    found.ok_or_else(|| flow_missing(flow))
}

/// `GET /v1/flows/{flow}/picture`
pub(crate) async fn of_flow(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    app.engine.flows().refresh(&app.store).await?;
    let compiled = live(&app, &flow)?;
    let mut response = Response::new(Body::from(graph::svg(&compiled.flow)));
    let kind = HeaderValue::from_static("image/svg+xml");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// `POST /v1/picture`
pub(crate) async fn of_source(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["source"])?;
    let source = fields.need("source", fields.text("source")?)?;
    let Examined { flow, diagnostics } = examine::examine(&source);
    let mut out = Object::new();
    out.text_or_null("svg", flow.as_ref().map(graph::svg).as_deref());
    examine::write_diagnostics(&mut out, &source, &diagnostics);
    Ok(out.respond(StatusCode::OK))
}

/// `GET /v1/schema`
pub(crate) async fn schema(request: Request) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let mut response = Response::new(Body::from(semel_flow::schema().to_string()));
    let kind = HeaderValue::from_static("application/schema+json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// `GET /v1/flows/{flow}/steps`
pub(crate) async fn steps(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &["since"])?;
    let window = Window::new(app.store.now(), query.time("since")?);
    app.engine.flows().refresh(&app.store).await?;
    let compiled = live(&app, &flow)?;
    let part = Part::StepsOf(flow.as_str().into());
    let counts = overview::together(&app, window, &part, &AT_STEPS).await?;
    let (under_way, whole) = under_way(&app, &flow).await?;
    let mut out = Object::new();
    out.text("flow", &flow)
        .time("from", window.from)
        .flag("whole", whole);
    out.object("steps", |out| {
        for row in check::table(&compiled.flow) {
            out.object(&row.step, |out| {
                let of_step = counts.get(row.step.as_str());
                for what in AT_STEPS {
                    let count = of_step.and_then(|it| it.get(what.name()));
                    out.number(what.name(), count.copied().unwrap_or(0));
                }
                let now = under_way.get(row.step.as_str());
                out.number("under_way", now.copied().unwrap_or(0));
            });
        }
    });
    Ok(out.respond(StatusCode::OK))
}

/// How many runs stand at each step right now, and whether all were looked into.
async fn under_way(app: &App, flow: &str) -> Result<(BTreeMap<Arc<str>, u64>, bool), Problem> {
    let open = RunState::ALL.into_iter().filter(|state| state.is_open());
    let filter = RunFilter {
        flow: Some(flow.to_owned()),
        states: open.collect(),
        limit: LOOKED_INTO,
        ..RunFilter::default()
    };
    let page = app.store.runs(&filter).await?;
    let ids: Vec<_> = page.items.iter().map(|run| run.id).collect();
    let mut counts = BTreeMap::new();
    for loaded in app.store.load_runs(&ids).await? {
        // A run that cannot be read stands nowhere.
        let Ok(story) = Story::of(loaded) else {
            continue;
        };
        let at = story.state.steps.iter();
        for (step, _) in at.filter(|(_, step)| stands(&step.phase)) {
            *counts.entry(Arc::clone(step)).or_default() += 1;
        }
    }
    Ok((counts, page.next.is_none()))
}

/// Whether a step has begun and is not over.
fn stands(phase: &Phase) -> bool {
    !matches!(phase, Phase::Done(_) | Phase::Skipped | Phase::GaveUp)
}
