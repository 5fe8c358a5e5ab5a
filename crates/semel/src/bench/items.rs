//! One run over very many items, each with a step that the destination dedupes.
//!
//! The destination hands out the list and counts what comes; the bench looks at its own memory when a
//! tenth has come and when all has: it must not grow with the items.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::Bench;
use super::flows::{self, Flowing, Sink};
use super::load::{self, Bounds};
use super::server::Server;

/// How many items are worked on at a time.
const PARALLEL: usize = 256;

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Items {
    #[serde(rename = "items")]
    pub(super) count: u64,
    pub(super) seconds: f64,
    pub(super) per_second: f64,
    /// When a tenth of the items had come, and when all had.
    pub(super) memory_mb: [f64; 2],
}

/// Hands out the list, and counts.
struct Counter {
    items: u64,
    seen: AtomicU64,
    reached: watch::Sender<u64>,
}

impl Counter {
    async fn serve(self: &Arc<Counter>) -> anyhow::Result<SocketAddr> {
        async fn list(
            State(counter): State<Arc<Counter>>,
        ) -> ([(&'static str, &'static str); 1], String) {
            let numbers: Vec<String> = (0..counter.items).map(|n| n.to_string()).collect();
            let body = format!("[{}]", numbers.join(","));
            ([("content-type", "application/json")], body)
        }
        async fn one(
            State(counter): State<Arc<Counter>>,
        ) -> ([(&'static str, &'static str); 1], &'static str) {
            let seen = counter.seen.fetch_add(1, Ordering::Relaxed) + 1;
            // Whoever waits needs to hear of a tenth and of all.
            if seen == counter.items.div_ceil(10) || seen == counter.items {
                counter.reached.send_replace(seen);
            }
            ([("content-type", "application/json")], "{}")
        }
        let router = Router::new()
            .route("/items", get(list))
            .route("/item", post(one))
            .with_state(Arc::clone(self));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(address)
    }

    async fn has(&self, count: u64) -> anyhow::Result<()> {
        let mut reached = self.reached.subscribe();
        reached.wait_for(|seen| *seen >= count).await?;
        Ok(())
    }
}

fn flow(sink: SocketAddr) -> String {
    format!(
        "{}  - id: list
    http: {{get: 'http://{sink}/items', limit: 16MiB}}
  - id: each
    for_each: steps.list.result
    key: ${{{{ item }}}}
    parallel: {PARALLEL}
    steps:
      - id: send
        http:
          post: http://{sink}/item
          json: {{n: '${{{{ item }}}}'}}
          idempotency: {{header: Idempotency-Key, window: 24h}}
",
        flows::flow(sink, Flowing::Accept)
    )
}

impl Bench {
    pub(super) async fn items(&mut self) -> anyhow::Result<Option<Items>> {
        let items = self.plan.items;
        if items == 0 || self.plan.through == super::Through::Store {
            return Ok(None);
        }
        self.say(&format!("for_each over {items} items"));
        let counter = Arc::new(Counter {
            items,
            seen: AtomicU64::new(0),
            reached: watch::Sender::new(0),
        });
        let serving = Arc::clone(&counter);
        let to = self.apart.run(async move { serving.serve().await }).await?;
        let store = self.open_empty().await?;
        let data = flows::data(self.directory(), &format!("flight-{}", self.opened))?;
        let server = Server::of_flow(store, data, &flow(to), 1024).await?;
        let once = Bounds {
            operations: 1,
            ..super::DONE_KEYS
        };
        let (address, sink) = (server.target.address, Arc::<Sink>::default());
        let started = Instant::now();
        flows::measure(address, &sink, Flowing::Accept, 1, once, 0).await?;
        counter.has(items.div_ceil(10)).await?;
        let early = load::memory_mb();
        counter.has(items).await?;
        let seconds = started.elapsed().as_secs_f64();
        let memory_mb = [early, load::memory_mb()];
        server.stop().await?;
        Ok(Some(Items {
            count: items,
            seconds,
            per_second: load::to_f64(items) / seconds,
            memory_mb,
        }))
    }
}
