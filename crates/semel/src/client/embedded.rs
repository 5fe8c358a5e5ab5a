//! The API without a server: the same router, called in this process.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper::header::CONTENT_TYPE;
use semel_ledger::Millis;
use semel_server::{App, Settings};
use semel_store::lock::DataLock;
use semel_store::{Location, Options, Store};
use tower::ServiceExt as _;

use super::answer::{Answer, Call};

/// A store that is open in this process, with the lock (if it is a file) under which it is.
#[derive(Debug)]
pub(crate) struct Embedded {
    router: Router,
    store: Arc<Store>,
    /// Let go after the store is closed: fields are dropped in the order they stand in.
    _lock: Option<DataLock>,
}

impl Embedded {
    pub(super) async fn open(
        location: &Location,
        lock: Option<DataLock>,
        remember: Millis,
        keep: Millis,
    ) -> anyhow::Result<Embedded> {
        let options = Options {
            keep,
            connections: 1,
            ..Options::default()
        };
        let store = Arc::new(Store::open(location, options).await?);
        let settings = Settings {
            remember,
            // Whoever may open the file may do everything; a token would add nothing.
            trusted: true,
            ..Settings::default()
        };
        let app = App::new(Arc::clone(&store), settings).await?;
        Ok(Embedded {
            router: semel_server::router(app),
            store,
            _lock: lock,
        })
    }

    pub(super) async fn send(&self, call: Call) -> anyhow::Result<Answer> {
        let mut request = Request::builder().method(call.method).uri(call.path);
        let body = match call.body {
            Some((kind, body)) => {
                request = request.header(CONTENT_TYPE, kind);
                Body::from(body)
            }
            None => Body::empty(),
        };
        let response = self.router.clone().oneshot(request.body(body)?).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Answer { status, body })
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        let Embedded {
            router,
            store,
            _lock,
        } = self;
        drop(router);
        store.close().await?;
        Ok(())
    }
}
