//! An answer that goes on: server-sent events, one after the other.

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::StatusCode;

use super::answer::{Answer, Unreachable};

/// The longest event that is read; a run with a long history fits.
const MAX_EVENT: usize = 16 * 1024 * 1024;

/// The bytes of an answer as they come.
pub(super) type Coming = UnsyncBoxBody<Bytes, anyhow::Error>;

/// Events as they come.
#[derive(Debug)]
pub(crate) struct Events {
    body: Coming,
    lines: Lines,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// What kind; `message` if the server does not say.
    pub(crate) name: String,
    /// Where it stands among those of its kind, as the server counts.
    pub(crate) id: String,
    pub(crate) data: String,
}

impl Events {
    /// Begins to read. An answer that is no success is read to its end and told.
    pub(super) async fn begin(status: StatusCode, body: Coming) -> anyhow::Result<Events> {
        if !status.is_success() {
            let body = body.collect().await?.to_bytes();
            return Err(Answer { status, body }.problem().into());
        }
        Ok(Events {
            body,
            lines: Lines::default(),
        })
    }

    /// The next event; none when the server has ended the answer.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Option<Event>> {
        loop {
            if let Some(event) = self.lines.take()? {
                return Ok(Some(event));
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            let frame = frame.context(Unreachable("the server's answer broke off".to_owned()))?;
            if let Ok(data) = frame.into_data() {
                self.lines.held.extend_from_slice(&data);
            }
        }
    }
}

/// What has come and is not an event yet.
#[derive(Debug, Default)]
struct Lines {
    held: Vec<u8>,
    /// How much of it was looked at.
    seen: usize,
    event: Event,
}

impl Lines {
    /// The next event that is there as a whole.
    fn take(&mut self) -> anyhow::Result<Option<Event>> {
        let mut begin = 0;
        let mut found = None;
        while let Some(length) = self.held[begin.max(self.seen)..]
            .iter()
            .position(|byte| *byte == b'\n')
        {
            let end = begin.max(self.seen) + length;
            let line = String::from_utf8_lossy(&self.held[begin..end]).into_owned();
            begin = end + 1;
            self.seen = begin;
            if self.line(line.trim_end_matches('\r')) {
                found = Some(std::mem::take(&mut self.event));
                break;
            }
        }
        self.held.drain(..begin);
        self.seen = if found.is_some() { 0 } else { self.held.len() };
        if self.held.len() + self.event.data.len() > MAX_EVENT {
            anyhow::bail!("the server sent an event of more than {MAX_EVENT} bytes");
        }
        Ok(found)
    }

    /// Takes in one line; true if it ends an event that says something.
    fn line(&mut self, line: &str) -> bool {
        if line.is_empty() {
            let says = !self.event.data.is_empty();
            if !says {
                self.event = Event::default();
            } else if self.event.name.is_empty() {
                "message".clone_into(&mut self.event.name);
            }
            return says;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "id" => value.clone_into(&mut self.event.id),
            "data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // A comment keeps the connection alive; the rest is for browsers.
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a text that comes in pieces of that size.
    fn events(text: &str, size: usize) -> Vec<(String, String)> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            lines.held.extend_from_slice(piece);
            while let Some(event) = lines.take().unwrap() {
                found.push((event.name, event.data));
            }
        }
        found
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = ": hello\n\nevent: run\ndata: {\"a\":1}\n\ndata: x\r\ndata:  y\r\n\r\nid: 7\n\n\
                    event: end\ndata: é\n\nevent: half\ndata: not";
        for size in [1, 2, 3, 7, 1000] {
            let found = events(text, size);
            let found: Vec<_> = found
                .iter()
                .map(|(n, d)| (n.as_str(), d.as_str()))
                .collect();
            let wanted = [("run", "{\"a\":1}"), ("message", "x\n y"), ("end", "é")];
            assert_eq!(found, wanted, "in pieces of {size}");
        }
    }

    #[test]
    fn an_event_without_an_end_is_refused() {
        let mut lines = Lines {
            held: vec![b'x'; MAX_EVENT + 1],
            ..Lines::default()
        };
        assert!(lines.take().is_err());
    }
}
