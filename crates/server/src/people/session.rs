//! Who is logged in in the browser that asks.
//!
//! A session is looked up for every request, so that its end counts at once and on every node. It ends when it was not
//! used for a day, in any case after thirty days, and with the person's password or account.

use axum::http::{HeaderMap, Method};
use semel_ledger::{Millis, Time};
use semel_store::person::{Person, PersonChange, Session};

use super::cookie::Secret;
use crate::app::App;
use crate::auth::{Caller, Via};
use crate::code::Code;
use crate::origin;
use crate::problem::Problem;

/// How long a session lasts that is not used.
const IDLE: Millis = Millis::days(1);
/// How long any session lasts.
const LONGEST: Millis = Millis::days(30);
/// It is written that a session is used at most this often.
const NOTED_EVERY: Millis = Millis::seconds(5 * 60);
/// The header in which pages repeat what they were told.
pub(crate) const CSRF: &str = "semel-csrf";

/// Somebody who is logged in.
#[derive(Debug)]
pub(crate) struct LoggedIn {
    pub(crate) secret: Secret,
    pub(crate) person: Person,
}

impl LoggedIn {
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            name: (*self.person.name).into(),
            via: Via::Person,
            scopes: self.person.role.scopes(),
        }
    }
}

/// Who is logged in, if anybody is. Enough to show something; not to change anything.
pub(crate) async fn find(app: &App, headers: &HeaderMap) -> Result<Option<LoggedIn>, Problem> {
    let Some(secret) = Secret::of(headers, &app.settings) else {
        return Ok(None);
    };
    let Some((session, person)) = app.store.session(secret.hash()).await? else {
        return Ok(None);
    };
    keep(app, &session).await;
    Ok(Some(LoggedIn { secret, person }))
}

/// Who is logged in and meant to send this request.
pub(crate) async fn identify(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Option<LoggedIn>, Problem> {
    let Some(found) = find(app, headers).await? else {
        return Ok(None);
    };
    if method != Method::GET && method != Method::HEAD {
        let given = headers.get(CSRF).and_then(|value| value.to_str().ok());
        meant(app, headers, &found.secret, given.unwrap_or_default())?;
    }
    Ok(Some(found))
}

/// Refuses what a page of this server did not send.
pub(crate) fn meant(
    app: &App,
    headers: &HeaderMap,
    secret: &Secret,
    csrf: &str,
) -> Result<(), Problem> {
    if !origin::is_own(headers, &app.settings.public_url) {
        let detail =
            "the browser does not say that a page of this server sent this; nothing was changed";
        return Err(Problem::new(Code::CrossSite, detail).fix("send the header `Origin`"));
    }
    if !secret.is_csrf(csrf) {
        let detail =
            "what only a page of this server knows is missing or wrong; nothing was changed";
        return Err(Problem::new(Code::CrossSite, detail)
            .fix("send `csrf` of GET /v1/session in the header `Semel-Csrf`"));
    }
    Ok(())
}

/// When a session ends that is used now.
pub(crate) fn until(created_at: Time, now: Time) -> Time {
    now.after(IDLE).min(created_at.after(LONGEST))
}

/// Writes that it is used, now and then. If that fails the session ends earlier, and nothing else.
async fn keep(app: &App, session: &Session) {
    let until = until(session.created_at, app.store.now());
    if until.since(session.until) < NOTED_EVERY {
        return;
    }
    let change = PersonChange::Extend {
        hash: session.hash,
        until,
    };
    if let Err(error) = app.store.change_person(change).await {
        tracing::warn!(%error, "it could not be written that a session is used");
    }
}
