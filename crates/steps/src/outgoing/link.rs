//! One connection that requests can be sent over, one at a time.
//!
//! The protocol is driven by whoever waits for the answer, not by a task of its own: while nobody
//! waits nothing is written, so "no byte was written" stays true once it was seen, and dropping a
//! link ends whatever was under way on it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Context;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as _, Frame, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::wire::{Meter, Stream};

/// The most bytes of an answer's head.
const MAX_HEAD_BYTES: usize = 128 * 1024;

type Protocol = Connection<TokioIo<Stream>, Full<Bytes>>;

/// A connection.
pub(super) struct Link {
    sender: SendRequest<Full<Bytes>>,
    /// `None` once it has ended. Apart, as links are handed on with every request.
    protocol: Option<Box<Protocol>>,
    meter: Arc<Meter>,
}

impl Link {
    pub(super) async fn new(stream: Stream) -> Result<Link, hyper::Error> {
        let meter = stream.meter();
        let (sender, protocol) = http1::Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .handshake(TokioIo::new(stream))
            .await?;
        Ok(Link {
            sender,
            protocol: Some(Box::new(protocol)),
            meter,
        })
    }

    /// How many bytes the kernel has taken so far.
    pub(super) fn written(&self) -> u64 {
        self.meter.written()
    }

    /// Whether a request can be sent now: the peer has neither hung up nor spoken out of turn, as
    /// far as this machine has heard.
    pub(super) async fn is_usable(&mut self) -> bool {
        self.meter.probe();
        self.is_free().await
    }

    /// Whether it has come to the end of its last answer, as far as the runtime has heard.
    pub(super) async fn is_free(&mut self) -> bool {
        poll_fn(|cx| {
            drive(&mut self.protocol, cx);
            (self.protocol.is_some() && self.sender.is_ready()).into()
        })
        .await
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        let mut answer = pin!(self.sender.send_request(request));
        poll_fn(|cx| {
            drive(&mut self.protocol, cx);
            answer.as_mut().poll(cx)
        })
        .await
    }

    /// The next part of an answer's body.
    pub(super) async fn next(
        &mut self,
        body: &mut Incoming,
    ) -> Option<Result<Frame<Bytes>, hyper::Error>> {
        poll_fn(|cx| {
            // The protocol reads on only for a body that was asked for more.
            let early = Pin::new(&mut *body).poll_frame(cx);
            if early.is_ready() {
                return early;
            }
            drive(&mut self.protocol, cx);
            Pin::new(&mut *body).poll_frame(cx)
        })
        .await
    }
}

/// Lets the protocol get on; how it ended reaches whoever waits for its answer.
fn drive(protocol: &mut Option<Box<Protocol>>, cx: &mut Context<'_>) {
    if let Some(running) = protocol
        && Pin::new(&mut **running).poll(cx).is_ready()
    {
        *protocol = None;
    }
}
