//! `GET /v1/receipts…`: what was blocked, when, and by which effect.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{EffectId, Key, Millis, Scope, Time, Verdict};
use semel_store::receipt::refusal_named;
use semel_store::{ReceiptFilter, Store};

use crate::app::App;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::{Query, cursor, invalid};
use crate::view;

const PARAMETERS: [&str; 7] = ["scope", "key", "part", "verdict", "since", "limit", "after"];
/// How far back the tally goes if nothing is said.
const TALLY_BACK: Millis = Millis::days(30);
/// How many rows of a tally are shown; the newest are.
const MAX_TALLIES: usize = 10_000;

/// `GET /v1/receipts`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &PARAMETERS)?;
    let scope = query.one("scope")?.map(Scope::new).transpose()?;
    let effect = effect(&query, scope.as_ref())?;
    let filter = ReceiptFilter {
        scope,
        effect: effect.as_ref().map(EffectId::hash),
        verdict: verdict(&query)?,
        since: query.time("since")?,
        after: query.after()?,
        limit: query.limit()?,
    };
    let page = app.store.receipts(&filter).await?;
    let plain = filter.verdict.is_none() && filter.since.is_none();
    let counted = match &effect {
        Some(effect) if plain && page.next.is_none() => counted(&app.store, effect).await?,
        _ => None,
    };
    let mut out = Object::new();
    let items = page
        .items
        .iter()
        .map(Some)
        .chain(counted.iter().map(|_| None));
    out.list("receipts", items, |out, item| match (item, &counted) {
        (Some(receipt), _) => view::receipt(out, receipt),
        (None, Some((effect, count))) => only_counted(out, effect, *count),
        (None, None) => {}
    });
    out.text_or_null("next", page.next.map(cursor).as_deref());
    Ok(out.respond(StatusCode::OK))
}

/// The one effect that is asked for, by `key` (its first part) and `part`.
fn effect(query: &Query, scope: Option<&Scope>) -> Result<Option<EffectId>, Problem> {
    let Some(first) = query.one("key")? else {
        return match query.all("part").next() {
            Some(_) => Err(invalid("part", "needs key, the first part, beside it")),
            None => Ok(None),
        };
    };
    let scope = scope.ok_or_else(|| invalid("key", "needs scope beside it"))?;
    let parts: Vec<&str> = std::iter::once(first).chain(query.all("part")).collect();
    Ok(Some(EffectId::new(scope.clone(), Key::from_parts(&parts)?)))
}

fn verdict(query: &Query) -> Result<Option<Verdict>, Problem> {
    let Some(word) = query.one("verdict")? else {
        return Ok(None);
    };
    let wrong = || {
        invalid(
            "verdict",
            "must be one of done, busy, unknown, conflict, stale",
        )
    };
    refusal_named(word).map(Some).ok_or_else(wrong)
}

/// How many refusals of an effect were only counted.
async fn counted(store: &Store, effect: &EffectId) -> Result<Option<(EffectId, u64)>, Problem> {
    let Some(record) = store.load(effect).await? else {
        return Ok(None);
    };
    let kept = store
        .receipts(&ReceiptFilter {
            effect: Some(effect.hash()),
            limit: semel_store::query::MAX_PAGE,
            ..ReceiptFilter::default()
        })
        .await?;
    let more = record.blocked.saturating_sub(kept.items.len() as u64);
    Ok((more > 0).then(|| (effect.clone(), more)))
}

fn only_counted(out: &mut Object, effect: &EffectId, count: u64) {
    out.raw("id", "null")
        .text("scope", effect.scope.as_str())
        .text("key", effect.key.as_str())
        .raw("verdict", "null")
        .raw("at", "null")
        .raw("by", "null")
        .raw("attempt", "null")
        .number("count", count)
        .flag("counted", true);
}

/// `GET /v1/receipts/tally`
pub(crate) async fn tally(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &["since", "by", "scope"])?;
    let by = query.one("by")?.unwrap_or("day");
    let width: i64 = match by {
        "hour" => 3_600_000,
        "day" => 86_400_000,
        _ => return Err(invalid("by", "must be hour or day")),
    };
    let month_ago = Time(app.store.now().0 - i64::try_from(TALLY_BACK.0).unwrap_or(0));
    let since = query.time("since")?.unwrap_or(month_ago);
    let scope = query.one("scope")?.map(Scope::new).transpose()?;
    // The hour that has begun counts whole, and so does the day.
    let since = Time(since.0 - since.0.rem_euclid(width));
    let mut counts: BTreeMap<(Time, String, &'static str), u64> = BTreeMap::new();
    for tally in app.store.tallies(since).await? {
        if scope.as_ref().is_some_and(|s| s.as_str() != tally.scope) {
            continue;
        }
        let at = Time(tally.hour.0 - tally.hour.0.rem_euclid(width));
        *counts
            .entry((at, tally.scope, tally.verdict.name()))
            .or_default() += tally.count;
    }
    let beyond = counts.len().saturating_sub(MAX_TALLIES);
    let mut out = Object::new();
    out.text("by", by);
    let shown = counts.iter().skip(beyond);
    out.list("tallies", shown, |out, ((at, scope, verdict), count)| {
        out.time("at", *at)
            .text("scope", scope)
            .text("verdict", verdict)
            .number("count", *count);
    });
    out.flag("truncated", beyond > 0);
    Ok(out.respond(StatusCode::OK))
}
