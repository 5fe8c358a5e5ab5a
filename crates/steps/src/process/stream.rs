//! What a program writes, kept up to a limit and read to its end.

use std::future::pending;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use semel_flow::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::secrets::Redactor;

/// How much may stand before a line that is waited for.
const NOISE: usize = 64 << 10;
/// How much is read at once.
const BUFFER: usize = 8 << 10;

/// How much is kept over the limit, so that a secret that the limit would cut is recognised.
const MARGIN: usize = 64 << 10;

/// The beginning of what was written.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// A little more than may be shown.
    pub(crate) bytes: Vec<u8>,
    limit: usize,
}

/// A stream that is read as it comes.
pub(super) struct Stream<R> {
    from: R,
    captured: Captured,
    buffer: Box<[u8]>,
}

impl<R: AsyncRead + Unpin> Stream<R> {
    pub(super) fn new(from: R, limit: usize) -> Stream<R> {
        Stream {
            from,
            captured: Captured {
                bytes: Vec::new(),
                limit,
            },
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
        let limit = std::mem::replace(&mut self.captured.limit, NOISE);
        let found = loop {
            let bytes = &mut self.captured.bytes;
            let at = bytes
                .windows(line.len() + 1)
                .position(|window| window.starts_with(line) && window.ends_with(b"\n"));
            if let Some(at) = at {
                bytes.drain(..=at + line.len());
                break true;
            }
            if self.captured.is_cut() || !self.more().await {
                break false;
            }
        };
        self.captured.limit = limit;
        found
    }

    /// Reads once; `false` at the end. Nothing is lost if it is not waited for.
    async fn more(&mut self) -> bool {
        let Ok(read @ 1..) = self.from.read(&mut self.buffer).await else {
            return false;
        };
        let Captured { bytes, limit } = &mut self.captured;
        let room = (*limit + MARGIN).saturating_sub(bytes.len());
        bytes.extend_from_slice(&self.buffer[..read.min(room)]);
        true
    }

    pub(super) fn captured(self) -> Captured {
        self.captured
    }
}

impl Captured {
    /// More was written than may be shown.
    pub(crate) fn is_cut(&self) -> bool {
        self.bytes.len() > self.limit
    }

    /// What stands after so many bytes, up to a limit.
    pub(crate) fn after(&self, skip: usize, limit: usize) -> Captured {
        let bytes = self.bytes.get(skip..).unwrap_or_default().to_vec();
        Captured { bytes, limit }
    }

    /// As expressions see it: text, or base64 if it is none. Secrets are taken out before it is cut:
    /// half a secret is not recognised.
    pub(crate) fn value(&self, redactor: &Redactor) -> Value {
        let mut bytes = self.bytes.as_slice();
        if self.is_cut() {
            // A letter that was cut in half makes the rest no less text.
            let whole = (0..4).find_map(|less| {
                let shorter = &bytes[..bytes.len().checked_sub(less)?];
                std::str::from_utf8(shorter).ok().map(|_| shorter)
            });
            bytes = whole.unwrap_or(bytes);
        }
        match std::str::from_utf8(bytes) {
            // U+0000 has no place in what is kept.
            Ok(text) if !text.contains('\0') => {
                let clean = redactor.text(text);
                let end = clean.floor_char_boundary(self.limit);
                Value::text(&clean[..end])
            }
            _ => {
                let shown = &bytes[..bytes.len().min(self.limit)];
                redactor.value(Value::Text(STANDARD.encode(shown).into()))
            }
        }
    }

    /// The last line that says something, for people.
    pub(crate) fn last_line(&self, redactor: &Redactor) -> String {
        const MOST_CHARS: usize = 200;
        let text = String::from_utf8_lossy(&self.bytes);
        let text = redactor.text(&text);
        let line = text.lines().rfind(|line| !line.trim().is_empty());
        let line = line.unwrap_or_default().trim().chars();
        line.take(MOST_CHARS)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    }
}
