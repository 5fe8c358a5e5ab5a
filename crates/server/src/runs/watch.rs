//! `GET /v1/runs/{run}/watch`: a run's timeline as it grows, as server-sent events.
//!
//! What happens on this node is told at once, what happens on another within a second. The stream
//! ends with the run, or when the server stops; whoever comes back says with `Last-Event-ID` how far
//! it had read.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use semel_engine::Moved;
use semel_store::run::{RunId, RunState};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::feed::{self, Gone, SILENCE, STILL_HERE, Speaker};
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::runs::in_path;
use crate::runs::story::Story;
use crate::runs::timeline;
use crate::target::Segment;

/// Another node cannot tell this one what happens there.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// `GET /v1/runs/{run}/watch`
pub(crate) async fn watch(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let run = in_path(&name)?;
    // Before the first look, so that nothing falls in between.
    let moves = app.engine.follow();
    let story = Story::load(&app.store, run).await?;
    let (out, response) = feed::open();
    let watching = Watching {
        app,
        run,
        out,
        told: last_event(request.headers()),
        shown: None,
        spoke: Instant::now(),
    };
    tokio::spawn(watching.go_on(story, moves));
    Ok(response)
}

/// How many entries the reader has already.
fn last_event(headers: &HeaderMap) -> usize {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    last.and_then(|id| id.parse().ok()).unwrap_or(0)
}

struct Watching {
    app: Arc<App>,
    run: RunId,
    out: Speaker,
    /// How many entries were told.
    told: usize,
    /// The state that was told last.
    shown: Option<(RunState, Box<str>)>,
    spoke: Instant,
}

impl Watching {
    async fn go_on(mut self, mut story: Story, mut moves: broadcast::Receiver<Moved>) {
        let mut stopping = self.app.stopping.subscribe();
        loop {
            match self.tell(&story).await {
                Ok(true) => {}
                Ok(false) | Err(Gone) => return,
            }
            let out = self.out.clone();
            tokio::select! {
                () = moved(&mut moves, self.run) => {}
                _ = stopping.wait_for(|stopping| *stopping) => return,
                () = out.gone() => return,
            }
            story = match Story::load(&self.app.store, self.run).await {
                Ok(story) => story,
                Err(problem) => {
                    tracing::debug!(why = problem.detail(), "a run is no longer followed");
                    return;
                }
            };
        }
    }

    /// Tells what is new; false if there will be no more.
    async fn tell(&mut self, story: &Story) -> Result<bool, Gone> {
        let entries = timeline::of(story);
        for (number, entry) in entries.iter().enumerate().skip(self.told) {
            let mut out = Object::new();
            entry.write(&mut out);
            self.send("entry", Some(number + 1), out).await?;
        }
        self.told = self.told.max(entries.len());
        let run = &story.run;
        let shows = (run.state, run.why.clone());
        if self.shown.as_ref() != Some(&shows) {
            let mut out = Object::new();
            out.text("run", &run.id.text())
                .text("state", run.state.name())
                .text("why", &run.why);
            let name = if run.state.is_open() { "state" } else { "end" };
            self.send(name, None, out).await?;
            self.shown = Some(shows);
        }
        if self.spoke.elapsed() >= SILENCE {
            self.say(STILL_HERE.into()).await?;
        }
        Ok(run.state.is_open())
    }

    async fn send(&mut self, name: &str, id: Option<usize>, data: Object) -> Result<(), Gone> {
        self.say(feed::event(name, id, data)).await
    }

    async fn say(&mut self, bytes: Bytes) -> Result<(), Gone> {
        self.spoke = Instant::now();
        self.out.say(bytes).await
    }
}

/// Waits until a run has moved on this node, or it is time to look.
async fn moved(followed: &mut broadcast::Receiver<Moved>, run: RunId) {
    let hear = async {
        loop {
            match followed.recv().await {
                Ok(it) if it.run == run => return,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return,
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    };
    // Time that is up is as good as word.
    let _ = timeout(LOOK_EVERY, hear).await;
}
