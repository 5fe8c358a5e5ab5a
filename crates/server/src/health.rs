//! How the server is, and what it says about itself.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use crate::app::App;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::target::Segment;

/// The description of this API.
pub const OPENAPI: &str = include_str!("openapi.json");
/// How long the store may take to show that it can be read.
const READY_WITHIN: Duration = Duration::from_secs(2);

fn text(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// `GET /healthz`: the process is alive.
pub(crate) async fn alive() -> Response {
    let mut out = Object::new();
    out.text("status", "alive");
    out.respond(StatusCode::OK)
}

/// `GET /readyz`: the store can be read.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let Ok(read) = tokio::time::timeout(READY_WITHIN, app.store.nodes()).await else {
        let detail = "the store did not answer within two seconds";
        return Err(Problem::new(Code::StoreUnavailable, detail).retry_after(2));
    };
    read?;
    let mut out = Object::new();
    out.text("status", "ready").text("store", app.store.kind());
    Ok(out.respond(StatusCode::OK))
}

/// `GET /metrics`
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    // What could not be read just now stays as it was.
    if let Ok(Ok(standing)) = tokio::time::timeout(READY_WITHIN, app.store.standing()).await {
        app.metrics.stands(&standing);
    }
    text(KIND, app.metrics.scrape(&app.store, &app.engine))
}

/// `GET /openapi.json`
pub(crate) async fn openapi() -> Response {
    text("application/json", OPENAPI)
}

/// `GET /errors/{code}`: what happened, what to do.
pub(crate) async fn page(Segment(name): Segment) -> Result<Response, Problem> {
    let code = Code::named(&name)
        .ok_or_else(|| Problem::new(Code::NotFound, "there is no error code of that name"))?;
    Ok(text("text/markdown; charset=utf-8", code.page()))
}
