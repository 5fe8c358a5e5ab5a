//! A trace for each run that has ended, sent to a collector of traces.
//!
//! Owns when a trace is sent and what becomes of those that cannot be: the queue is short, and what does
//! not fit is dropped and counted. A trace is made from the run's journal when its turn comes, so nothing
//! of a run is kept in memory for it. How bytes get to the collector is for whoever set it up ([`Deliver`]).

mod document;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use semel_store::run::RunId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use crate::app::App;
use crate::runs::story::Story;

/// How many runs may wait for their traces to be sent.
const WAITING: usize = 1024;
/// How many go in one request.
const TOGETHER: usize = 32;
/// How often a request is made at most.
const ATTEMPTS: u32 = 3;
/// How long is waited before the second attempt; longer before each further one.
const PAUSE: Duration = Duration::from_secs(1);

/// Why a collector did not take traces.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DeliverError {
    /// For people.
    pub message: String,
    /// It may take them later.
    pub again: bool,
}

/// The answer to come.
pub type Delivering<'a> = Pin<Box<dyn Future<Output = Result<(), DeliverError>> + Send + 'a>>;

/// Whoever brings traces to a collector: OTLP as JSON, over HTTP.
pub trait Deliver: Send + Sync {
    /// Brings one request there.
    fn deliver(&self, body: Vec<u8>) -> Delivering<'_>;
}

/// Where traces go.
#[derive(Clone)]
pub struct Traces(pub Arc<dyn Deliver>);

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

/// Goes on sending, for as long as it is polled.
pub(crate) async fn keep_sending(app: &App) {
    let Some(Traces(to)) = &app.settings.traces else {
        return std::future::pending().await;
    };
    let (queue, waiting) = mpsc::channel(WAITING);
    tokio::join!(gather(app, &queue), send(app, &**to, waiting));
}

/// Takes in the runs that end on this node.
async fn gather(app: &App, queue: &mpsc::Sender<RunId>) {
    let mut followed = app.engine.follow();
    loop {
        match followed.recv().await {
            Ok(moved) if moved.state.is_open() => {}
            Ok(moved) => {
                if queue.try_send(moved.run).is_err() {
                    app.metrics.traced("dropped", 1);
                }
            }
            Err(RecvError::Lagged(missed)) => app.metrics.traced("dropped", missed),
            // The engine lives as long as the app does.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

async fn send(app: &App, to: &dyn Deliver, mut waiting: mpsc::Receiver<RunId>) {
    let mut runs = Vec::with_capacity(TOGETHER);
    while waiting.recv_many(&mut runs, TOGETHER).await > 0 {
        let mut stories = Vec::new();
        for run in runs.drain(..) {
            match Story::load(&app.store, run).await {
                Ok(story) => stories.push(story),
                Err(problem) => {
                    tracing::debug!(why = problem.detail(), "a run has no trace");
                    app.metrics.traced("dropped", 1);
                }
            }
        }
        if stories.is_empty() {
            continue;
        }
        let body = document::of(&stories, &app.settings.node);
        let outcome = match deliver(to, &body).await {
            Ok(()) => "sent",
            Err(error) => {
                tracing::warn!(%error, traces = stories.len(), "traces were dropped");
                "dropped"
            }
        };
        app.metrics.traced(outcome, stories.len() as u64);
    }
}

/// Brings one request to the collector, patiently for a while.
async fn deliver(to: &dyn Deliver, body: &[u8]) -> Result<(), DeliverError> {
    let mut attempt = 1;
    loop {
        match to.deliver(body.to_vec()).await {
            Err(error) if error.again && attempt < ATTEMPTS => {
                tokio::time::sleep(PAUSE * attempt).await;
                attempt += 1;
            }
            answer => return answer,
        }
    }
}
