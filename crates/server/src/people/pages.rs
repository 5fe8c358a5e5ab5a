//! `/login` and `/logout`: plain forms that work without script.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;

use super::cookie::Secret;
use super::login::{Asking, address, begin, end};
use super::name::MAX_PASSWORD;
use super::session::{self, LoggedIn};
use crate::app::App;
use crate::code::Code;
use crate::form::{self, unreadable};
use crate::html::{Html, Referrer, respond};
use crate::origin;
use crate::problem::Problem;

/// `GET /login`
pub(crate) async fn login(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let shown = async {
        if session::find(&app, &headers).await?.is_some() {
            return Ok(to("/", None));
        }
        if app.store.people().await?.is_empty() {
            return Ok(nobody());
        }
        Ok(login_page(None))
    };
    shown.await.unwrap_or_else(|problem| failed(&problem))
}

/// `POST /login`
pub(crate) async fn log_in(State(app): State<Arc<App>>, request: Request) -> Response {
    let logged_in = async {
        let address = address(&request);
        let (parts, body) = request.into_parts();
        own(&app, &parts.headers)?;
        let sent = form::read(&app, &parts.headers, body, &["name", "password"]).await?;
        let (name, password) = (sent.one("name")?.trim(), sent.one("password")?);
        if password.len() > MAX_PASSWORD || name.len() > semel_ledger::key::MAX_NAME_BYTES {
            return Err(unreadable("a name or password is not as long as that"));
        }
        let asking = Asking {
            name: name.into(),
            password: password.to_owned(),
            address,
        };
        begin(&app, asking).await
    };
    match logged_in.await {
        Ok(LoggedIn { secret, .. }) => to("/", Some(secret.set(&app.settings))),
        Err(problem) => login_page(Some(&problem)),
    }
}

/// `GET /logout`
pub(crate) async fn logout(State(app): State<Arc<App>>, request: Request) -> Response {
    match session::find(&app, request.headers()).await {
        Ok(Some(found)) => logout_page(&found),
        Ok(None) => to("/login", None),
        Err(problem) => failed(&problem),
    }
}

/// `POST /logout`
pub(crate) async fn log_out(State(app): State<Arc<App>>, request: Request) -> Response {
    let ended = async {
        let (parts, body) = request.into_parts();
        let Some(found) = session::find(&app, &parts.headers).await? else {
            return Ok(());
        };
        let sent = form::read(&app, &parts.headers, body, &["csrf"]).await?;
        session::meant(&app, &parts.headers, &found.secret, sent.one("csrf")?)?;
        end(&app, &found.secret).await
    };
    match ended.await {
        Ok(()) => to("/login", Some(Secret::unset(&app.settings))),
        Err(problem) => failed(&problem),
    }
}

/// Refuses a form that another site sent: it would log a person in as somebody else.
pub(super) fn own(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    if origin::is_own(headers, &app.settings.public_url) {
        return Ok(());
    }
    let detail =
        "the browser does not say that this came from a page of this server; nothing was changed";
    Err(Problem::new(Code::CrossSite, detail)
        .fix("open the page at this server, and send its form"))
}

/// Somewhere else on this server.
pub(super) fn to(path: &'static str, cookie: Option<HeaderValue>) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static(path));
    if let Some(cookie) = cookie {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

/// Text for a person whose account is the first, before there is one.
pub(super) fn nobody() -> Response {
    let mut html = Html::default();
    html.markup("<h1>Nobody has an account yet</h1>\n")
        .markup("<p>The server printed a link when it started, with which the first admin chooses a name and a password. ")
        .markup("If it is lost or has ended, <code>semel people setup</code> prints a new one.</p>\n");
    respond(Referrer::Own, StatusCode::OK, "Set up", html)
}

fn login_page(problem: Option<&Problem>) -> Response {
    let mut html = Html::default();
    html.markup("<h1>Log in to Semel</h1>\n")
        .banner(Some(false), problem.map_or("", Problem::detail))
        .markup("<form method=\"post\" action=\"/login\" class=\"plain\">\n<label for=\"name\">Name</label>\n")
        .markup("<input id=\"name\" name=\"name\" autocomplete=\"username\" autocapitalize=\"none\" spellcheck=\"false\" required autofocus>\n")
        .markup("<label for=\"password\">Password</label>\n")
        .markup("<input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"current-password\" required>\n")
        .markup("<div class=\"buttons\"><button>Log in</button></div>\n</form>\n");
    let status = problem.map_or(StatusCode::OK, |problem| problem.code.status());
    respond(Referrer::Own, status, "Log in", html)
}

fn logout_page(found: &LoggedIn) -> Response {
    let mut html = Html::default();
    html.markup("<h1>Log out</h1>\n<p>You are logged in as ")
        .text(&found.person.name)
        .markup(".</p>\n<form method=\"post\" action=\"/logout\" class=\"plain\">\n")
        .markup("<input type=\"hidden\" name=\"csrf\" value=\"")
        .text(&found.secret.csrf())
        .markup("\">\n<div class=\"buttons\"><button>Log out</button></div>\n</form>\n");
    respond(Referrer::Own, StatusCode::OK, "Log out", html)
}

/// Why something cannot be shown, or was not done.
pub(super) fn failed(problem: &Problem) -> Response {
    let mut html = Html::default();
    html.markup("<h1>")
        .text(problem.code.title())
        .markup("</h1>\n")
        .banner(Some(false), problem.detail());
    respond(
        Referrer::Own,
        problem.code.status(),
        problem.code.title(),
        html,
    )
}
