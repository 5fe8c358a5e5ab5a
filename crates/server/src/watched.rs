//! A connection whose request heads can be looked at as they came.
//!
//! hyper drops `Content-Length` beside `Transfer-Encoding` before anybody sees it. Two readers
//! that choose differently between them can be played against each other, so such a request is
//! refused; for that its head is kept until it is asked for. Bodies are counted and not kept, so
//! that a head is found although it was sent together with the request before it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::http::Request;
use axum::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// More than hyper reads ahead: a head of up to twice the limit, and as much behind it.
const MOST: usize = 4 * crate::connection::MAX_HEAD_BYTES;

#[derive(Debug, Default)]
struct Noted {
    /// What was read behind the last body.
    bytes: Vec<u8>,
    /// How much of the last body is still to be read.
    body_left: u64,
}

/// How a request that was just read may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Where it ends is known.
    Plain,
    /// Where it ends is not known here, so nothing behind it may be read.
    Last,
    /// It says its length in two ways.
    Ambiguous,
}

/// The heads that were read and not asked for yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head(Arc<Mutex<Noted>>);

impl Head {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How this request, just read, may be taken.
    pub(crate) fn framing<B>(&self, request: &Request<B>) -> Framing {
        let mut noted = self.noted();
        let chunked = request.headers().contains_key(TRANSFER_ENCODING);
        let Some(head) = Lines::of(&noted.bytes) else {
            // A head that was not seen whole cannot be vouched for.
            return if chunked {
                Framing::Ambiguous
            } else {
                Framing::Last
            };
        };
        if chunked {
            let ambiguous = head.has_content_length();
            return if ambiguous {
                Framing::Ambiguous
            } else {
                Framing::Last
            };
        }
        let length = request.headers().get(CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        let end = head.end;
        noted.bytes.drain(..end);
        noted.body_left = length.unwrap_or(0);
        let rest = std::mem::take(&mut noted.bytes);
        noted.note(&rest);
        Framing::Plain
    }
}

impl Noted {
    fn note(&mut self, read: &[u8]) {
        let body = usize::try_from(self.body_left).unwrap_or(usize::MAX);
        let body = body.min(read.len());
        self.body_left -= body as u64;
        let room = MOST - self.bytes.len().min(MOST);
        let behind = &read[body..];
        self.bytes
            .extend_from_slice(&behind[..behind.len().min(room)]);
    }
}

/// A head, whole.
struct Lines<'a> {
    text: &'a [u8],
    /// Where the body begins.
    end: usize,
}

impl Lines<'_> {
    /// The head at the front; empty lines before it do not count, as hyper passes over them.
    fn of(bytes: &[u8]) -> Option<Lines<'_>> {
        let start = bytes.iter().position(|byte| !b"\r\n".contains(byte))?;
        let mut end = start;
        for line in bytes[start..].split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            if matches!(line, b"\n" | b"\r\n") {
                let text = &bytes[start..end];
                return Some(Lines { text, end });
            }
        }
        None
    }

    fn has_content_length(&self) -> bool {
        let named = |line: &[u8]| {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            name.trim_ascii().eq_ignore_ascii_case(b"content-length")
        };
        self.text.split(|byte| *byte == b'\n').skip(1).any(named)
    }
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
            self.head.noted().note(&buffer.filled()[before..]);
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
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
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

    fn framings(stream: &str, lengths: &[Option<u64>]) -> Vec<Framing> {
        let head = Head::default();
        head.noted().note(stream.as_bytes());
        let framing = |length: &Option<u64>| {
            let request = match length {
                Some(length) => Request::builder().header(CONTENT_LENGTH, *length),
                None => Request::builder().header(TRANSFER_ENCODING, "chunked"),
            };
            head.framing(&request.body(()).unwrap())
        };
        lengths.iter().map(framing).collect()
    }

    #[test]
    fn a_length_counts_only_as_a_header() {
        for (head, expected) in [
            (
                "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n",
                Framing::Ambiguous,
            ),
            (
                "POST / HTTP/1.1\r\nx: 1\r\ncontent-LENGTH:2\r\n\r\n",
                Framing::Ambiguous,
            ),
            (
                "\r\n\nPOST / HTTP/1.1\ncontent-length:2\n\n",
                Framing::Ambiguous,
            ),
            ("POST / HTTP/1.1\r\nx: not whole", Framing::Ambiguous),
            (
                "POST /content-length: HTTP/1.1\r\nx: content-length: 2\r\n\r\n",
                Framing::Last,
            ),
            (
                "POST / HTTP/1.1\r\nx: 1\r\n\r\ncontent-length: 2\r\n",
                Framing::Last,
            ),
        ] {
            assert_eq!(framings(head, &[None]), [expected], "{head}");
        }
    }

    #[test]
    fn a_head_is_found_behind_the_bodies_before_it() {
        let stream = "GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 4\r\n\r\n\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n";
        let found = framings(stream, &[Some(0), Some(4), None]);
        assert_eq!(found, [Framing::Plain, Framing::Plain, Framing::Ambiguous]);
    }
}
