//! An answer that goes on: server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::Frame;
use tokio::sync::mpsc;

use crate::out::Object;

/// How long nothing may be said: proxies close what is silent.
pub(crate) const SILENCE: Duration = Duration::from_secs(15);
/// How many events may wait for a slow reader.
const WAITING: usize = 16;
/// What is said when there is nothing to say.
pub(crate) const STILL_HERE: &str = ": still here\n\n";

/// The other end no longer listens.
#[derive(Debug)]
pub(crate) struct Gone;

/// An answer that grows, and whoever makes it grow.
pub(crate) fn open() -> (Speaker, Response) {
    let (out, feed) = mpsc::channel(WAITING);
    let mut response = Response::new(Body::new(Feed(feed)));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    (Speaker(out), response)
}

/// Says events, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Speaker(mpsc::Sender<Bytes>);

impl Speaker {
    /// Says something, as soon as the reader has room for it.
    pub(crate) async fn say(&self, bytes: Bytes) -> Result<(), Gone> {
        self.0.send(bytes).await.map_err(|_| Gone)
    }

    /// Waits until the other end no longer listens.
    pub(crate) async fn gone(&self) {
        self.0.closed().await;
    }
}

/// One event as it is sent.
pub(crate) fn event(name: &str, id: Option<usize>, data: Object) -> Bytes {
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    let mut text = format!("event: {name}\n{id}data: ").into_bytes();
    // JSON on one line: a line break in a text is escaped.
    text.extend(data.into_bytes());
    text.extend(b"\n\n");
    text.into()
}

/// A body that grows.
struct Feed(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Feed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = self.0.poll_recv(context);
        polled.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
