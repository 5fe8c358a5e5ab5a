//! A connection whose request heads can be looked at as they came.
//!
//! hyper drops `Content-Length` beside `Transfer-Encoding` before anybody sees it. Two readers
//! that choose differently between them can be played against each other, so such a request is
//! refused; for that its head is kept until it is asked for. Bytes are noted only from the end
//! of one answer to the next head, so bodies cost nothing.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::http::Request;
use axum::http::header::TRANSFER_ENCODING;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// As much as a head may have.
const MOST: usize = crate::connection::MAX_HEAD_BYTES;

#[derive(Debug, Default)]
struct Noted {
    bytes: Vec<u8>,
    /// A head was read and is not answered yet.
    answering: bool,
}

/// The head that was read last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head(Arc<Mutex<Noted>>);

impl Head {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this request, just read, says its length in two ways.
    pub(crate) fn is_ambiguous<B>(&self, request: &Request<B>) -> bool {
        let mut noted = self.noted();
        noted.answering = true;
        let ambiguous =
            request.headers().contains_key(TRANSFER_ENCODING) && has_content_length(&noted.bytes);
        noted.bytes.clear();
        ambiguous
    }

    fn note(&self, read: &[u8]) {
        let mut noted = self.noted();
        if !noted.answering && noted.bytes.len() < MOST {
            noted.bytes.extend_from_slice(read);
        }
    }

    fn answered(&self) {
        self.noted().answering = false;
    }
}

fn has_content_length(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n');
    let head = lines.take_while(|line| !matches!(line, [] | [b'\r']));
    let named = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name.trim_ascii().eq_ignore_ascii_case(b"content-length")
    };
    head.skip(1).any(named)
}

/// A connection that notes what is read.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    head: Head,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S) -> (Watched<S>, Head) {
        let head = Head::default();
        let watched = Watched {
            stream,
            head: head.clone(),
        };
        (watched, head)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if polled.is_ready() {
            self.head.note(&buffer.filled()[before..]);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.head.answered();
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.head.answered();
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_only_as_a_header() {
        for (head, found) in [
            ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n", true),
            ("POST / HTTP/1.1\r\nx: 1\r\ncontent-LENGTH:2\r\n\r\n", true),
            (
                "POST /content-length: HTTP/1.1\r\nx: content-length: 2\r\n\r\n",
                false,
            ),
            (
                "POST / HTTP/1.1\r\nx: 1\r\n\r\ncontent-length: 2\r\n",
                false,
            ),
        ] {
            assert_eq!(has_content_length(head.as_bytes()), found, "{head}");
        }
    }
}
