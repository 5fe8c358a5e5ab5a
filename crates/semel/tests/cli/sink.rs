//! A destination on this machine that writes down everything it is asked to do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::{DEADLINE, Home};

/// What the destination does with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Habit {
    /// Does it and says so.
    Obliging,
    /// Refuses it.
    Refusing,
    /// Does it, and hangs up without a word.
    Silent,
    /// Does it, and keeps the caller waiting for as long as it lives.
    Stuck,
    /// Says everything back that it was sent, in every spelling, with this status; and a secret
    /// that it was not sent.
    Echoing(&'static str),
}

/// What a destination says that it has from elsewhere.
pub(crate) const RUMOUR: &str = "rum0ur-c4nary";

/// What was asked, and a word whenever it is more.
#[derive(Default)]
struct Seen {
    calls: Mutex<Vec<String>>,
    more: Condvar,
}

impl Seen {
    fn add(&self, call: String) {
        self.calls.lock().unwrap().push(call);
        self.more.notify_all();
    }
}

/// The destination.
pub(crate) struct Sink {
    pub(crate) url: String,
    seen: Arc<Seen>,
    habits: Arc<Mutex<Habits>>,
}

/// What it does with every request, but for those to some paths.
struct Habits {
    all: Habit,
    paths: Vec<(String, Habit)>,
}

impl Habits {
    fn of(&self, path: &str) -> Habit {
        let own = self.paths.iter().rfind(|(of, _)| of == path);
        own.map_or(self.all, |(_, habit)| *habit)
    }
}

impl Sink {
    pub(crate) fn new() -> Sink {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::<Seen>::default();
        let habits = Arc::new(Mutex::new(Habits {
            all: Habit::Obliging,
            paths: Vec::new(),
        }));
        let (log, ways) = (Arc::clone(&seen), Arc::clone(&habits));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, ways) = (Arc::clone(&log), Arc::clone(&ways));
                std::thread::spawn(move || attend(&stream.unwrap(), &log, &ways));
            }
        });
        Sink { url, seen, habits }
    }

    pub(crate) fn becomes(&self, habit: Habit) {
        self.habits.lock().unwrap().all = habit;
    }

    /// From now on it does this with requests to that path.
    pub(crate) fn becomes_at(&self, path: &str, habit: Habit) {
        let path = path.to_owned();
        self.habits.lock().unwrap().paths.push((path, habit));
    }

    /// Every request that had an effect: `PATH BODY`.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.calls.lock().unwrap().clone()
    }

    /// Waits until so many requests had an effect.
    pub(crate) fn reached(&self, count: usize) {
        let calls = self.seen.calls.lock().unwrap();
        let fewer = |calls: &mut Vec<String>| calls.len() < count;
        let waited = self.seen.more.wait_timeout_while(calls, DEADLINE, fewer);
        let (calls, late) = waited.unwrap();
        assert!(!late.timed_out(), "waited too long for {count}: {calls:?}");
    }
}

fn attend(stream: &TcpStream, seen: &Seen, habits: &Mutex<Habits>) {
    let mut reader = BufReader::new(stream);
    while let Some((head, body)) = request(&mut reader) {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let habit = habits.lock().unwrap().of(path);
        if !matches!(habit, Habit::Refusing) {
            seen.add(format!("{path} {body}"));
        }
        let (status, headers, body) = match habit {
            Habit::Obliging => ("200 OK", String::new(), r#"{"id":"it-1"}"#.to_owned()),
            Habit::Refusing => (
                "422 Unprocessable",
                String::new(),
                r#"{"error":"no"}"#.to_owned(),
            ),
            Habit::Silent => return,
            Habit::Stuck => {
                let _ = reader.read(&mut [0]);
                return;
            }
            Habit::Echoing(status) => (status, echoed_header(&head), echo(&head, &body)),
        };
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut writer = stream;
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// All that was sent, in every spelling.
fn echo(head: &str, body: &str) -> String {
    let whole = format!("{head}{body}");
    let packed = |before: &str| STANDARD.encode(format!("{before}{whole}"));
    let escaped = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02x}"),
    };
    let url: String = whole.bytes().map(escaped).collect();
    let json = json!({"said": whole}).to_string();
    json!({
        "error": format!("{RUMOUR} {url}"),
        "id": "it-1",
        "echo": whole,
        "packed": [packed(""), packed("x"), packed("xy")],
        "url": url,
        "json": json,
        "json_in_json": json!({"said": json}).to_string(),
    })
    .to_string()
}

/// Who the sender said it is, back as a header.
fn echoed_header(head: &str) -> String {
    let authorization = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("authorization").then_some(value)
    });
    authorization.map_or_else(String::new, |value| format!("X-Echo: {value}\r\n"))
}

/// The head and the body of the next request.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, String)> {
    let mut head = String::new();
    reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        head.push_str(&header);
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8_lossy(&body).into_owned()))
}

/// A flow that tells the destination of each signup.
pub(crate) fn flow(sink: &Sink, step: &str) -> String {
    format!(
        "name: hello\non:\n  webhook: {{path: /hooks/signup, verify: none}}\nkey: signup/${{{{ event.id }}}}\n\
         steps:\n  - id: {step}\n    http: {{post: {}/{step}, json: {{to: '${{{{ event.email }}}}'}}}}\n",
        sink.url
    )
}

/// A home whose server may reach this machine.
pub(crate) fn home() -> Home {
    let home = Home::new();
    home.file("semel.toml", "[outgoing]\nallow = [\"127.0.0.0/8\"]\n");
    std::fs::create_dir(home.path("flows")).unwrap();
    home
}

pub(crate) fn event(id: &str) -> String {
    json!({"id": id, "email": format!("{id}@example.com")}).to_string()
}

/// Sends an event to the hook of [`flow`]; what the server answers, head and body.
pub(crate) fn signup(server: &str, event: &str) -> String {
    let address = server.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = event.len();
    let request = format!(
        "POST /hooks/signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{event}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
