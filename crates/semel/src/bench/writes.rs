//! How much a step of each class makes durable, counted at the store while real flows run.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use semel_store::Store;
use semel_store::run::{RunFilter, RunState};
use semel_store::store::Written;
use serde::Serialize;

use super::Bench;
use super::flows::{self, Flowing, Sink};
use super::load::{Bounds, to_f64};
use super::server::Server;

/// How many steps of a class follow each other.
const STEPS: u64 = 8;

/// What one step of a class makes durable.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Writes {
    pub(super) class: &'static str,
    /// Writes in the ledger: claims, settlements, records.
    pub(super) effects: f64,
    /// Commits of its own: what neighbours write in one is counted once.
    pub(super) commits: f64,
}

/// A class, and a step of it towards an address.
const CLASSES: [(&str, &str); 5] = [
    ("pure", "set: {a: 1}"),
    (
        "read",
        "http: {get: 'http://SINK/charge', expect: [200, 405]}",
    ),
    (
        "set",
        "http: {put: 'http://SINK/charge', json: {a: 1}, expect: [200, 405]}",
    ),
    (
        "keyed",
        "http: {post: 'http://SINK/charge', json: {a: 1}, idempotency: {header: Idempotency-Key, window: 24h}}",
    ),
    (
        "guarded",
        "http: {post: 'http://SINK/charge', json: {a: 1}}",
    ),
];

impl Bench {
    pub(super) async fn writes(&mut self) -> anyhow::Result<Vec<Writes>> {
        let mut found = Vec::new();
        if self.plan.postgres.is_some() || self.plan.through == super::Through::Store {
            return Ok(found);
        }
        let sink = Arc::<Sink>::default();
        let to = sink.serve().await?;
        self.say("durable writes of each class");
        let none = self.written(&flows::flow(to, Flowing::Accept)).await?;
        for (class, step) in CLASSES {
            let mut flow = flows::flow(to, Flowing::Accept);
            for number in 0..STEPS {
                let step = step.replace("SINK", &to.to_string());
                let _ = write!(flow, "  - id: s{number}\n    {step}\n");
            }
            let all = self.written(&flow).await?.since(none);
            found.push(Writes {
                class,
                effects: to_f64(all.effects) / to_f64(STEPS),
                commits: to_f64(all.commits) / to_f64(STEPS),
            });
        }
        Ok(found)
    }

    /// What one run of a flow makes durable after it was accepted.
    async fn written(&mut self, flow: &str) -> anyhow::Result<Written> {
        let store = self.open_empty().await?;
        let data = flows::data(self.directory(), &format!("flight-{}", self.opened))?;
        let server = Server::of_flow(Arc::clone(&store), data, flow, 16).await?;
        let before = store.written();
        let once = Bounds {
            operations: 1,
            ..super::DONE_KEYS
        };
        let (address, sink) = (server.target.address, Arc::<Sink>::default());
        flows::measure(address, &sink, Flowing::Accept, 1, once, 0).await?;
        ended(&store).await?;
        // A run is seen to be over a moment before its last commit is counted.
        server.stop().await?;
        Ok(store.written().since(before))
    }
}

/// Waits until the only run is over.
async fn ended(store: &Store) -> anyhow::Result<()> {
    let over = RunFilter {
        states: vec![RunState::Done, RunState::Failed, RunState::Parked],
        limit: 1,
        ..RunFilter::default()
    };
    loop {
        if let Some(run) = store.runs(&over).await?.items.first() {
            anyhow::ensure!(run.state == RunState::Done, "a run failed: {}", run.why);
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
