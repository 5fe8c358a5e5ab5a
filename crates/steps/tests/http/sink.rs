//! A destination on bare TCP that does what it is told, counts, and keeps what it saw.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// What it does with a connection.
#[derive(Clone)]
pub(crate) enum Manner {
    /// Answers every request with these bytes.
    Answer(String),
    /// Answers one request and hangs up without having said so.
    AnswerThenClose(String),
    /// Answers one request and resets the connection.
    AnswerThenReset(String),
    /// Answers when it is told to.
    AnswerWhen(Arc<Notify>, String),
    /// Answers byte by byte.
    Drip(String),
    /// Resets the connection as soon as bytes are there, without reading one.
    ResetUnread,
    /// Reads the request, then hangs up.
    CloseAfterRead,
    /// Reads the request, then resets the connection.
    ResetAfterRead,
    /// Reads the request, then says nothing for ever.
    Silent,
    /// The first request of all is answered in one way, the others in another.
    First(Box<Manner>, Box<Manner>),
    /// Answers one request on each connection; reads the next one and hangs up.
    OneEach(String),
    /// By the beginning of the path.
    ByPath(Vec<(&'static str, String)>),
}

/// One request that it read to the end.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) connection: usize,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or("")
    }

    pub(crate) fn path(&self) -> &str {
        self.line().split(' ').nth(1).unwrap_or("")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1);
        lines.find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

#[derive(Default)]
struct Log {
    seen: Mutex<Vec<Seen>>,
    connections: watch::Sender<usize>,
    closed: watch::Sender<usize>,
}

/// The destination.
pub(crate) struct Sink {
    pub(crate) address: SocketAddr,
    log: Arc<Log>,
}

/// An answer of that status with a JSON body.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(crate) fn ok() -> String {
    answer("200 OK", "", r#"{"id":7}"#)
}

impl Sink {
    pub(crate) async fn new(manner: Manner) -> Sink {
        Sink::at("127.0.0.1:0", manner).await
    }

    pub(crate) async fn at(address: &str, manner: Manner) -> Sink {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let log = Arc::new(Log::default());
        tokio::spawn(accept(listener, manner, Arc::clone(&log)));
        Sink { address, log }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.log.seen.lock().expect("the log").clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.log.connections.borrow()
    }

    /// Waits until so many connections were closed by it.
    pub(crate) async fn closed(&self, count: usize) {
        let mut closed = self.log.closed.subscribe();
        let reached = closed.wait_for(|closed| *closed >= count);
        tokio::time::timeout(Duration::from_secs(10), reached)
            .await
            .expect("closed in time")
            .expect("a living sink");
    }

    /// Waits until it has read so many requests.
    pub(crate) async fn wait_for_requests(&self, count: usize) {
        while self.seen().len() < count {
            tokio::task::yield_now().await;
        }
    }
}

async fn accept(listener: TcpListener, manner: Manner, log: Arc<Log>) {
    while let Ok((stream, _)) = listener.accept().await {
        let connection = *log.connections.borrow();
        log.connections.send_modify(|count| *count += 1);
        let (manner, log) = (manner.clone(), Arc::clone(&log));
        tokio::spawn(async move {
            serve(stream, &manner, connection, &log).await;
            log.closed.send_modify(|count| *count += 1);
        });
    }
}

fn reset(stream: TcpStream) {
    let socket = stream.into_std().expect("a socket");
    rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).expect("linger");
}

async fn serve(mut stream: TcpStream, manner: &Manner, connection: usize, log: &Log) {
    if matches!(manner, Manner::ResetUnread) {
        stream.readable().await.expect("readable");
        return reset(stream);
    }
    let mut served = 0;
    while let Some(seen) = read(&mut stream, connection).await {
        served += 1;
        let path = seen.path().to_owned();
        let first = {
            let mut all = log.seen.lock().expect("the log");
            all.push(seen);
            all.len() == 1
        };
        let manner = match manner {
            Manner::First(one, _) if first => one,
            Manner::First(_, other) => other,
            other => other,
        };
        match manner {
            Manner::Answer(text) => write(&mut stream, text).await,
            Manner::AnswerThenClose(text) => return write(&mut stream, text).await,
            Manner::AnswerThenReset(text) => {
                write(&mut stream, text).await;
                return reset(stream);
            }
            Manner::AnswerWhen(notify, text) => {
                notify.notified().await;
                write(&mut stream, text).await;
            }
            Manner::Drip(text) => {
                stream.set_nodelay(true).expect("no delay");
                for byte in text.bytes() {
                    let _ = stream.write_all(&[byte]).await;
                    tokio::task::yield_now().await;
                }
            }
            Manner::OneEach(text) if served == 1 => write(&mut stream, text).await,
            Manner::CloseAfterRead | Manner::OneEach(_) => return,
            Manner::ResetAfterRead | Manner::ResetUnread => return reset(stream),
            Manner::Silent => std::future::pending().await,
            Manner::ByPath(answers) => {
                let found = answers.iter().find(|(start, _)| path.starts_with(start));
                write(&mut stream, &found.expect("a known path").1).await;
            }
            Manner::First(..) => unreachable!("not nested"),
        }
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), text: &str) {
    // Whoever asked may be gone; that is its own business.
    let _ = stream.write_all(text.as_bytes()).await;
}

/// Reads one request to its end.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin), connection: usize) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut seen = Seen {
        connection,
        head,
        body: String::new(),
    };
    let length = seen
        .header("content-length")
        .map_or(0, |text| text.parse().expect("a length"));
    let mut body = bytes.split_off(end);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    seen.body = String::from_utf8_lossy(&body).into_owned();
    Some(seen)
}
