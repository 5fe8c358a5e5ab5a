//! One caller of the guard API over one connection. A request is sent once and never again behind
//! the test's back, so that "no answer" is told apart from every answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// Longer than any answer takes on a loaded machine; a server that is stuck fails the test.
const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

pub(crate) struct Client {
    address: String,
    token: String,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    pub(crate) fn new(address: &str, token: &str) -> Client {
        Client {
            address: address.to_owned(),
            token: token.to_owned(),
            connection: None,
        }
    }

    /// Claims with a token of the caller's own, for longer than any test runs.
    pub(crate) fn claim(&mut self, key: &str, token: &str) -> Option<Answer> {
        let body = json!({"token": token, "lease": "1h"});
        self.ask("POST", &format!("/v1/guard/faults/{key}"), Some(&body))
    }

    pub(crate) fn settle(&mut self, key: &str, token: &str, outcome: &str) -> Option<Answer> {
        let mut body = json!({"token": token, "outcome": outcome});
        if outcome == "done" {
            body["result"] = result_of(token);
        }
        self.ask("PUT", &format!("/v1/guard/faults/{key}"), Some(&body))
    }

    /// `None` if the connection ended before the whole answer was there.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> Option<Answer> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        let mut connection = self.connect()?;
        connection.get_mut().write_all(request.as_bytes()).ok()?;
        let (answer, goes_on) = read(&mut connection)?;
        if goes_on {
            self.connection = Some(connection);
        }
        Some(answer)
    }

    fn connect(&mut self) -> Option<BufReader<TcpStream>> {
        if let Some(open) = self.connection.take() {
            return Some(open);
        }
        let stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).ok()?;
        Some(BufReader::new(stream))
    }
}

/// What a claim with this token settles as, so that every result tells whose it is.
pub(crate) fn result_of(token: &str) -> Value {
    json!({"made_by": token})
}

/// The answer, and whether the connection can be used again.
fn read(connection: &mut BufReader<TcpStream>) -> Option<(Answer, bool)> {
    let status = line(connection)?
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse().ok())?;
    let (mut length, mut goes_on) = (0, true);
    loop {
        let header = line(connection)?.to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        goes_on &= header != "connection: close";
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    Some((Answer { status, body }, goes_on))
}

fn line(connection: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    match connection.read_line(&mut line) {
        Ok(count) if count > 0 => Some(line.trim_end().to_owned()),
        Ok(_) => None,
        Err(error) => {
            let stuck = error.kind() == std::io::ErrorKind::WouldBlock;
            assert!(!stuck, "no answer for {PATIENCE:?}");
            None
        }
    }
}
