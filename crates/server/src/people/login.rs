//! `/v1/session`: logging in and out, and who is logged in.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::Response;
use semel_store::access::Scope;
use semel_store::audit::{AuditChange, Deed};
use semel_store::person::{Person, PersonChange, Session};

use super::cookie::Secret;
use super::name::MAX_PASSWORD;
use super::session::{self, LoggedIn};
use crate::app::App;
use crate::auth::{Caller, Via};
use crate::body;
use crate::code::Code;
use crate::origin;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::router::Peer;

/// Who wants to log in, and from where.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) name: Box<str>,
    pub(super) password: String,
    pub(super) address: Option<IpAddr>,
}

/// `POST /v1/session`
pub(crate) async fn log_in(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    if !origin::may_be_own(request.headers(), &app.settings.public_url) {
        let detail = "this was sent by a page of another site; nobody was logged in";
        return Err(Problem::new(Code::CrossSite, detail));
    }
    let address = address(&request);
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["name", "password"])?;
    let name = fields.need("name", fields.name("name")?)?;
    let password = fields.need("password", fields.note("password", MAX_PASSWORD)?)?;
    let asking = Asking {
        name,
        password: password.into(),
        address,
    };
    let found = begin(&app, asking).await?;
    let mut response = shown(&found.caller(), Some(&found)).respond(StatusCode::CREATED);
    let cookie = found.secret.set(&app.settings);
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

/// `GET /v1/session`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let found = match caller.via {
        Via::Person => session::find(&app, request.headers()).await?,
        Via::Token | Via::Local => None,
    };
    Ok(shown(&caller, found.as_ref()).respond(StatusCode::OK))
}

/// `DELETE /v1/session`
pub(crate) async fn log_out(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    // A token has no session that could end.
    if let Some(found) = session::find(&app, request.headers()).await? {
        end(&app, &found.secret).await?;
    }
    let mut response = Object::new().respond(StatusCode::OK);
    let cookie = Secret::unset(&app.settings);
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

fn shown(caller: &Caller, found: Option<&LoggedIn>) -> Object {
    let mut out = Object::new();
    let role = found.map(|found| found.person.role.name());
    let csrf = found.map(|found| found.secret.csrf());
    out.text("name", &caller.name)
        .text_or_null("role", role)
        .texts("scopes", caller.scopes.iter().map(Scope::name))
        .text_or_null("csrf", csrf.as_deref());
    out
}

/// Where a request comes from.
pub(super) fn address(request: &Request) -> Option<IpAddr> {
    let peer = request.extensions().get::<Peer>();
    peer.map(|Peer(address)| address.ip().to_canonical())
}

/// Ends a session.
pub(super) async fn end(app: &App, secret: &Secret) -> Result<(), Problem> {
    let hash = secret.hash();
    let change = PersonChange::LogOut { hash };
    app.store.change_person(change).await?;
    Ok(())
}

/// Compares the password, and begins a session.
pub(super) async fn begin(app: &App, asking: Asking) -> Result<LoggedIn, Problem> {
    let Asking {
        name,
        password,
        address,
    } = asking;
    let attempt = app.logins.attempts.begin(&name, address, app.store.now())?;
    let person = app.store.person(&name).await?;
    let hash = person.as_ref().and_then(|person| person.password.clone());
    let right = app.logins.hashers.verify(hash.clone(), password).await?;
    let (true, Some(person), Some(hash)) = (right, person, hash) else {
        tracing::warn!(?address, "a login was refused");
        return Err(refused());
    };
    let found = start(app, person, &hash, address).await?;
    attempt.succeeded();
    Ok(found)
}

/// Begins a session of somebody whose password is the one of this hash. It goes into the audit log first.
pub(super) async fn start(
    app: &App,
    person: Person,
    hash: &str,
    address: Option<IpAddr>,
) -> Result<LoggedIn, Problem> {
    let deed = Deed {
        who: person.name.clone(),
        via: Via::Person.name().into(),
        address: address.map(|address| address.to_string().into()),
        action: "POST /v1/session".into(),
        target: "".into(),
        note: None,
        status: None,
    };
    let seq = app.store.write_audit(AuditChange::Add(deed)).await?;
    let (secret, now) = (Secret::new(), app.store.now());
    let change = PersonChange::LogIn {
        session: Session {
            hash: secret.hash(),
            person: person.name.clone(),
            created_at: now,
            until: session::until(now, now),
        },
        password: hash.into(),
    };
    let began = app.store.change_person(change).await?;
    let status = if began {
        StatusCode::CREATED
    } else {
        refused().code.status()
    };
    crate::audit::end(app, seq, status, None).await;
    if !began {
        return Err(refused());
    }
    Ok(LoggedIn { secret, person })
}

/// One text for every reason, so that nothing can be learnt from it.
fn refused() -> Problem {
    Problem::new(Code::LoginRefused, "the name or the password is wrong")
        .fix("an admin gives out a link to choose a new password: `semel people link NAME`")
}
