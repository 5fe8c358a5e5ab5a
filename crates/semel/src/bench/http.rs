//! Load over HTTP: one connection for each caller, kept open, on loopback.
//!
//! Measures three servers the same way: one that answers at once (what HTTP itself costs), one
//! that commits a raw row and answers (what durability costs), and Semel.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use semel_store::group::Group;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

use super::ledger::{DONE_KEYS, RESULT, Work, input, key};
use super::load::{Bounds, Measured, run};

/// Serves a bare handler that answers at once.
pub(super) async fn serve_plain() -> anyhow::Result<SocketAddr> {
    let answer = || async { (StatusCode::CREATED, r#"{"verdict":"granted"}"#) };
    listen(Router::new().route("/{*path}", post(answer))).await
}

/// Serves a bare handler over the store's group commit, with no ledger logic.
pub(super) async fn serve_reference(group: Group<(), ()>) -> anyhow::Result<SocketAddr> {
    async fn insert(
        State(group): State<Group<(), ()>>,
        _body: Bytes,
    ) -> (StatusCode, &'static str) {
        match group.ask(()).await {
            Ok(()) => (StatusCode::CREATED, r#"{"verdict":"granted"}"#),
            Err(_) => (StatusCode::SERVICE_UNAVAILABLE, ""),
        }
    }
    listen(
        Router::new()
            .route("/{*path}", post(insert))
            .with_state(group),
    )
    .await
}

async fn listen(router: Router) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// A server under load, with the token it wants.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) token: Arc<str>,
}

/// Posts the same to each path, once, with so many callers.
pub(super) async fn post_all(
    target: &Target,
    callers: usize,
    paths: Arc<Vec<String>>,
    body: &'static str,
) -> anyhow::Result<Measured> {
    let mut connected = Vec::with_capacity(callers);
    for _ in 0..callers {
        connected.push(Arc::new(Mutex::new(Caller::connect(target).await?)));
    }
    let all = Bounds {
        time: std::time::Duration::MAX,
        operations: paths.len() as u64,
    };
    run(callers, all, 0, |caller| {
        let (caller, paths) = (Arc::clone(&connected[caller]), Arc::clone(&paths));
        move |number| {
            let (caller, paths) = (Arc::clone(&caller), Arc::clone(&paths));
            async move {
                let path = usize::try_from(number).ok().and_then(|at| paths.get(at));
                let path = path.context("there are as many paths as posts")?;
                let (status, body) = caller.lock().await.ask("POST", path, body.into()).await?;
                let told = String::from_utf8_lossy(&body);
                ensure!(status.is_success(), "a post was answered {status}: {told}");
                Ok(())
            }
        }
    })
    .await
}

/// One caller's connection.
struct Caller {
    target: Target,
    connection: SendRequest<Full<Bytes>>,
}

impl Caller {
    async fn connect(target: &Target) -> anyhow::Result<Caller> {
        let stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Caller {
            target: target.clone(),
            connection: sender,
        })
    }

    async fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: String,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("authorization", &*self.target.token)
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))?;
        self.connection
            .ready()
            .await
            .context("keeping a connection")?;
        let answer = self
            .connection
            .send_request(request)
            .await
            .context("asking the server")?;
        let status = answer.status();
        Ok((status, answer.into_body().collect().await?.to_bytes()))
    }

    async fn claim(&mut self, number: u64, wanted: StatusCode) -> anyhow::Result<Bytes> {
        let path = format!("/v1/guard/bench/{}", key(number));
        let body = format!(
            r#"{{"input":{},"lease":"1h","owner":"bench"}}"#,
            input(number)
        );
        let (status, answer) = self.ask("POST", &path, body).await?;
        ensure!(
            status == wanted,
            "a claim was answered {status}: {}",
            String::from_utf8_lossy(&answer)
        );
        Ok(answer)
    }

    async fn claim_and_settle(&mut self, number: u64) -> anyhow::Result<()> {
        #[derive(serde::Deserialize)]
        struct Granted {
            token: String,
        }
        let granted: Granted =
            serde_json::from_slice(&self.claim(number, StatusCode::CREATED).await?)?;
        let path = format!("/v1/guard/bench/{}", key(number));
        let body = format!(
            r#"{{"token":"{}","outcome":"done","result":{RESULT}}}"#,
            granted.token
        );
        let (status, answer) = self.ask("PUT", &path, body).await?;
        ensure!(
            status == StatusCode::OK,
            "a settlement was answered {status}: {}",
            String::from_utf8_lossy(&answer)
        );
        Ok(())
    }

    async fn once(&mut self, number: u64) -> anyhow::Result<()> {
        let path = format!("/v1/once/bench/{}", key(number));
        let body = format!(r#"{{"input":{},"owner":"bench"}}"#, input(number));
        let (status, answer) = self.ask("POST", &path, body).await?;
        if status != StatusCode::OK || !answer.windows(4).any(|four| four == b"true") {
            bail!(
                "once was answered {status}: {}",
                String::from_utf8_lossy(&answer)
            );
        }
        Ok(())
    }

    async fn one(&mut self, work: Work, number: u64, done: u64) -> anyhow::Result<()> {
        match work {
            Work::Claim => self.claim(number, StatusCode::CREATED).await.map(drop),
            Work::ClaimAndSettle => self.claim_and_settle(number).await,
            Work::Once => self.once(number).await,
            Work::Duplicates if number.is_multiple_of(10) => {
                self.claim(number, StatusCode::CREATED).await.map(drop)
            }
            Work::Duplicates => self
                .claim(done + number % DONE_KEYS, StatusCode::OK)
                .await
                .map(drop),
        }
    }
}

/// Runs one kind of work with so many callers; numbers start at `first`.
pub(super) async fn measure(
    target: &Target,
    work: Work,
    callers: usize,
    bounds: Bounds,
    (first, done): (u64, u64),
) -> anyhow::Result<Measured> {
    let mut connected = Vec::with_capacity(callers);
    for _ in 0..callers {
        connected.push(Arc::new(Mutex::new(Caller::connect(target).await?)));
    }
    run(callers, bounds, first, |caller| {
        let caller = Arc::clone(&connected[caller]);
        move |number| {
            let caller = Arc::clone(&caller);
            async move { caller.lock().await.one(work, number, done).await }
        }
    })
    .await
}
