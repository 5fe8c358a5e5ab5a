//! Flows under load: events accepted, resent, and worked through three steps, over HTTP.
//!
//! Each is measured beside a server written by hand for the same work: a bare handler with the same
//! signature check and the same group commit, which keeps no history and remembers nothing.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, ensure};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::SendRequest;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use semel_store::group::Group;
use sha2::Sha256;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Notify};

use super::load::{Bounds, Measured, run};

/// What signs the bench's events.
pub(super) const SECRET: &str = "whsec_bench";
/// Nine of ten events of a storm were sent before; they are spread over so many.
pub(super) const RESENT: u64 = 1000;

/// What is asked, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flowing {
    /// A new event each time.
    Accept,
    /// Nine of ten events came before.
    Resend,
    /// A new event each time, until its last step has reached the destination.
    ThreeSteps,
    /// The same, but counted under a key in place of the guarded request.
    Kv,
}

impl Flowing {
    pub(super) const ALL: [Flowing; 4] = [
        Flowing::Accept,
        Flowing::Resend,
        Flowing::ThreeSteps,
        Flowing::Kv,
    ];

    /// Whether events are worked through, and not only accepted.
    pub(super) fn has_steps(self) -> bool {
        matches!(self, Flowing::ThreeSteps | Flowing::Kv)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Flowing::Accept => "webhook accept",
            Flowing::Resend => "resends 90%",
            Flowing::ThreeSteps => "three-step flow",
            Flowing::Kv => "kv",
        }
    }
}

/// An event of about one kilobyte.
fn event(number: u64) -> String {
    let filler = "x".repeat(800);
    format!(
        r#"{{"created":1794787200,"data":{{"object":{{"amount":4200,"customer":"cus_{number:012}","note":"{filler}"}}}},"id":"evt_{number:016x}","n":{number},"type":"order.paid"}}"#
    )
}

fn signature(body: &[u8]) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).ok()?;
    mac.update(body);
    Some(semel_store::blob::hex(&mac.finalize().into_bytes()))
}

/// The flow that is measured; what only accepts has no step that acts.
pub(super) fn flow(sink: SocketAddr, flowing: Flowing) -> String {
    let front = "name: bench
on:
  webhook: {path: /hooks/bench, verify: generic-hmac, secret: '${{ secrets.BENCH }}', header: X-Signature}
key: bench/${{ event.id }}
steps:
  - id: note
    set: {total: '${{ event.data.object.amount * 2 }}'}
";
    if !flowing.has_steps() {
        return front.to_owned();
    }
    let charge = if flowing == Flowing::Kv {
        "kv: {add: 'bench/${{ event.n % 100 }}', by: '${{ steps.note.result.total }}'}".to_owned()
    } else {
        format!(
            "http: {{post: 'http://{sink}/charge', json: {{n: '${{{{ event.n }}}}', total: '${{{{ steps.note.result.total }}}}'}}}}
    result: body.id"
        )
    };
    format!(
        "{front}  - id: charge
    {charge}
  - id: invoice
    http:
      post: http://{sink}/invoice
      json: {{n: '${{{{ event.n }}}}', charge: '${{{{ steps.charge.result }}}}'}}
      idempotency: {{header: Idempotency-Key, window: 24h}}
"
    )
}

/// The bench's only secret.
pub(super) const BENCH_SECRET: (&str, &str) = ("BENCH", SECRET);

/// The destination: answers at once, and tells whoever waits that a number's last step has come.
#[derive(Debug, Default)]
pub(super) struct Sink {
    waiting: std::sync::Mutex<std::collections::HashMap<u64, Arc<Notify>>>,
    pub(super) calls: AtomicU64,
}

impl Sink {
    pub(super) async fn serve(self: &Arc<Sink>) -> anyhow::Result<SocketAddr> {
        async fn charge(State(sink): State<Arc<Sink>>) -> Answer {
            sink.calls.fetch_add(1, Ordering::Relaxed);
            ([("content-type", "application/json")], r#"{"id":"ch_1"}"#)
        }
        async fn invoice(State(sink): State<Arc<Sink>>, body: Bytes) -> Answer {
            sink.calls.fetch_add(1, Ordering::Relaxed);
            sink.came(&body);
            ([("content-type", "application/json")], r#"{"id":"in_1"}"#)
        }
        let router = Router::new()
            .route("/charge", post(charge))
            .route("/invoice", post(invoice))
            .with_state(Arc::clone(self));
        listen(router).await
    }

    fn came(&self, body: &[u8]) {
        #[derive(serde::Deserialize)]
        struct Told {
            n: u64,
        }
        let Ok(Told { n }) = serde_json::from_slice(body) else {
            return;
        };
        let waiting = self.waiting.lock().map(|mut waiting| waiting.remove(&n));
        if let Ok(Some(waiting)) = waiting {
            waiting.notify_one();
        }
    }

    fn expect(&self, number: u64) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting.insert(number, Arc::clone(&notify));
        }
        notify
    }
}

