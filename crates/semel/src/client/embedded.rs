//! The API without a server: the same router, called in this process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::header::CONTENT_TYPE;
use hyper::{Request, StatusCode};
use semel_act::SecretSet;
use semel_ledger::Millis;
use semel_server::{App, Idle, KeySource, Settings, Vault};
use semel_store::lock::DataLock;
use semel_store::store::random_bytes;
use semel_store::{Filter, Location, Options, Store};
use tower::ServiceExt as _;

use super::answer::{Answer, Call};
use super::events::Coming;
use crate::failure::refused;

/// A store that is open in this process, with the lock (if it is a file) under which it is.
#[derive(Debug)]
pub(crate) struct Embedded {
    router: Router,
    store: Arc<Store>,
    /// Let go after the store is closed: fields are dropped in the order they stand in.
    lock: Option<DataLock>,
}

/// How a store is opened.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) lock: Option<DataLock>,
    /// The data directory, if there is one: the key of signed proofs lies there.
    pub(super) data: Option<PathBuf>,
    pub(super) remember: Millis,
    pub(super) keep: Millis,
    pub(super) keys: KeySource,
    pub(super) public_url: Option<String>,
    pub(super) groups: BTreeMap<String, Vec<String>>,
}

impl Embedded {
    pub(super) async fn open(location: &Location, how: Opening) -> anyhow::Result<Embedded> {
        let Opening {
            lock,
            data,
            remember,
            keep,
            keys,
            public_url,
            groups,
        } = how;
        let options = Options {
            keep,
            connections: 1,
            ..Options::default()
        };
        let store = Store::open(location, options).await.map_err(refused)?;
        let store = Arc::new(store);
        let mut settings = Settings {
            remember,
            // Whoever may open the file may do everything; a token would add nothing.
            trusted: true,
            data,
            groups,
            ..Settings::default()
        };
        settings.public_url = public_url.unwrap_or(settings.public_url);
        // What is started here waits for a server.
        let idle = Arc::new(Idle);
        // The environment that counts is the server's, not this process's.
        let vault = Arc::new(Vault::new(Arc::new(SecretSet::default()), keys));
        let app = App::new(Arc::clone(&store), settings, idle, vault).await?;
        Ok(Embedded {
            router: semel_server::router(app),
            store,
            lock,
        })
    }

    pub(super) async fn send(&self, call: Call) -> anyhow::Result<Answer> {
        let response = self.call(call).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Answer { status, body })
    }

    /// Asks, and gives the answer as it comes.
    pub(super) async fn open_answer(&self, call: Call) -> anyhow::Result<(StatusCode, Coming)> {
        let (head, body) = self.call(call).await?.into_parts();
        Ok((head.status, body.map_err(Into::into).boxed_unsync()))
    }

    async fn call(&self, call: Call) -> anyhow::Result<Response> {
        let mut request = Request::builder().method(call.method).uri(call.path);
        if let Some((name, value)) = &call.header {
            request = request.header(*name, value);
        }
        let body = match call.body {
            Some((kind, body)) => {
                request = request.header(CONTENT_TYPE, kind);
                Body::from(body)
            }
            None => Body::empty(),
        };
        Ok(self.router.clone().oneshot(request.body(body)?).await?)
    }

    /// Whether nobody else can work on the store as long as this is open.
    pub(super) fn is_alone(&self) -> bool {
        self.lock.is_some()
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        let Embedded {
            router,
            store,
            lock: _lock,
        } = self;
        drop(router);
        tidy(&store).await;
        store.close().await?;
        Ok(())
    }
}

/// How many bites of the ledger one call looks at, when it does.
const BITES: usize = 4;

/// Where no server runs, nobody sweeps; so now and then (one call in sixteen) a call that is done
/// looks at a stretch of the ledger, begun anywhere, and gives back what is no longer needed.
/// Nothing depends on it: what is forgotten reads as absent anyway.
async fn tidy(store: &Store) {
    let [chance, place @ ..] = random_bytes::<9>();
    if store.kind() != "sqlite" || chance % 16 != 0 {
        return;
    }
    let newest = Filter {
        limit: 1,
        ..Filter::default()
    };
    let Ok(page) = store.list(&newest).await else {
        return;
    };
    let last = page.items.first().map_or(0, |record| record.seq);
    let mut after = i64::from_le_bytes(place).rem_euclid(last.max(1));
    let mut swept = 0;
    for _ in 0..BITES {
        let Ok(bite) = store.sweep_bite(after).await else {
            return;
        };
        swept += bite.swept;
        after = bite.next;
        if after == 0 {
            break;
        }
    }
    if swept > 0 {
        let _ = store.give_back().await;
    }
}
