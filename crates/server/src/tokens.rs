//! API tokens: made here, shown once, kept as hashes.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_store::access::{Scope, Scopes};
use semel_store::blob::hex;
use semel_store::store::random_bytes;
use semel_store::token::TokenChange;
use semel_store::{Change, Store, StoreError, Token};

use crate::app::App;
use crate::audit::Told;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::fields::Fields;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::suggest::nearest;
use crate::target::Segment;

/// What is kept of a token.
#[must_use]
pub fn hash(clear: &str) -> [u8; 32] {
    *blake3::hash(clear.as_bytes()).as_bytes()
}

/// Makes a token that may do everything.
///
/// # Errors
/// [`StoreError`] if it could not be written.
pub async fn issue(store: &Store, name: &str) -> Result<(String, Token), StoreError> {
    issue_for(store, name, Scopes::ALL).await
}

/// Makes a token. Its clear text (`smt_…`) is given this once and kept nowhere.
///
/// # Errors
/// [`StoreError`] if it could not be written.
pub async fn issue_for(
    store: &Store,
    name: &str,
    scopes: Scopes,
) -> Result<(String, Token), StoreError> {
    let clear = format!("smt_{}", hex(&random_bytes::<32>()));
    let token = Token {
        id: format!("tok_{}", hex(&random_bytes::<8>())),
        name: name.to_owned(),
        hash: hash(&clear),
        scopes,
        created_at: store.now(),
        revoked_at: None,
    };
    let change = Change::Token(TokenChange::Add(token.clone()));
    store.commit(vec![change]).await?;
    Ok((clear, token))
}

fn show(out: &mut Object, token: &Token) {
    out.text("id", &token.id)
        .text("name", &token.name)
        .texts("scopes", token.scopes.iter().map(Scope::name))
        .time("created_at", token.created_at)
        .time_or_null("revoked_at", token.revoked_at);
}

/// `GET /v1/tokens`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let tokens = app.store.tokens().await?;
    let mut out = Object::new();
    out.list("tokens", &tokens, show);
    Ok(out.respond(StatusCode::OK))
}

/// `POST /v1/tokens`
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["name", "scopes"])?;
    let name = fields.name("name")?;
    let name = fields.need("name", name)?;
    let scopes = scopes(&fields)?.unwrap_or(caller.scopes);
    caller.gives(scopes)?;
    let (clear, token) = issue_for(&app.store, &name, scopes).await?;
    read_again(&app).await;
    let mut out = Object::new();
    show(&mut out, &token);
    out.text("token", &clear);
    let told = Told::of(&format!("{} {name}", token.id)).noted(&scopes.text());
    Ok(told.with(out.respond(StatusCode::CREATED)))
}

/// The scopes that are asked for.
fn scopes(fields: &Fields<'_>) -> Result<Option<Scopes>, Problem> {
    let Some(names) = fields.texts("scopes")? else {
        return Ok(None);
    };
    let all: Vec<&str> = Scope::ALL.into_iter().map(Scope::name).collect();
    let read = |name: &String| {
        let wrong = || {
            let why = format!("has {name:?}, which is none of {}", all.join(", "));
            let problem = fields.invalid("scopes", &why);
            match nearest(name, &all) {
                Some(meant) => problem.fix(&format!("did you mean {meant}?")),
                None => problem,
            }
        };
        Scope::named(name).ok_or_else(wrong)
    };
    let scopes: Vec<Scope> = names.iter().map(read).collect::<Result<_, _>>()?;
    if scopes.is_empty() {
        let why = "is empty: such a token could do nothing; leave it out for all that you may do";
        return Err(fields.invalid("scopes", why));
    }
    Ok(Some(Scopes::of(&scopes)))
}

/// `DELETE /v1/tokens/{id}`
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let missing = || {
        Problem::new(Code::TokenMissing, "there is no token with that id")
            .fix("GET /v1/tokens lists the ids")
    };
    let before = app.store.tokens().await?;
    let before = before.into_iter().find(|token| token.id == id);
    let mut token = before.ok_or_else(missing)?;
    let change = Change::Token(TokenChange::Revoke { id: id.clone() });
    app.store.commit(vec![change]).await?;
    read_again(&app).await;
    let after = app.store.tokens().await.unwrap_or_default();
    match after.into_iter().find(|token| token.id == id) {
        Some(after) => token = after,
        None => token.revoked_at = token.revoked_at.or_else(|| Some(app.store.now())),
    }
    let mut out = Object::new();
    show(&mut out, &token);
    Ok(out.respond(StatusCode::OK))
}

/// Brings a change that is written into force here. If that fails it comes into force a little
/// later, as on other nodes; the answer must not say that nothing was written.
async fn read_again(app: &App) {
    if let Err(error) = app.registry.refresh(&app.store).await {
        tracing::warn!(%error, "tokens could not be read again after a change");
    }
}
