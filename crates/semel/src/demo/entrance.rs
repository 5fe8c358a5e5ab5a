//! How whoever watches gets to the page without an account of their own.
//!
//! The demo logs in for them, and hands the session to the browser that opens its own link: cookies belong to a machine's
//! name, not to a port of it.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use semel_store::blob::hex;
use semel_store::store::random_bytes;
use serde_json::{Value, json};

/// Who watches.
pub(super) const WATCHER: &str = "demo";

/// The way in.
#[derive(Debug)]
pub(super) struct Entrance {
    /// Where it leads.
    pub(super) page: String,
    /// What must be known to go in.
    path: String,
    cookie: HeaderValue,
}

impl Entrance {
    /// Makes an account for whoever watches, and logs in.
    pub(super) async fn open(server: SocketAddr, token: &str) -> anyhow::Result<Entrance> {
        let password = hex(&random_bytes::<16>());
        let account = json!({"name": WATCHER, "role": "admin", "password": password});
        let made = ask(server, Method::POST, "/v1/people", Some(token), &account).await?;
        // Kept from an earlier demo.
        if made.status() == StatusCode::CONFLICT {
            let path = format!("/v1/people/{WATCHER}");
            let changed = json!({"password": password});
            let changed = ask(server, Method::PATCH, &path, Some(token), &changed).await?;
            ensure!(
                changed.status().is_success(),
                "no account: {}",
                changed.status()
            );
        }
        let login = json!({"name": WATCHER, "password": password});
        let logged_in = ask(server, Method::POST, "/v1/session", None, &login).await?;
        let cookie = logged_in.headers().get(SET_COOKIE).cloned();
        Ok(Entrance {
            page: format!("http://{server}/"),
            path: format!("/enter/{}", hex(&random_bytes::<16>())),
            cookie: cookie.with_context(|| format!("no session: {}", logged_in.status()))?,
        })
    }

    /// What to open, if the shop is there.
    pub(super) fn link(&self, shop: SocketAddr) -> String {
        format!("http://{shop}{}", self.path)
    }

    /// Lets in whoever knows the path.
    pub(super) fn pass(&self, path: &str) -> Option<Response<Full<Bytes>>> {
        if path != self.path {
            return None;
        }
        Response::builder()
            .status(StatusCode::SEE_OTHER)
            .header("location", &self.page)
            .header("cache-control", "no-store")
            .header(SET_COOKIE, &self.cookie)
            .body(Full::default())
            .ok()
    }
}

async fn ask(
    server: SocketAddr,
    method: Method,
    path: &str,
    token: Option<&str>,
    body: &Value,
) -> anyhow::Result<Response<Bytes>> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut request = Request::builder()
        .method(method)
        .uri(format!("http://{server}{path}"))
        .header(CONTENT_TYPE, "application/json");
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.body(Full::new(Bytes::from(body.to_string())))?;
    let (head, body) = client.request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}
