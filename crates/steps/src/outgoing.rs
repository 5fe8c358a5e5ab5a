//! Requests that leave this machine.
//!
//! Owns every socket the crate opens: addresses are judged when they are connected to
//! ([`rules`]), connections are kept and reused ([`pool`]), and a request that got no answer comes
//! back with the one thing that matters about it ([`Trouble`]): whether a byte of it may have left.
//! Leaves to its callers what an answer means.
//!
//! The invariant: [`Trace::sent`] is called before a byte of a request can leave, and a request is
//! written again only if no byte of it was, or if its caller says that a repeat is free.

mod connect;
mod link;
mod pool;
mod proxy;
mod resolve;
mod rules;
mod spelled;
mod target;
mod trouble;
mod tunnel;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use semel_act::Trace;
use semel_ledger::Millis;
use tokio::time::{Instant, timeout_at};

use link::Link;
use pool::Pool;

pub(crate) use connect::{Connector, encryption};
pub use proxy::{Proxy, ProxyError, ProxyUrlError};
pub(crate) use resolve::permitted;
pub use rules::{OutgoingRules, RulesError};
pub(crate) use target::{Origin, Service, Target, UrlError, escape_part};
use trouble::Lost;
pub(crate) use trouble::{Trouble, Unsent};
pub(crate) use tunnel::Route;
pub(crate) use wire::Stream;

/// One request.
pub(crate) struct Call<'c> {
    pub(crate) method: &'c Method,
    pub(crate) target: &'c Target,
    pub(crate) headers: &'c HeaderMap,
    pub(crate) body: &'c Bytes,
    /// How long a new connection may take.
    pub(crate) connect: Duration,
    /// How long the head of the answer may take, once the request is on its way.
    pub(crate) first_byte: Option<Duration>,
    /// When all of it must be over.
    pub(crate) deadline: Instant,
    /// The most bytes of the answer's body.
    pub(crate) limit: usize,
    /// Nobody would notice if it were sent twice.
    pub(crate) repeat_is_free: bool,
}

/// An answer; its status is certain, its body may be lost.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Result<Bytes, BodyLost>,
}

/// Why the body of an answer could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyLost {
    #[error("the answer was cut short: {source}")]
    Cut { source: hyper::Error },
    #[error("the answer has more than {limit} bytes; raise `limit`")]
    TooLong { limit: usize },
    #[error("the answer was not complete when the time was over")]
    Timeout,
}

/// Sends requests.
pub(crate) struct Client {
    connector: Connector,
    pool: Arc<Pool>,
}

impl Client {
    pub(crate) fn new(connector: Connector) -> Client {
        Client {
            connector,
            pool: Arc::default(),
        }
    }

    /// Sends a request once and reads its answer.
    pub(crate) async fn send(&self, call: &Call<'_>, trace: &dyn Trace) -> Result<Reply, Trouble> {
        let origin = &call.target.origin;
        let uri: Uri = call.target.path.parse().map_err(Unsent::Url)?;
        let mut kept = self.kept(call).await;
        loop {
            let reused = kept.is_some();
            let mut link = match kept.take() {
                Some(link) => link,
                // Rare and large, so that it does not weigh on every request.
                None => Box::pin(self.connected(call)).await?,
            };
            let before = link.written();
            trace.sent();
            let lost = match ask(&mut link, request(call, uri.clone()), call).await {
                Ok((reply, open)) => {
                    if open && link.is_free().await {
                        let promised = keep_alive(&reply.headers);
                        self.pool.put(origin, link, promised);
                    }
                    return Ok(reply);
                }
                Err(lost) => lost,
            };
            // The link is not driven any more: what was not written never will be.
            let unsent = link.written() == before;
            let died = matches!(lost, Lost::Broken { .. });
            if reused && died && (unsent || call.repeat_is_free) {
                continue;
            }
            return Err(if unsent {
                never_left(lost).into()
            } else {
                lost.into()
            });
        }
    }

    /// A connection that waited and can still be used.
    async fn kept(&self, call: &Call<'_>) -> Option<Link> {
        loop {
            let mut link = self.pool.take(&call.target.origin, !call.repeat_is_free)?;
            if link.is_usable().await {
                return Some(link);
            }
        }
    }

