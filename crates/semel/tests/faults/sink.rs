//! A destination that obeys, counts, and keeps which calls it had open at any moment.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long it thinks about each call, so that there are always some open.
const THINKS: Duration = Duration::from_millis(5);
/// An answer that was given so shortly before a kill may never have been read.
const UNREAD: Duration = Duration::from_millis(25);

/// One call as the destination saw it.
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) number: u64,
    pub(crate) key: Option<String>,
    came: Instant,
    answered: Option<Instant>,
}

#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) address: String,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Sink {
    pub(crate) fn start() -> Sink {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sink = Sink {
            address: listener.local_addr().unwrap().to_string(),
            calls: Arc::default(),
        };
        let serving = sink.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sink = serving.clone();
                std::thread::spawn(move || while sink.serve(&stream).is_some() {});
            }
        });
        sink
    }

    /// One call; `None` when the connection is over.
    fn serve(&self, mut stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::with_capacity(1, stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let path = line.split(' ').nth(1)?.to_owned();
        let headers = headers(&mut reader)?;
        let length = headers.get("content-length")?.parse().ok()?;
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body: Value = serde_json::from_slice(&body).ok()?;
        let at = self.took(Call {
            path,
            number: body["n"].as_u64()?,
            key: headers.get("idempotency-key").cloned(),
            came: Instant::now(),
            answered: None,
        });
        std::thread::sleep(THINKS);
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"id\":\"x1\"}";
        stream.write_all(answer).ok()?;
        self.calls.lock().unwrap()[at].answered = Some(Instant::now());
        Some(())
    }

    fn took(&self, call: Call) -> usize {
        let mut calls = self.calls.lock().unwrap();
        calls.push(call);
        calls.len() - 1
    }

    /// How many calls to `path` were open at that moment, as far as the caller could know.
    pub(crate) fn open_at(&self, path: &str, moment: Instant) -> usize {
        let calls = self.calls.lock().unwrap();
        let open = |call: &&Call| {
            let unread = call.answered.is_none_or(|at| at + UNREAD > moment);
            call.path == path && call.came <= moment && unread
        };
        calls.iter().filter(open).count()
    }

    /// The calls to `path`, by number.
    pub(crate) fn calls(&self, path: &str) -> HashMap<u64, Vec<Option<String>>> {
        let mut by_number: HashMap<u64, Vec<Option<String>>> = HashMap::new();
        for call in self.calls.lock().unwrap().iter().filter(|c| c.path == path) {
            by_number
                .entry(call.number)
                .or_default()
                .push(call.key.clone());
        }
        by_number
    }
}

fn headers(reader: &mut impl std::io::BufRead) -> Option<HashMap<String, String>> {
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim();
        if line.is_empty() {
            return Some(headers);
        }
        let (name, value) = line.split_once(':')?;
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}
