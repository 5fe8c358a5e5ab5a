//! Releases: texts of flows that were deployed, by the hash of what they say.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_engine::flows::{Compiled, ReleaseError};
use semel_store::blob::{hex, unhex};
use semel_store::run::{Release, ReleaseId};

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::deploy::{self, DeployStatus};
use crate::flows::{self, flow_missing};
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::target::Segment;

/// What every name of a release begins with.
const PREFIX: &str = "rel_";
/// How many digits a shortened name must have.
const SHORTEST: usize = 8;
/// How many digits a whole name has.
const WHOLE: usize = 64;

/// The name of a release: `rel_…`
#[must_use]
pub fn release_text(release: ReleaseId) -> String {
    format!("{PREFIX}{}", hex(&release.0))
}

/// The release of that name, of that flow if one is named; the first digits suffice where no
/// other begins so.
pub(crate) async fn find(app: &App, flow: Option<&str>, name: &str) -> Result<Release, Problem> {
    let digits = name.strip_prefix(PREFIX).unwrap_or(name);
    let hexadecimal = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if !(SHORTEST..=WHOLE).contains(&digits.len()) || !digits.bytes().all(hexadecimal) {
        return Err(missing(name));
    }
    if let Some(id) = unhex(digits) {
        let found = app.store.release(ReleaseId(id)).await?;
        let fits = |release: &Release| flow.is_none_or(|flow| *release.flow == *flow);
        return found.filter(fits).ok_or_else(|| missing(name));
    }
    let all = app.store.releases(flow).await?;
    let mut fitting = all
        .into_iter()
        .filter(|release| hex(&release.id.0).starts_with(digits));
    match (fitting.next(), fitting.next()) {
        (Some(release), None) => Ok(release),
        (Some(_), Some(_)) => {
            let detail = format!("several releases begin with {name:?}");
            Err(Problem::new(Code::ReleaseMissing, detail).fix("give more digits"))
        }
        (None, _) => Err(missing(name)),
    }
}

fn missing(name: &str) -> Problem {
    let detail = format!("no release is called {name:?}");
    Problem::new(Code::ReleaseMissing, detail)
        .fix("write rel_ and at least 8 digits; GET /v1/flows/{flow}/releases lists them")
}

/// A release, ready to be run.
pub(crate) async fn compiled(app: &App, release: &Release) -> Result<Arc<Compiled>, Problem> {
    let compiled = app.engine.flows().release(&app.store, release.id).await;
    compiled.map_err(|error| match error {
        ReleaseError::Store { source } => source.into(),
        error => Problem::new(Code::RunUnreadable, error.to_string()),
    })
}

/// `GET /v1/flows/{flow}/releases`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let releases = app.store.releases(Some(&flow)).await?;
    if releases.is_empty() {
        return Err(flow_missing(&flow));
    }
    let mut out = Object::new();
    out.text("flow", &flow).list("releases", &releases, write);
    Ok(out.respond(StatusCode::OK))
}

/// `GET /v1/releases/{release}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let release = find(&app, None, &name).await?;
    let compiled = compiled(&app, &release).await?;
    let mut out = Object::new();
    write(&mut out, &release);
    out.text("source", &compiled.source);
    flows::write_flow(&mut out, &compiled.flow);
    Ok(out.respond(StatusCode::OK))
}

/// Writes what there is to say of a release without reading it.
pub(crate) fn write(out: &mut Object, release: &Release) {
    out.text("release", &release_text(release.id))
        .text("flow", &release.flow)
        .flag("live", release.live)
        .time_or_null("live_at", release.live_at)
        .time("created_at", release.created_at)
        .text_or_null("by", release.by.as_deref());
}

/// `POST /v1/flows/{flow}/rollback`
pub(crate) async fn rollback(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::optional(&app, request).await?;
    let (mut to, mut abandon) = (None, false);
    if let Some(document) = &document {
        let fields = document.fields()?;
        fields.only(&["to", "abandon"])?;
        to = fields.name("to")?;
        abandon = fields.flag("abandon")?;
    }
    let release = match &to {
        Some(name) => find(&app, Some(&flow), name).await?,
        None => previous(&app, &flow).await?,
    };
    let compiled = compiled(&app, &release).await?;
    let status = deploy::go_live(&app, &compiled.flow, release.id, abandon).await?;
    if status == DeployStatus::Live {
        let release = release_text(release.id);
        tracing::info!(flow, release, by = %caller.name, "rolled back");
    }
    let mut out = Object::new();
    out.text("status", status.name())
        .text("flow", &flow)
        .text("release", &release_text(release.id));
    Ok(out.respond(StatusCode::OK))
}

/// The one that was live last before the one that is.
async fn previous(app: &App, flow: &str) -> Result<Release, Problem> {
    let releases = app.store.releases(Some(flow)).await?;
    if releases.is_empty() {
        return Err(flow_missing(flow));
    }
    let before = releases.into_iter().filter(|release| !release.live);
    let last = before
        .filter(|release| release.live_at.is_some())
        .max_by_key(|release| release.live_at);
    last.ok_or_else(|| {
        let detail = "no release of this flow was live before the one that is";
        Problem::new(Code::ReleaseMissing, detail).fix("say which: {\"to\":\"rel_…\"}")
    })
}
