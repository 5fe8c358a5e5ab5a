//! Who did what to what, from where: written by the gate around every request that changes something.
//!
//! An entry is durable before the request is carried out, and what came of it is added behind: one without a status is
//! of a request during which the process died. Hooks, callbacks and what machines do all the time (claims, values under
//! keys, starting runs with a token) are not in it: the ledger and the runs themselves tell of those.
//!
//! Names and targets only, never what was sent.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use semel_store::access::{Scope, Scopes};
use semel_store::audit::{AuditChange, AuditEntry, AuditFilter, Deed};

use crate::app::App;
use crate::auth::{Caller, Via};
use crate::out::Object;
use crate::path::decode;
use crate::problem::Problem;
use crate::query::{Query, cursor};
use crate::router::{Access, Peer, Route};

/// What machines do all the time.
const TRAFFIC: Scopes = Scopes::of(&[Scope::Guard, Scope::Trigger]);
/// The longest target.
const MAX_TARGET: usize = 512;

/// What a handler knows of a request and its path does not tell.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    target: Option<Box<str>>,
    note: Option<Box<str>>,
}

impl Told {
    /// To what it was done.
    pub(crate) fn of(target: &str) -> Told {
        Told {
            target: Some(target.into()),
            note: None,
        }
    }

    /// How, where the path tells to what.
    pub(crate) fn how(note: &str) -> Told {
        Told {
            target: None,
            note: Some(note.into()),
        }
    }

    /// And how.
    pub(crate) fn noted(mut self, note: &str) -> Told {
        self.note = Some(note.into());
        self
    }

    /// Lets the gate know.
    pub(crate) fn with(self, mut response: Response) -> Response {
        response.extensions_mut().insert(self);
        response
    }
}

/// What is to be written of a request that was let in.
pub(crate) fn deed(route: &Route, access: Access, request: &Request) -> Option<Deed> {
    let caller = request.extensions().get::<Caller>()?;
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    let told = match access {
        Access::Needs(scopes) if scopes.has(Scope::Read) => false,
        Access::Needs(scopes) => {
            caller.via == Via::Person || scopes.iter().any(|scope| !TRAFFIC.has(scope))
        }
        Access::Known => true,
        Access::Open | Access::Local | Access::Nowhere => false,
    };
    if !changes || !told {
        return None;
    }
    let address = request.extensions().get::<Peer>();
    Some(Deed {
        who: (*caller.name).into(),
        via: caller.via.name().into(),
        address: address.map(|Peer(it)| it.ip().to_canonical().to_string().into()),
        action: format!("{} {}", request.method(), route.path).into(),
        target: target(route, request).into(),
        note: None,
        status: None,
    })
}

/// The names in the path.
fn target(route: &Route, request: &Request) -> String {
    let path: Vec<&str> = request.uri().path().split('/').collect();
    let mut names = Vec::new();
    for (at, segment) in route.path.split('/').enumerate() {
        if segment.starts_with("{*") {
            names.extend(path.iter().skip(at).copied());
        } else if segment.starts_with('{') {
            names.extend(path.get(at).copied());
        }
    }
    let shown = |name: &str| decode(name).unwrap_or_else(|| name.to_owned());
    let mut names: Vec<String> = names.into_iter().map(shown).collect();
    if let Ok(query) = Query::parse(request.uri().query(), &["part"]) {
        names.extend(query.all("part").map(str::to_owned));
    }
    let text = names.join("/");
    text.chars().take(MAX_TARGET).collect()
}

/// Adds what came of it. If that cannot be written, the entry says that nobody knows.
pub(crate) async fn end(app: &App, seq: i64, status: StatusCode, told: Option<Told>) {
    let (target, note) = told.map_or((None, None), |told| (told.target, told.note));
    let change = AuditChange::End {
        seq,
        status: status.as_u16(),
        target,
        note,
    };
    if let Err(error) = app.store.write_audit(change).await {
        tracing::warn!(%error, seq, "what came of a request is not in the audit log");
    }
}

/// `GET /v1/audit`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    const KNOWN: [&str; 5] = ["since", "until", "who", "before", "limit"];
    let query = Query::parse(request.uri().query(), &KNOWN)?;
    let filter = AuditFilter {
        who: query.one("who")?.map(Into::into),
        since: query.time("since")?,
        until: query.time("until")?,
        before: query.cursor("before")?,
        limit: query.limit()?,
    };
    let page = app.store.audit(&filter).await?;
    let mut out = Object::new();
    out.list("entries", &page.items, show)
        .text_or_null("next", page.next.map(cursor).as_deref());
    Ok(out.respond(StatusCode::OK))
}

fn show(out: &mut Object, entry: &AuditEntry) {
    let Deed {
        who,
        via,
        address,
        action,
        target,
        note,
        status,
    } = &entry.deed;
    out.time("at", entry.at)
        .text("who", who)
        .text("via", via)
        .text_or_null("address", address.as_deref())
        .text("action", action)
        .text("target", target)
        .text_or_null("note", note.as_deref());
    match status {
        Some(status) => out.number("status", (*status).into()),
        None => out.raw("status", "null"),
    };
}
