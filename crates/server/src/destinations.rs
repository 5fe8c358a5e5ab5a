//! `GET /v1/destinations`: how those that steps speak to are doing, as this node sees them.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_act::{Breaker, Destination};
use semel_ledger::Time;

use crate::app::App;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;

/// `GET /v1/destinations`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let (mut all, now) = (app.perform.destinations(), app.store.now());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out = Object::new();
    out.list("destinations", &all, |out, it| write(out, it, now));
    Ok(out.respond(StatusCode::OK))
}

/// All of them, those that most need to be looked at first.
pub(crate) fn worst(app: &App) -> Vec<Destination> {
    let mut all = app.perform.destinations();
    let trouble = |it: &Destination| {
        let left_alone = match it.breaker {
            Breaker::Open(_) => 2,
            Breaker::HalfOpen => 1,
            Breaker::Closed => 0,
        };
        // In a thousand calls.
        let bad = (it.failed + it.unknown) * 1000 / it.calls.max(1);
        (left_alone, bad, it.percentile(95).unwrap_or(0))
    };
    all.sort_by(|a, b| trouble(b).cmp(&trouble(a)).then(a.name.cmp(&b.name)));
    all
}

/// Writes one.
pub(crate) fn write(out: &mut Object, it: &Destination, now: Time) {
    out.text("name", &it.name)
        .number("calls", it.calls)
        .number("failed", it.failed)
        .number("unknown", it.unknown);
    number_or_null(out, "p50_ms", it.percentile(50));
    number_or_null(out, "p95_ms", it.percentile(95));
    out.number("open", it.open as u64)
        .number("waiting", it.waiting as u64)
        .text_or_null("rate", it.rate.as_deref());
    number_or_null(out, "concurrency", it.concurrency.map(|it| it as u64));
    let until = match it.breaker {
        Breaker::Open(left) => Some(now.after(left)),
        Breaker::Closed | Breaker::HalfOpen => None,
    };
    out.text("breaker", it.breaker.name())
        .time_or_null("until", until);
}

fn number_or_null(out: &mut Object, name: &str, number: Option<u64>) {
    match number {
        Some(number) => out.number(name, number),
        None => out.raw(name, "null"),
    };
}
