//! Who calls: a bearer token, looked up by its hash, or whoever is logged in (`crate::people`).
//!
//! The registry is a copy of the store's tokens. It is read again when an unknown token comes
//! (at most once a second, so that guessing costs the store nothing), after changes made here,
//! and every few seconds, so that a token revoked on another node stops working within five.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use semel_store::access::{Scope, Scopes};
use semel_store::{Store, StoreError};
use tokio::sync::Mutex;

use crate::app::App;
use crate::code::Code;
use crate::people::session;
use crate::problem::Problem;
use crate::tokens;

/// The shortest time between two looks at the store on behalf of unknown tokens.
const MISS_PAUSE: Duration = Duration::from_secs(1);

/// How somebody came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// By an API token.
    Token,
    /// They are logged in.
    Person,
    /// It is this very process, on behalf of whoever may open the ledger's file.
    Local,
}

impl Via {
    /// As the audit log says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Via::Token => "token",
            Via::Person => "person",
            Via::Local => "local",
        }
    }
}

/// Who calls.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The name of their token, or their own.
    pub(crate) name: Arc<str>,
    pub(crate) via: Via,
    pub(crate) scopes: Scopes,
}

impl Caller {
    /// Refuses callers who have none of these.
    pub(crate) fn needs_one_of(&self, scopes: Scopes) -> Result<(), Problem> {
        if scopes.iter().any(|scope| self.scopes.has(scope)) {
            return Ok(());
        }
        Err(self.forbidden(scopes))
    }

    /// Refuses callers who do not have this one.
    pub(crate) fn needs(&self, scope: Scope) -> Result<(), Problem> {
        self.needs_one_of(Scopes::of(&[scope]))
    }

    /// Nobody gives what they do not have.
    pub(crate) fn gives(&self, scopes: Scopes) -> Result<(), Problem> {
        scopes.iter().try_for_each(|scope| self.needs(scope))
    }

    fn forbidden(&self, needed: Scopes) -> Problem {
        let names: Vec<&str> = needed.iter().map(Scope::name).collect();
        let needed = names.join(" or ");
        let has = match self.scopes.text() {
            has if has.is_empty() => "none".to_owned(),
            has => has.replace(',', ", "),
        };
        let (what, fix) = match self.via {
            Via::Token | Via::Local => (
                "the token has",
                "`semel tokens create NAME --scopes …` makes a token with other scopes",
            ),
            Via::Person => ("you have", "an admin can give you another role"),
        };
        let detail = format!("this needs the scope {needed}; {what} {has}");
        let mut problem = Problem::new(Code::Forbidden, detail).fix(fix);
        problem.more.text("scope", &needed);
        problem
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Caller, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned();
        caller.ok_or_else(unauthorized)
    }
}

type Known = HashMap<[u8; 32], Caller>;

/// The tokens that are valid, as they were when last read.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    known: RwLock<Arc<Known>>,
    missed: Mutex<Option<Instant>>,
}

impl Registry {
    /// Reads the tokens again.
    pub(crate) async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        let tokens = store.tokens().await?;
        let known: Known = tokens
            .into_iter()
            .filter(|token| token.revoked_at.is_none())
            .map(|token| {
                let caller = Caller {
                    name: token.name.into(),
                    via: Via::Token,
                    scopes: token.scopes,
                };
                (token.hash, caller)
            })
            .collect();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        Ok(())
    }

    fn find(&self, hash: &[u8; 32]) -> Option<Caller> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(hash).cloned()
    }

    async fn find_or_refresh(
        &self,
        hash: &[u8; 32],
        store: &Store,
    ) -> Result<Option<Caller>, StoreError> {
        if let Some(caller) = self.find(hash) {
            return Ok(Some(caller));
        }
        let mut missed = self.missed.lock().await;
        if missed.is_none_or(|at| at.elapsed() >= MISS_PAUSE) {
            self.refresh(store).await?;
            *missed = Some(Instant::now());
        }
        Ok(self.find(hash))
    }
}

/// Finds out who calls: by a token if there is one, else by the session of a browser.
pub(crate) async fn identify(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Caller, Problem> {
    if app.settings.trusted {
        return Ok(Caller {
            name: "local".into(),
            via: Via::Local,
            scopes: Scopes::ALL,
        });
    }
    if !headers.contains_key(AUTHORIZATION) {
        let found = session::identify(app, method, headers).await?;
        return Ok(found.ok_or_else(unauthorized)?.caller());
    }
    let presented = presented(headers).ok_or_else(unauthorized)?;
    let found = app
        .registry
        .find_or_refresh(&tokens::hash(presented), &app.store)
        .await?;
    found.ok_or_else(unauthorized)
}

fn presented(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let one = values.next().is_none();
    one.then(|| bearer(value))?
}

/// The token in the value of an `Authorization` header.
pub(crate) fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let bearer = scheme.eq_ignore_ascii_case("bearer");
    bearer.then(|| token.trim())
}

/// One text for every reason, so that nothing can be learnt from it.
fn unauthorized() -> Problem {
    Problem::new(
        Code::Unauthorized,
        "a valid bearer token is needed for this request",
    )
    .fix("send `Authorization: Bearer smt_…`; the first token is in the file `token` of the data directory, `semel tokens create NAME` makes another; people log in at /login")
}
