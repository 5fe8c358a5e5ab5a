//! The API over the network.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT};
use hyper::{Request, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use super::answer::{Answer, Call, Unreachable};
use super::events::Coming;
use super::pinned;
use crate::config::Secret;
use crate::failure::Failure;

/// The longest a call may take, large blobs over slow lines included.
const PATIENCE: Duration = Duration::from_mins(1);
/// No answer is longer: a page of a thousand effects, or a blob.
const MAX_ANSWER: usize = 256 * 1024 * 1024;

/// A server at an address.
pub(crate) struct Remote {
    base: String,
    token: Option<Secret>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl Remote {
    pub(super) fn new(base: &str, token: Option<Secret>) -> anyhow::Result<Remote> {
        let uri = read_base(base)?;
        let builder = HttpsConnectorBuilder::new();
        let connector = if uri.scheme_str() == Some("https") {
            builder
                .with_native_roots()
                .context("cannot load this machine's certificates")?
                .https_only()
                .enable_http1()
                .build()
        } else {
            let roots = rustls::RootCertStore::empty();
            let tls = rustls::ClientConfig::builder()
                .with_root_certificates(roots)
                .with_no_client_auth();
            builder
                .with_tls_config(tls)
                .https_or_http()
                .enable_http1()
                .build()
        };
        Ok(Remote::over(base, token, connector))
    }

    /// A server on this machine, which has the certificate in this file.
    pub(super) fn pinned(
        base: &str,
        token: Option<Secret>,
        certificate: &Path,
    ) -> anyhow::Result<Remote> {
        read_base(base)?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(pinned::config(certificate)?)
            .https_only()
            .enable_http1()
            .build();
        Ok(Remote::over(base, token, connector))
    }

    fn over(base: &str, token: Option<Secret>, connector: HttpsConnector<HttpConnector>) -> Remote {
        Remote {
            base: base.to_owned(),
            token,
            client: Client::builder(TokioExecutor::new()).build(connector),
        }
    }

    /// Whether somebody answers there.
    pub(super) async fn is_ready(&self) -> bool {
        let asked = self.send(Call::get("/healthz"));
        let answered = tokio::time::timeout(Duration::from_secs(2), asked).await;
        matches!(answered, Ok(Ok(answer)) if answer.status.is_success())
    }

    pub(super) async fn send(&self, call: Call) -> anyhow::Result<Answer> {
        let request = self.request(call)?;
        let asked = tokio::time::timeout(PATIENCE, self.exchange(request));
        asked.await.unwrap_or_else(|_| {
            Err(self.unreachable(&format!("no answer within {} s", PATIENCE.as_secs())))
        })
    }

    fn request(&self, call: Call) -> anyhow::Result<Request<Full<Bytes>>> {
        let mut request = Request::builder()
            .method(call.method)
            .uri(format!("{}{}", self.base, call.path))
            .header(USER_AGENT, concat!("semel/", env!("CARGO_PKG_VERSION")));
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
                .map_err(|_| Failure::usage("the token has characters that no token has"))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if let Some((name, value)) = &call.header {
            request = request.header(*name, value);
        }
        let body = match call.body {
            Some((kind, body)) => {
                request = request.header(CONTENT_TYPE, kind);
                body
            }
            None => Bytes::new(),
        };
        request
            .body(Full::new(body))
            .context("the request cannot be written")
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Answer> {
        let response = self
            .client
            .request(request)
            .await
            .map_err(|error| self.unreachable(&root(&error)))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER)
            .collect()
            .await
            .map_err(|error| self.unreachable(&error.to_string()))?
            .to_bytes();
        Ok(Answer { status, body })
    }

    /// Asks, and gives the answer as it comes.
    pub(super) async fn open(&self, call: Call) -> anyhow::Result<(StatusCode, Coming)> {
        let asked = self.client.request(self.request(call)?);
        let response = tokio::time::timeout(PATIENCE, asked)
            .await
            .map_err(|_| self.unreachable(&format!("no answer within {} s", PATIENCE.as_secs())))?
            .map_err(|error| self.unreachable(&root(&error)))?;
        let (head, body) = response.into_parts();
        Ok((head.status, body.map_err(Into::into).boxed_unsync()))
    }

    fn unreachable(&self, why: &str) -> anyhow::Error {
        anyhow::Error::new(Unreachable(format!("cannot reach {}: {why}", self.base)))
    }
}

fn read_base(base: &str) -> anyhow::Result<Uri> {
    let uri = base.parse().ok().filter(is_base);
    let wrong = || {
        Failure::usage(format!("server {base:?} is not an address"))
            .fix("write http://HOST:PORT or https://HOST")
    };
    Ok(uri.ok_or_else(wrong)?)
}

fn is_base(uri: &Uri) -> bool {
    matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.host().is_some_and(|host| !host.is_empty())
        && uri.query().is_none()
}

/// The innermost cause, which is the one that helps.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
