//! `/v1/kv…`: the values that flows keep under keys, for people and other programs.
//!
//! A key's parts are the segments of the path. What a program changes here is an operation of its own:
//! no step's effect stands for it, so whoever must not do it twice says what has to be there (`from`).

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use semel_ledger::json::Canonical;
use semel_ledger::{Key, Millis};
use semel_store::kv::{
    KvChange, KvEntry, KvFilter, KvKey, KvLimit, KvOp, KvOutcome, KvResult, KvValue, MAX_KEY_BYTES,
    MAX_VALUE_BYTES,
};

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::out::Object;
use crate::path::decode;
use crate::problem::Problem;
use crate::query::Query;

/// How long a value may be kept, as flows may say.
const TTL: (Millis, Millis) = (Millis::seconds(1), Millis::days(3_650));

/// The key that the path names.
#[derive(Debug)]
pub(crate) struct Named(KvKey);

impl FromRequestParts<Arc<App>> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Named, Problem> {
        // As it was sent: an escaped `/` is inside a part.
        let path = parts.uri.path();
        let segments = path.strip_prefix("/v1/kv/").unwrap_or_default().split('/');
        let parts: Option<Vec<String>> = segments.map(decode).collect();
        let parts = parts.ok_or_else(|| {
            let detail = "the key in the path is not valid UTF-8 after percent-decoding";
            Problem::new(Code::KeyInvalid, detail)
        })?;
        let key = KvKey::new(Key::from_parts(&parts)?);
        Ok(Named(key.map_err(|limit| wrong_key(&limit))?))
    }
}

fn wrong_key(limit: &KvLimit) -> Problem {
    Problem::new(Code::KeyInvalid, limit.to_string())
        .field("key")
        .limit(MAX_KEY_BYTES)
}

fn missing() -> Problem {
    Problem::new(Code::ValueMissing, "there is no value under that key")
        .fix("GET /v1/kv?prefix=… lists the keys that there are")
}

fn write(entry: &KvEntry, out: &mut Object) {
    out.text("key", entry.key.as_str())
        .raw("value", entry.value.as_str())
        .time_or_null("expires_at", entry.expires_at)
        .time("changed_at", entry.changed_at)
        .text_or_null("by", entry.by.as_deref());
}

/// `GET /v1/kv`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &["prefix", "after", "limit"])?;
    let filter = KvFilter {
        prefix: query.one("prefix")?.unwrap_or_default().to_owned(),
        after: query.one("after")?.map(ToOwned::to_owned),
        limit: query.limit()?,
    };
    let page = app.store.kv_list(&filter).await?;
    let mut out = Object::new();
    out.list("values", &page.items, |out, entry| write(entry, out));
    out.text_or_null("next", page.next.as_deref());
    Ok(out.respond(StatusCode::OK))
}

/// `GET /v1/kv/{key}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Named(key): Named,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let entry = app.store.kv(&key).await?.ok_or_else(missing)?;
    let mut out = Object::new();
    write(&entry, &mut out);
    Ok(out.respond(StatusCode::OK))
}

/// `PUT /v1/kv/{key}`
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    Caller { name: by, .. }: Caller,
    Named(key): Named,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["value", "from", "ttl"])?;
    let ttl = fields.span("ttl", TTL.0, TTL.1)?;
    let to = value("value", fields.need("value", fields.any("value"))?)?;
    let from = fields.any("from");
    let op = match from {
        None => KvOp::Set { to, ttl },
        Some(from) => KvOp::Swap {
            from: value("from", from)?,
            to,
            ttl,
        },
    };
    let done = operate(&app, &by, key.clone(), op).await?;
    if from.is_some() && !done.changed {
        let detail = "something else is under the key than `from` says";
        let mut problem = Problem::new(Code::ValueChanged, detail).field("from");
        problem.more.raw("value", shown(done.value.as_ref()));
        return Err(problem.fix("read it again, and decide by what is there now"));
    }
    Ok(answer(&key, &done))
}

/// `DELETE /v1/kv/{key}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Caller { name: by, .. }: Caller,
    Named(key): Named,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let op = KvOp::Set {
        to: None,
        ttl: None,
    };
    let done = operate(&app, &by, key.clone(), op).await?;
    if !done.changed {
        return Err(missing());
    }
    Ok(answer(&key, &done))
}

async fn operate(app: &App, by: &str, key: KvKey, op: KvOp) -> Result<KvResult, Problem> {
    let change = KvChange {
        once: None,
        key,
        op,
        by: Some(by.into()),
    };
    match app.store.operate(change).await?.outcome {
        KvOutcome::Applied(result) => Ok(result),
        // Without an effect, and without arithmetic, nothing stands in its way.
        KvOutcome::Known | KvOutcome::Impossible(_) => Err(missing()),
    }
}

fn answer(key: &KvKey, done: &KvResult) -> Response {
    let mut out = Object::new();
    out.text("key", key.as_str())
        .raw("value", shown(done.value.as_ref()))
        .raw("before", shown(done.before.as_ref()));
    out.respond(StatusCode::OK)
}

fn shown(value: Option<&KvValue>) -> &str {
    value.map_or("null", KvValue::as_str)
}

/// A member that may be any JSON; `null` is nothing.
fn value(name: &str, json: &str) -> Result<Option<KvValue>, Problem> {
    KvValue::new(Canonical::trusted(json.into())).map_err(|limit| {
        let problem = Problem::new(Code::FieldInvalid, limit.to_string());
        problem.field(name).limit(MAX_VALUE_BYTES)
    })
}