    /// A new connection, found open.
    async fn connected(&self, call: &Call<'_>) -> Result<Link, Unsent> {
        let origin = &call.target.origin;
        let begun = Instant::now();
        let by = call.deadline.min(begun + call.connect);
        let closed = || Unsent::Closed {
            host: origin.authority(),
        };
        let connecting = async {
            let stream = self.connector.connect(origin, by).await?;
            Link::new(stream).await.map_err(|_| closed())
        };
        let mut link = match timeout_at(by, connecting).await {
            Ok(connected) => connected?,
            Err(_) => {
                return Err(Unsent::ConnectTimeout {
                    host: origin.authority(),
                    within: millis(by - begun),
                });
            }
        };
        if link.is_usable().await {
            Ok(link)
        } else {
            Err(closed())
        }
    }
}

/// The same failure, of a request that never left.
fn never_left(lost: Lost) -> Unsent {
    match lost {
        Lost::Timeout { host, within } => Unsent::Stuck { host, within },
        Lost::Broken { host, .. } => Unsent::Closed { host },
    }
}

/// Sends a request over a connection and reads the answer. Also tells whether the connection came
/// to the end of it.
async fn ask(
    link: &mut Link,
    request: Request<Full<Bytes>>,
    call: &Call<'_>,
) -> Result<(Reply, bool), Lost> {
    let host = || call.target.origin.authority();
    let begun = Instant::now();
    let by = match call.first_byte {
        Some(time) => call.deadline.min(begun + time),
        None => call.deadline,
    };
    let answer = match timeout_at(by, link.ask(request)).await {
        Ok(answer) => answer.map_err(|source| Lost::Broken {
            host: host(),
            source,
        })?,
        Err(_) => {
            return Err(Lost::Timeout {
                host: host(),
                within: millis(by - begun),
            });
        }
    };
    let (head, mut body) = answer.into_parts();
    let reading = read(link, &mut body, call.limit);
    let body = timeout_at(call.deadline, reading)
        .await
        .unwrap_or(Err(BodyLost::Timeout));
    let open = body.is_ok();
    let reply = Reply {
        status: head.status,
        headers: head.headers,
        body,
    };
    Ok((reply, open))
}

fn request(call: &Call<'_>, uri: Uri) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(call.body.clone()));
    *request.method_mut() = call.method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = call.headers.clone();
    let headers = request.headers_mut();
    if let Ok(host) = HeaderValue::from_str(&call.target.origin.authority()) {
        headers.insert(HOST, host);
    }
    let may_have_body = matches!(*call.method, Method::POST | Method::PUT | Method::PATCH);
    if may_have_body || !call.body.is_empty() {
        headers.insert(CONTENT_LENGTH, call.body.len().into());
    }
    request
}

async fn read(link: &mut Link, body: &mut Incoming, limit: usize) -> Result<Bytes, BodyLost> {
    let too_long = BodyLost::TooLong { limit };
    let announced = body.size_hint().lower();
    if announced > limit as u64 {
        return Err(too_long);
    }
    let mut whole = Bytes::new();
    let mut parts = BytesMut::new();
    while let Some(frame) = link.next(body).await {
        let frame = frame.map_err(|source| BodyLost::Cut { source })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + parts.len() + data.len() > limit {
            return Err(too_long);
        }
        // Most answers come in one piece, which needs no copy.
        if whole.is_empty() && parts.is_empty() {
            whole = data;
        } else {
            if parts.is_empty() {
                parts.extend_from_slice(&std::mem::take(&mut whole));
            }
            parts.extend_from_slice(&data);
        }
    }
    Ok(if parts.is_empty() {
        whole
    } else {
        parts.freeze()
    })
}

/// How long the server promised to keep the connection: `Keep-Alive: timeout=5, max=100`.
fn keep_alive(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("keep-alive")?.to_str().ok()?;
    let mut parts = text.split(',').map(str::trim);
    let seconds = parts.find_map(|part| part.strip_prefix("timeout="))?;
    seconds.parse().ok().map(Duration::from_secs)
}

pub(crate) fn millis(time: Duration) -> Millis {
    Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
