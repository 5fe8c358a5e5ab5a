//! The bytes of one connection, counted.
//!
//! Owns the one fact that failures are judged by: whether any byte of a request was handed to the
//! kernel. Counted at the socket, below TLS, so that nothing in between can hide a byte. Also
//! looks at the socket itself when asked, because the runtime may not have heard yet that the peer
//! hung up.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use rustix::net::RecvFlags;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// What is known of a connection from outside.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    written: AtomicU64,
    /// The next read looks at the socket first.
    probe: AtomicBool,
}

impl Meter {
    /// How many bytes the kernel has taken so far.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Makes the next read look whether the peer hung up or spoke out of turn.
    pub(super) fn probe(&self) {
        self.probe.store(true, Ordering::Release);
    }
}

/// A socket whose bytes are counted.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: TcpStream,
    meter: Arc<Meter>,
}

impl Wire {
    pub(super) fn new(socket: TcpStream) -> Wire {
        Wire {
            socket,
            meter: Arc::default(),
        }
    }

    pub(super) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Whether there is an end or anything else to read: on an idle connection, both mean that it
    /// must not be used.
    fn has_news(&self) -> bool {
        let mut byte = [0; 1];
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let seen = rustix::net::recv(&self.socket, &mut byte, flags);
        !matches!(seen, Err(rustix::io::Errno::AGAIN))
    }

    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = written {
            self.meter.written.fetch_add(bytes as u64, Ordering::AcqRel);
        }
        written
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.meter.probe.swap(false, Ordering::AcqRel) && self.has_news() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

/// What a request is spoken over.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(Wire),
    Tls(Box<TlsStream<Wire>>),
}

impl Stream {
    pub(crate) fn meter(&self) -> Arc<Meter> {
        self.wire().meter()
    }

    /// Whether the peer hung up or said something, as far as this machine has heard.
    pub(crate) fn has_news(&self) -> bool {
        self.wire().has_news()
    }

    /// The address of this end.
    pub(crate) fn local_ip(&self) -> io::Result<IpAddr> {
        self.wire().socket.local_addr().map(|address| address.ip())
    }

    fn wire(&self) -> &Wire {
        match self {
            Stream::Plain(wire) => wire,
            Stream::Tls(stream) => stream.get_ref().0,
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(wire) => Pin::new(wire).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(wire) => Pin::new(wire).poll_write(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(wire) => Pin::new(wire).poll_write_vectored(cx, bufs),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Plain(wire) => wire.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(wire) => Pin::new(wire).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(wire) => Pin::new(wire).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
