//! Connections: accepted up to a cap, bounded in time and size, ended in good order.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::{IntoResponse as _, Response};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::app::Settings;
use crate::code::Code;
use crate::patient::Patient;
use crate::problem::Problem;
use crate::router::{Front, Peer};
use crate::watched::{Framing, Watched};

/// A head of a request that is longer is answered with 431; reads overlap the limit, so that one of
/// up to twice this may still pass.
pub(crate) const MAX_HEAD_BYTES: usize = 32 * 1024;
/// How long a client may leave an answer unread.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait when the machine has no sockets left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until told to stop, then gives those that are open time to end.
pub(crate) async fn accept(
    listener: TcpListener,
    front: Front,
    settings: &Settings,
    mut stop: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(settings.max_connections));
    let http = protocol(settings);
    let tls = settings.tls.as_ref().map(|tls| Handshake {
        acceptor: tls.acceptor(),
        patience: settings.head_timeout,
    });
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = stopped(&mut stop) => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
        };
        match (place, accepted) {
            (Ok(place), Ok((stream, peer))) => {
                let connection = Connection {
                    peer,
                    place,
                    http: http.clone(),
                    front: front.clone(),
                    stop: stop.clone(),
                };
                tokio::spawn(connection.begin(stream, tls.clone()));
            }
            (_, Err(error)) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
            (Err(_), _) => break,
        }
    }
    drop(listener);
    let all = u32::try_from(settings.max_connections).unwrap_or(u32::MAX);
    let drained = tokio::time::timeout(settings.drain, places.acquire_many(all)).await;
    if drained.is_err() {
        tracing::warn!("connections were still open when the time to end them was over");
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone is as good as a word to stop.
    let _ = stop.wait_for(|stop| *stop).await;
}

fn protocol(settings: &Settings) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.head_timeout)
        .max_buf_size(MAX_HEAD_BYTES);
    http
}

/// How a connection is encrypted before anything is said on it.
#[derive(Clone)]
struct Handshake {
    acceptor: TlsAcceptor,
    patience: Duration,
}

struct Connection {
    peer: SocketAddr,
    /// Given back when the connection ends.
    place: OwnedSemaphorePermit,
    http: http1::Builder,
    front: Front,
    stop: watch::Receiver<bool>,
}

impl Connection {
    async fn begin(self, stream: TcpStream, tls: Option<Handshake>) {
        // Answers are small and must not wait to be filled up.
        let _ = stream.set_nodelay(true);
        let Some(Handshake { acceptor, patience }) = tls else {
            return self.serve(stream).await;
        };
        match tokio::time::timeout(patience, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => self.serve(stream).await,
            Ok(Err(error)) => {
                tracing::debug!(%error, peer = %self.peer, "a connection could not be encrypted");
            }
            Err(_) => tracing::debug!(peer = %self.peer, "a connection was not encrypted in time"),
        }
    }

    async fn serve<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Connection {
            peer,
            place,
            http,
            front,
            mut stop,
        } = self;
        let (stream, head) = Watched::new(Patient::new(stream, WRITE_PATIENCE));
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let framing = head.framing(&request);
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer));
            let front = front.clone();
            async move {
                Ok::<_, Infallible>(match framing {
                    Framing::Ambiguous => two_lengths().into_response(),
                    Framing::Last => closing(front.answer(request).await),
                    Framing::Plain => front.answer(request).await,
                })
            }
        });
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stopped(&mut stop) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, %peer, "a connection ended badly");
        }
        drop(place);
    }
}

/// Ends the connection behind an answer.
fn closing(mut response: Response) -> Response {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

fn two_lengths() -> Problem {
    let detail = "the request has both Content-Length and Transfer-Encoding";
    Problem::new(Code::BodyIncomplete, detail).fix("send one of the two headers")
}
