//! `/v1/people`: who has an account, and what they may do.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_store::access::{Role, Scope};
use semel_store::person::{Person, PersonChange};

use super::{invite, name};
use crate::app::App;
use crate::audit::Told;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::fields::Fields;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::target::Segment;

fn show(out: &mut Object, person: &Person) {
    out.text("name", &person.name)
        .text("role", person.role.name())
        .texts("scopes", person.role.scopes().iter().map(Scope::name))
        .flag("password", person.password.is_some())
        .time("created_at", person.created_at)
        .time("changed_at", person.changed_at);
}

/// `GET /v1/people`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let people = app.store.people().await?;
    let mut out = Object::new();
    out.list("people", &people, show);
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/people`
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["name", "role", "password"])?;
    let name = name::of_new(&fields)?;
    let role = fields.need("role", role(&fields)?)?;
    caller.gives(role.scopes())?;
    let password = name::new_password(&fields, &name)?;
    let change = PersonChange::Add {
        name: name.clone(),
        role,
        password: hashed(&app, password).await?,
    };
    if !app.store.change_person(change).await? {
        let detail = format!("there is somebody called {name} already");
        let problem = Problem::new(Code::PersonThere, detail).field("name");
        return Err(problem.fix("choose another name, or change that account"));
    }
    let person = one(&app, &name).await?;
    let mut out = Object::new();
    show(&mut out, &person);
    if person.password.is_none() {
        write_link(&app, &mut out, Some(&name)).await?;
    }
    let told = Told::of(&name).noted(role.name());
    Ok(told.with(out.respond(StatusCode::CREATED)))
}

/// `PATCH /v1/people/{name}`
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["role", "password"])?;
    let (role, password) = (role(&fields)?, name::new_password(&fields, &name)?);
    if role.is_none() && password.is_none() {
        return Err(fields.invalid("the body", "changes nothing: give role, password or both"));
    }
    let before = one(&app, &name).await?;
    // Whoever could change the password of somebody who may do more could do more.
    caller.gives(before.role.scopes())?;
    caller.gives(role.map_or(before.role, |role| role).scopes())?;
    let mut notes = Vec::new();
    if let Some(role) = role {
        let name = name.as_str().into();
        changed(&app, PersonChange::Role { name, role }).await?;
        notes.push(role.name());
    }
    if let Some(password) = hashed(&app, password).await? {
        let name = name.as_str().into();
        changed(&app, PersonChange::Password { name, password }).await?;
        notes.push("password");
    }
    let mut out = Object::new();
    show(&mut out, &one(&app, &name).await?);
    let told = Told::of(&name).noted(&notes.join(", "));
    Ok(told.with(out.respond(StatusCode::OK)))
}

/// `DELETE /v1/people/{name}`
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let person = one(&app, &name).await?;
    caller.gives(person.role.scopes())?;
    let name = name.as_str().into();
    changed(&app, PersonChange::Remove { name }).await?;
    let mut out = Object::new();
    show(&mut out, &person);
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/people/{name}/link`
pub(crate) async fn link(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let person = one(&app, &name).await?;
    caller.gives(person.role.scopes())?;
    let mut out = Object::new();
    out.text("name", &person.name);
    write_link(&app, &mut out, Some(&person.name)).await?;
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/setup`
pub(crate) async fn setup(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let mut out = Object::new();
    write_link(&app, &mut out, None).await?;
    Ok(out.respond(StatusCode::OK))
}

/// Adds a link with which the password is chosen. It is shown this once.
async fn write_link(app: &App, out: &mut Object, person: Option<&str>) -> Result<(), Problem> {
    let link = invite::make(&app.store, &app.settings.public_url, person).await?;
    let link = link.ok_or_else(|| match person {
        Some(name) => missing(name),
        None => Problem::new(Code::PersonThere, "somebody has an account already")
            .fix("`semel people add NAME --role ROLE` adds another, `semel people link NAME` lets one choose a new password"),
    })?;
    out.text("link", &link.url).time("until", link.until);
    Ok(())
}

fn role(fields: &Fields<'_>) -> Result<Option<Role>, Problem> {
    let names = Role::ALL.map(Role::name);
    fields.word("role", Role::named, &names)
}

async fn hashed(app: &App, password: Option<String>) -> Result<Option<Box<str>>, Problem> {
    match password {
        Some(password) => app.logins.hashers.hash(password).await.map(Some),
        None => Ok(None),
    }
}

async fn one(app: &App, name: &str) -> Result<Person, Problem> {
    let person = app.store.person(name).await?;
    person.ok_or_else(|| missing(name))
}

async fn changed(app: &App, change: PersonChange) -> Result<(), Problem> {
    if app.store.change_person(change).await? {
        return Ok(());
    }
    Err(missing("that name"))
}

fn missing(name: &str) -> Problem {
    let detail = format!("there is nobody called {name}");
    Problem::new(Code::PersonMissing, detail).fix("GET /v1/people lists everybody")
}
