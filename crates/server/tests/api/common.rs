//! A server under test: in the same process, or behind a real socket.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use semel_ledger::{Millis, Time};
use semel_server::{App, KeySource, Settings, Vault, router, serve, tokens};
use semel_store::{Location, ManualClock, Options, Store};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tower::ServiceExt;

use crate::outside::{Environment, Sink};

/// 2026-01-01T00:00:00Z
pub(crate) const START: Time = Time(1_767_225_600_000);

/// A ledger in memory with a clock that moves only when told.
pub(crate) struct World {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Arc<Store>,
    pub(crate) app: Arc<App>,
    pub(crate) router: Router,
    pub(crate) token: String,
    /// Where steps act.
    pub(crate) sink: Arc<Sink>,
    pub(crate) environment: Arc<Environment>,
}

/// An answer, read whole.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) async fn read(response: Response<Body>) -> Answer {
        let (parts, body) = response.into_parts();
        let (status, headers) = (parts.status, parts.headers);
        // A stream goes on for as long as somebody reads it.
        let kind = headers.get("content-type");
        let goes_on = kind.is_some_and(|kind| kind == "text/event-stream");
        let bytes = if goes_on {
            Vec::new()
        } else {
            body.collect().await.unwrap().to_bytes().to_vec()
        };
        Answer {
            status,
            headers,
            bytes,
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|e| panic!("{e}: {:?}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The status and, of a problem, its code.
    pub(crate) fn gist(&self) -> String {
        let code = serde_json::from_slice::<Value>(&self.bytes)
            .ok()
            .and_then(|json| json["code"].as_str().map(str::to_owned));
        match code {
            Some(code) => format!("{} {code}", self.status.as_u16()),
            None => self.status.as_u16().to_string(),
        }
    }
}

impl World {
    pub(crate) async fn new() -> World {
        World::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> World {
        World::on(&Location::Memory, settings).await
    }

    /// On a store of one's choice.
    pub(crate) async fn on(location: &Location, settings: Settings) -> World {
        let clock = Arc::new(ManualClock::at(START));
        let options = Options {
            clock: Some(Arc::clone(&clock) as _),
            ..Options::default()
        };
        let store = Store::open(location, options).await.unwrap();
        let store = Arc::new(store);
        let (token, _) = tokens::issue(&store, "tests").await.unwrap();
        let (sink, environment) = (Arc::default(), Arc::<Environment>::default());
        let keys = match &settings.data {
            Some(data) => KeySource::own(data),
            None => KeySource::given(&"5e".repeat(32), "the test").unwrap(),
        };
        let vault = Arc::new(Vault::new(environment.clone(), keys));
        let perform: Arc<Sink> = Arc::clone(&sink);
        let app = App::new(Arc::clone(&store), settings, perform, vault);
        let app = app.await.unwrap();
        let router = router(Arc::clone(&app));
        World {
            clock,
            store,
            app,
            router,
            token,
            sink,
            environment,
        }
    }

    pub(crate) fn pass(&self, span: &str) {
        self.clock.advance(span.parse::<Millis>().unwrap());
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        Answer::read(response).await
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(path)
            .header("authorization", format!("Bearer {}", self.token))
    }

    /// Sends JSON, or nothing if the text is empty.
    pub(crate) async fn call(&self, method: &str, path: &str, json: impl ToString) -> Answer {
        let json = json.to_string();
        let mut request = self.request(method, path);
        if !json.is_empty() {
            request = request.header("content-type", "application/json");
        }
        self.send(request.body(Body::from(json)).unwrap()).await
    }

    /// Claims and gives the token of the grant.
    pub(crate) async fn granted(&self, path: &str, json: impl ToString) -> String {
        let answer = self.call("POST", path, json).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
        answer.json()["token"].as_str().unwrap().to_owned()
    }
}

/// A server behind a socket.
pub(crate) struct Socket {
    pub(crate) world: World,
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<Result<(), semel_server::ServeError>>,
}

impl Socket {
    pub(crate) async fn with(settings: Settings) -> Socket {
        let world = World::with(settings).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve(Arc::clone(&world.app), listener, async {
            let _ = stopped.await;
        }));
        Socket {
            world,
            address,
            stop,
            serving,
        }
    }

    /// Sends raw bytes and reads until the other end closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) async fn stop(self) -> Result<(), semel_server::ServeError> {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap()
    }
}
