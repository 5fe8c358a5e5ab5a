//! One output stream of a command: passed on as it comes, and kept for the record.

use std::time::Duration;

use semel_store::blob::{INLINE_BYTES, MAX_BLOB_BYTES};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;

/// A process that the command left behind may keep its output open. It is listened to for so long
/// after its last word.
const LINGER: Duration = Duration::from_secs(2);

/// What a stream said.
#[derive(Clone, Debug, Default)]
pub(super) struct Captured {
    /// All of it, or its beginning.
    pub(super) kept: Vec<u8>,
    /// How long it was.
    pub(super) total: u64,
}

impl Captured {
    fn take(&mut self, chunk: &[u8]) {
        let room = MAX_BLOB_BYTES - self.kept.len();
        self.kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
        self.total += chunk.len() as u64;
    }

    pub(super) fn is_cut(&self) -> bool {
        self.total > self.kept.len() as u64
    }

    /// The content, if it is short text; everything else goes to the blob store. JSON cannot
    /// carry U+0000 everywhere, so such text counts as bytes.
    pub(super) fn as_text(&self) -> Option<&str> {
        if self.kept.len() > INLINE_BYTES || self.kept.contains(&0) {
            return None;
        }
        std::str::from_utf8(&self.kept).ok()
    }
}

/// Passes a stream on and keeps it, until it ends.
pub(super) async fn tee(
    mut from: impl AsyncRead + Unpin,
    mut to: Option<impl AsyncWrite + Unpin>,
    mut ended: watch::Receiver<bool>,
) -> Captured {
    let mut captured = Captured::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            () = linger(&mut ended) => break,
        };
        let Ok(length @ 1..) = read else { break };
        let chunk = &buffer[..length];
        captured.take(chunk);
        // Whoever listened may be gone; the record goes on.
        if let Some(out) = &mut to
            && (out.write_all(chunk).await.is_err() || out.flush().await.is_err())
        {
            to = None;
        }
    }
    captured
}

async fn linger(ended: &mut watch::Receiver<bool>) {
    if ended.wait_for(|ended| *ended).await.is_ok() {
        tokio::time::sleep(LINGER).await;
    }
}