type Answer = ([(&'static str, &'static str); 1], &'static str);

async fn listen(router: Router) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// The server written by hand.
#[derive(Clone)]
pub(super) struct ByHand {
    pub(super) group: Group<(), ()>,
    /// Where the steps go; none if events are only accepted.
    pub(super) sink: Option<SocketAddr>,
    /// What is counted here is no request.
    counts: bool,
    client: Client<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>,
}

impl ByHand {
    pub(super) fn new(group: Group<(), ()>, sink: Option<SocketAddr>, flowing: Flowing) -> ByHand {
        let client = Client::builder(TokioExecutor::new()).build_http();
        ByHand {
            group,
            sink,
            counts: flowing == Flowing::Kv,
            client,
        }
    }

    pub(super) async fn serve(self) -> anyhow::Result<SocketAddr> {
        listen(
            Router::new()
                .route("/hooks/bench", post(accept))
                .with_state(self),
        )
        .await
    }

    /// Claim, charge, settle, invoice, record: each write durable before the next act.
    async fn steps(self, sink: SocketAddr, number: u64) -> anyhow::Result<()> {
        self.group.ask(()).await?;
        if !self.counts {
            self.call(sink, "charge", number).await?;
        }
        self.group.ask(()).await?;
        self.call(sink, "invoice", number).await?;
        Ok(self.group.ask(()).await?)
    }

    async fn call(&self, sink: SocketAddr, path: &str, number: u64) -> anyhow::Result<()> {
        let request = Request::post(format!("http://{sink}/{path}"))
            .header("content-type", "application/json")
            .header("idempotency-key", number)
            .body(Full::new(Bytes::from(format!(r#"{{"n":{number}}}"#))))?;
        let answer = self.client.request(request).await?;
        let body = answer.into_body().collect().await?.to_bytes();
        let _: serde_json::Value = serde_json::from_slice(&body)?;
        Ok(())
    }
}

async fn accept(
    State(server): State<ByHand>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    #[derive(serde::Deserialize)]
    struct Event {
        n: u64,
    }
    let given = headers
        .get("x-signature")
        .and_then(|given| given.to_str().ok());
    if given.is_none() || given != signature(&body).as_deref() {
        return (StatusCode::UNAUTHORIZED, "");
    }
    let Ok(Event { n }) = serde_json::from_slice(&body) else {
        return (StatusCode::BAD_REQUEST, "");
    };
    if server.group.ask(()).await.is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "");
    }
    if let Some(sink) = server.sink {
        tokio::spawn(server.steps(sink, n));
    }
    (StatusCode::ACCEPTED, r#"{"status":"accepted"}"#)
}

/// One sender's connection.
struct Sender {
    connection: SendRequest<Full<Bytes>>,
}

impl Sender {
    async fn connect(address: SocketAddr) -> anyhow::Result<Sender> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (connection, driver) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        Ok(Sender { connection })
    }

    async fn send(&mut self, number: u64) -> anyhow::Result<()> {
        let body = event(number);
        let signature = signature(body.as_bytes()).context("signing an event")?;
        let request = Request::post("/hooks/bench")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("x-signature", signature)
            .body(Full::new(Bytes::from(body)))?;
        self.connection.ready().await?;
        let answer = self.connection.send_request(request).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        ensure!(
            status.is_success(),
            "an event was answered {status}: {}",
            String::from_utf8_lossy(&body)
        );
        Ok(())
    }
}

/// Sends events with so many callers; numbers start at `first`.
pub(super) async fn measure(
    address: SocketAddr,
    sink: &Arc<Sink>,
    flowing: Flowing,
    callers: usize,
    bounds: Bounds,
    first: u64,
) -> anyhow::Result<Measured> {
    let mut connected = Vec::with_capacity(callers);
    for _ in 0..callers {
        connected.push(Arc::new(Mutex::new(Sender::connect(address).await?)));
    }
    run(callers, bounds, first, |caller| {
        let (sender, sink) = (Arc::clone(&connected[caller]), Arc::clone(sink));
        move |number| {
            let (sender, sink) = (Arc::clone(&sender), Arc::clone(&sink));
            async move {
                let mut sender = sender.lock().await;
                match flowing {
                    Flowing::Resend if !number.is_multiple_of(10) => {
                        sender.send(number % RESENT).await
                    }
                    Flowing::Accept | Flowing::Resend => sender.send(number).await,
                    Flowing::ThreeSteps | Flowing::Kv => {
                        let done = sink.expect(number);
                        sender.send(number).await?;
                        done.notified().await;
                        Ok(())
                    }
                }
            }
        }
    })
    .await
}

/// The folder in which a measured server keeps its flight recorder.
pub(super) fn data(directory: &Path, name: &str) -> anyhow::Result<std::path::PathBuf> {
    let data = directory.join(name);
    std::fs::create_dir_all(&data)?;
    Ok(data)
}
