//! What a program writes, kept up to a limit and read to its end.

use std::future::pending;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use semel_flow::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much may stand before a line that is waited for.
const NOISE: usize = 64 << 10;
/// How much is read at once.
const BUFFER: usize = 8 << 10;

/// The beginning of what was written.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) bytes: Vec<u8>,
    /// More was written than is kept.
    pub(crate) cut: bool,
}

/// A stream that is read as it comes.
pub(super) struct Stream<R> {
    from: R,
    captured: Captured,
    limit: usize,
    buffer: Box<[u8]>,
}

impl<R: AsyncRead + Unpin> Stream<R> {
    pub(super) fn new(from: R, limit: usize) -> Stream<R> {
        Stream {
            from,
            captured: Captured::default(),
            limit,
            buffer: vec![0; BUFFER].into(),
        }
    }

    /// Reads to the end. What is over the limit is read too, so that the program is not held up.
    pub(super) async fn drain(&mut self) {
        while self.more().await {}
    }

    /// Reads to the end, and then waits for ever.
    pub(super) async fn drain_for_ever(&mut self) {
        self.drain().await;
        pending::<()>().await;
    }

    /// Reads until there was this line, and forgets all up to its end. `false` if it does not come.
    pub(super) async fn find(&mut self, line: &[u8]) -> bool {
        let limit = std::mem::replace(&mut self.limit, NOISE);
        let found = loop {
            let bytes = &mut self.captured.bytes;
            let at = bytes
                .windows(line.len() + 1)
                .position(|window| window.starts_with(line) && window.ends_with(b"\n"));
            if let Some(at) = at {
                bytes.drain(..=at + line.len());
                break true;
            }
            if self.captured.cut || !self.more().await {
                break false;
            }
        };
        self.limit = limit;
        self.captured.cut |= self.captured.bytes.len() > limit;
        self.captured.bytes.truncate(limit);
        found
    }

    /// Reads once; `false` at the end. Nothing is lost if it is not waited for.
    async fn more(&mut self) -> bool {
        let Ok(read @ 1..) = self.from.read(&mut self.buffer).await else {
            return false;
        };
        let Captured { bytes, cut } = &mut self.captured;
        let room = self.limit.saturating_sub(bytes.len());
        bytes.extend_from_slice(&self.buffer[..read.min(room)]);
        *cut |= read > room;
        true
    }

    pub(super) fn captured(self) -> Captured {
        self.captured
    }
}

impl Captured {
    /// What stands after so many bytes, up to a limit.
    pub(crate) fn after(&self, skip: usize, limit: usize) -> Captured {
        let rest = self.bytes.get(skip..).unwrap_or_default();
        Captured {
            bytes: rest[..rest.len().min(limit)].to_vec(),
            cut: self.cut || rest.len() > limit,
        }
    }

    /// As expressions see it: text, or base64 if it is none.
    pub(crate) fn value(&self) -> Value {
        let mut bytes = self.bytes.as_slice();
        if self.cut {
            // A letter that the limit cut in half makes the rest no less text.
            let whole = (0..4).find_map(|less| {
                let shorter = &bytes[..bytes.len().checked_sub(less)?];
                std::str::from_utf8(shorter).ok().map(|_| shorter)
            });
            bytes = whole.unwrap_or(bytes);
        }
        match std::str::from_utf8(bytes) {
            // U+0000 has no place in what is kept.
            Ok(text) if !text.contains('\0') => Value::text(text),
            _ => Value::Text(STANDARD.encode(bytes).into()),
        }
    }

    /// The last line that says something, for people.
    pub(crate) fn last_line(&self) -> String {
        const MOST_CHARS: usize = 200;
        let text = String::from_utf8_lossy(&self.bytes);
        let line = text.lines().rfind(|line| !line.trim().is_empty());
        let line = line.unwrap_or_default().trim().chars();
        line.take(MOST_CHARS)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    }
}
