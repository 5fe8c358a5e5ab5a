//! `/setup/{token}`: where somebody chooses their password, and the first admin a name too.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use semel_store::person::{Invitation, PersonChange};

use super::login::{address, start};
use super::name::{MIN_PASSWORD, wrong_name, wrong_password};
use super::session::LoggedIn;
use super::{invite, pages};
use crate::app::App;
use crate::code::Code;
use crate::form;
use crate::html::{Html, Referrer, respond};
use crate::problem::Problem;

const FIELDS: [&str; 3] = ["name", "password", "again"];

/// `GET /setup/{token}`
pub(crate) async fn show(State(app): State<Arc<App>>, uri: Uri) -> Response {
    match find(&app, &uri).await {
        Ok(found) => page(&found, StatusCode::OK, "", ""),
        Err(problem) => pages::failed(&problem),
    }
}

/// `POST /setup/{token}`
pub(crate) async fn choose(State(app): State<Arc<App>>, request: Request) -> Response {
    let chosen = async {
        pages::own(&app, request.headers())?;
        let found = find(&app, request.uri()).await?;
        let address = address(&request);
        let (parts, body) = request.into_parts();
        let sent = form::read(&app, &parts.headers, body, &FIELDS).await?;
        let name = match &found.person {
            Some(person) => person.clone(),
            None => sent.one("name")?.trim().into(),
        };
        let (password, again) = (sent.one("password")?, sent.one("again")?);
        let wrong = wrong_name(&name)
            .map(|why| format!("The name {why}."))
            .or_else(|| wrong_password(&name, password).map(|why| format!("The password {why}.")))
            .or_else(|| (password != again).then(|| "The two passwords differ.".to_owned()));
        if let Some(why) = wrong {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return Ok(page(&found, status, &why, &name));
        }
        let hash = app.logins.hashers.hash(password.to_owned()).await?;
        let LoggedIn { secret, .. } = accept(&app, &found, &name, hash, address).await?;
        Ok(pages::to("/", Some(secret.set(&app.settings))))
    };
    chosen
        .await
        .unwrap_or_else(|problem: Problem| pages::failed(&problem))
}

/// The invitation that a link leads to.
async fn find(app: &App, uri: &Uri) -> Result<Invitation, Problem> {
    let token = uri.path().rsplit('/').next().unwrap_or_default();
    let Some(hash) = invite::hash(token) else {
        return Err(over());
    };
    app.store.invitation(hash).await?.ok_or_else(over)
}

async fn accept(
    app: &App,
    found: &Invitation,
    name: &str,
    password: Box<str>,
    address: Option<std::net::IpAddr>,
) -> Result<LoggedIn, Problem> {
    let change = PersonChange::Accept {
        hash: found.hash,
        name: name.into(),
        password: password.clone(),
    };
    if !app.store.change_person(change).await? {
        return Err(over());
    }
    let person = app.store.person(name).await?.ok_or_else(over)?;
    start(app, person, &password, address).await
}

fn over() -> Problem {
    let detail = "this link was used, has ended, or never was one";
    Problem::new(Code::LinkOver, detail).fix(
        "`semel people link NAME` makes another; `semel people setup` does while nobody has an account",
    )
}

fn page(found: &Invitation, status: StatusCode, wrong: &str, name: &str) -> Response {
    let mut html = Html::default();
    match &found.person {
        None => html.markup("<h1>Set up Semel</h1>\n<p>You are the first: choose a name and a password. You will be an admin, who can add others.</p>\n"),
        Some(person) => html
            .markup("<h1>Choose a password</h1>\n<p>You will log in as ")
            .text(person)
            .markup(".</p>\n"),
    };
    html.banner(Some(false), wrong)
        .markup("<form method=\"post\" class=\"plain\">\n");
    match &found.person {
        None => html
            .markup("<label for=\"name\">Name</label>\n<input id=\"name\" name=\"name\" autocomplete=\"username\" autocapitalize=\"none\" spellcheck=\"false\" required autofocus value=\"")
            .text(name)
            .markup("\">\n"),
        Some(person) => html
            .markup("<input type=\"hidden\" name=\"name\" autocomplete=\"username\" value=\"")
            .text(person)
            .markup("\">\n"),
    };
    html.markup("<label for=\"password\">Password, at least ")
        .text(&MIN_PASSWORD.to_string())
        .markup(" characters</label>\n<input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"new-password\" required>\n")
        .markup("<label for=\"again\">Once more</label>\n<input id=\"again\" name=\"again\" type=\"password\" autocomplete=\"new-password\" required>\n")
        .markup("<div class=\"buttons\"><button>Go on</button></div>\n</form>\n");
    respond(Referrer::Own, status, "Set up", html)
}
