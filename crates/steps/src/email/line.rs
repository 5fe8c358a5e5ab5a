//! The line to a mail server: commands go out, replies come back, each within the time that is left.
//!
//! Owns the grammar of replies and its limits. Leaves to its caller what is said and what an answer
//! means.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout_at};

use crate::outgoing::Stream;
use crate::secrets::Redactor;

/// The most bytes of one line of a reply, and the most lines.
const MOST_LINE: usize = 4096;
const MOST_LINES: usize = 128;
/// How much of a reply is told to people.
const MOST_TOLD: usize = 500;

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) lines: Vec<String>,
}

impl Reply {
    pub(super) fn is_good(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// Come back later.
    pub(super) fn is_transient(&self) -> bool {
        (400..500).contains(&self.code)
    }

    /// On one line, as people read it. Secrets are taken out before it is cut: half of one would
    /// not be recognised.
    pub(super) fn told(&self, redactor: &Redactor) -> String {
        let text = self.lines.join(" ");
        let text = redactor.text(&text);
        let mut told: String = text.chars().take(MOST_TOLD).collect();
        if told.len() < text.len() {
            told.push('…');
        }
        format!("{} {}", self.code, told.trim())
    }
}

/// A connection to a server.
pub(super) struct Line {
    pub(super) stream: Stream,
    /// What was read and not yet used.
    rest: Vec<u8>,
    /// When all must be over.
    pub(super) by: Instant,
}

impl Line {
    pub(super) fn new(stream: Stream, by: Instant) -> Line {
        Line {
            stream,
            rest: Vec::new(),
            by,
        }
    }

    /// Whether the server said more than it was asked.
    pub(super) fn has_rest(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Says a command and waits for its reply. A server that hung up may have said why before.
    pub(super) async fn ask(&mut self, command: &str) -> io::Result<Reply> {
        if command.contains(['\r', '\n']) {
            return Err(io::Error::other("a command has a line break in it"));
        }
        let sent = self.send(format!("{command}\r\n").as_bytes()).await;
        match self.reply().await {
            Ok(reply) => Ok(reply),
            Err(error) => Err(sent.err().unwrap_or(error)),
        }
    }

    /// Hands all bytes to the kernel.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sending = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        timed(self.by, sending).await
    }

    /// The next reply: lines of one code, the last without a dash.
    pub(super) async fn reply(&mut self) -> io::Result<Reply> {
        let mut code = None;
        let mut lines = Vec::new();
        while lines.len() < MOST_LINES {
            let line = self.line().await?;
            let (number, more, text) = parsed(&line).ok_or_else(no_reply)?;
            if code.is_some_and(|code| code != number) {
                return Err(no_reply());
            }
            code = Some(number);
            lines.push(text);
            if !more {
                return Ok(Reply {
                    code: number,
                    lines,
                });
            }
        }
        Err(no_reply())
    }

    /// The next line without its end.
    async fn line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.rest.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.rest.drain(..=at).collect();
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(line);
            }
            if self.rest.len() > MOST_LINE {
                return Err(no_reply());
            }
            let mut chunk = [0; 1024];
            match timed(self.by, self.stream.read(&mut chunk)).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => self.rest.extend_from_slice(&chunk[..read]),
            }
        }
    }
}

fn no_reply() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "what came is not a reply of a mail server",
    )
}

/// Code, whether more follows, and text; the text has nothing that a terminal would obey.
fn parsed(line: &[u8]) -> Option<(u16, bool, String)> {
    let (digits, rest) = line.split_at_checked(3)?;
    let number: u16 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let (more, text) = match rest.split_first() {
        None => (false, rest),
        Some((b' ', text)) => (false, text),
        Some((b'-', text)) => (true, text),
        Some(_) => return None,
    };
    let text = String::from_utf8_lossy(text);
    let text = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let all_digits = digits.iter().all(u8::is_ascii_digit);
    (all_digits && (200..600).contains(&number)).then(|| (number, more, text.collect()))
}

async fn timed<T>(by: Instant, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let done = timeout_at(by, work).await;
    done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_replies_are_read() {
        for (line, read) in [
            ("250 OK", Some((250, false, "OK"))),
            ("250-SIZE 10", Some((250, true, "SIZE 10"))),
            ("354", Some((354, false, ""))),
            (
                "550 5.1.1 \u{1b}[31mno",
                Some((550, false, "5.1.1  [31mno")),
            ),
            ("25", None),
            ("+50 OK", None),
            ("150 OK", None),
            ("600 OK", None),
            ("250_OK", None),
            ("HTTP/1.1 400 Bad Request", None),
            ("", None),
        ] {
            let expected = read.map(|(code, more, text)| (code, more, text.to_owned()));
            assert_eq!(parsed(line.as_bytes()), expected, "{line}");
        }
    }
}
