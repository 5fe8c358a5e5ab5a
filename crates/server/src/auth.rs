//! Who calls: a bearer token, looked up by its hash.
//!
//! The registry is a copy of the store's tokens. It is read again when an unknown token comes
//! (at most once a second, so that guessing costs the store nothing), after changes made here,
//! and every few seconds, so that a token revoked on another node stops working within five.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use semel_store::{Store, StoreError};
use tokio::sync::Mutex;

use crate::app::App;
use crate::code::Code;
use crate::problem::Problem;
use crate::tokens;

/// The shortest time between two looks at the store on behalf of unknown tokens.
const MISS_PAUSE: Duration = Duration::from_secs(1);

/// Who calls, by the name of their token.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Arc<str>);

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
            .map(|token| (token.hash, Caller(token.name.into())))
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

/// Finds out who calls.
pub(crate) async fn identify(app: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
    if app.settings.trusted {
        return Ok(Caller("local".into()));
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
    .fix("send `Authorization: Bearer smt_…`; the first token is in the file `token` of the data directory, `semel tokens create NAME` makes another")
}
