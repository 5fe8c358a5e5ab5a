//! Very many runs that wait at the same time, each for a callback of its own.
//!
//! A run hands its address to the destination and rests; when all of them rest, all are called back. What rests is a
//! row in the store: the memory of this process must not grow with it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::put;
use semel_store::Store;
use semel_store::run::{RunFilter, RunState};
use serde::Serialize;
use tokio::net::TcpListener;

use super::Bench;
use super::flows::{self, Flowing, Sink};
use super::http;
use super::load::{self, Bounds};
use super::server::Server;

/// How many callers send events, and then callbacks.
const CALLERS: usize = 64;

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Waits {
    pub(super) runs: u64,
    /// From the event to a run that rests.
    pub(super) armed_per_second: f64,
    /// From the callback to the end of the run.
    pub(super) answered_per_second: f64,
    /// Before the first of them began, and when all of them rested.
    pub(super) memory_mb: [f64; 2],
}

/// Keeps the addresses that it is told.
#[derive(Default)]
struct Addresses(Mutex<Vec<String>>);

impl Addresses {
    async fn serve(self: &Arc<Addresses>) -> anyhow::Result<SocketAddr> {
        async fn told(
            State(addresses): State<Arc<Addresses>>,
            body: Bytes,
        ) -> ([(&'static str, &'static str); 1], &'static str) {
            let address = String::from_utf8_lossy(&body).into_owned();
            addresses.lock().push(address);
            ([("content-type", "application/json")], "{}")
        }
        let router = Router::new()
            .route("/told", put(told))
            .with_state(Arc::clone(self));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(address)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The paths that were told, each once: so many.
    fn paths(&self, waits: u64) -> anyhow::Result<Vec<String>> {
        let mut paths: Vec<String> = self.lock().iter().filter_map(|it| path(it)).collect();
        paths.sort_unstable();
        paths.dedup();
        let told = paths.len() as u64;
        anyhow::ensure!(told == waits, "{told} of {waits} runs told their address");
        Ok(paths)
    }
}

/// What stands behind the host of an address.
fn path(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    rest.find('/').map(|at| rest[at..].to_owned())
}

fn flow(sink: SocketAddr) -> String {
    format!(
        "{}  - id: tell
    http: {{put: 'http://{sink}/told', body: '${{{{ callbacks.answer }}}}'}}
  - id: answer
    wait: {{callback: {{timeout: 1d}}}}
",
        flows::flow(sink, Flowing::Accept)
    )
}

impl Bench {
    pub(super) async fn waits(&mut self) -> anyhow::Result<Option<Waits>> {
        let waits = self.plan.waits;
        if waits == 0 || self.plan.through == super::Through::Store {
            return Ok(None);
        }
        self.say(&format!("{waits} callbacks"));
        let addresses = Arc::<Addresses>::default();
        let serving = Arc::clone(&addresses);
        let to = self.apart.run(async move { serving.serve().await }).await?;
        let store = self.open_empty().await?;
        let data = flows::data(self.directory(), &format!("flight-{}", self.opened))?;
        let server = Server::of_flow(Arc::clone(&store), data, &flow(to), 1024).await?;
        let all = Bounds {
            operations: waits,
            ..super::DONE_KEYS
        };
        let before = load::memory_mb();
        let (address, sink) = (server.target.address, Arc::<Sink>::default());
        let began = Instant::now();
        let sending =
            async move { flows::measure(address, &sink, Flowing::Accept, CALLERS, all, 0).await };
        self.apart.run(sending).await?;
        none_left(&store, &[RunState::Queued, RunState::Running]).await?;
        let armed = began.elapsed();
        let memory_mb = [before, load::memory_mb()];
        let paths = addresses.paths(waits)?;
        let began = Instant::now();
        let target = server.target.clone();
        let answering = async move {
            http::post_all(&target, CALLERS, Arc::new(paths), r#"{"ok":true}"#).await
        };
        self.apart.run(answering).await?;
        let open = [RunState::Queued, RunState::Running, RunState::Waiting];
        none_left(&store, &open).await?;
        let answered = began.elapsed();
        ended(&store, waits).await?;
        server.stop().await?;
        let per_second = |time: Duration| load::to_f64(waits) / time.as_secs_f64();
        Ok(Some(Waits {
            runs: waits,
            armed_per_second: per_second(armed),
            answered_per_second: per_second(answered),
            memory_mb,
        }))
    }
}

/// Waits until no run is in one of these states.
async fn none_left(store: &Store, states: &[RunState]) -> anyhow::Result<()> {
    let filter = RunFilter {
        states: states.to_vec(),
        limit: 1,
        ..RunFilter::default()
    };
    while !store.runs(&filter).await?.items.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// All of them must have been answered; one that was not is none that was measured.
async fn ended(store: &Store, waits: u64) -> anyhow::Result<()> {
    let amiss = RunFilter {
        states: vec![RunState::Failed, RunState::Parked, RunState::Unknown],
        limit: 1,
        ..RunFilter::default()
    };
    if let Some(run) = store.runs(&amiss).await?.items.first() {
        anyhow::bail!("one of {waits} runs did not end: {}", run.why);
    }
    Ok(())
}
