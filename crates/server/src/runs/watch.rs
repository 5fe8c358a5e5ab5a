//! `GET /v1/runs/{run}/watch`: a run's timeline as it grows, as server-sent events.
//!
//! What happens on this node is told at once, what happens on another within a second. The stream
//! ends with the run, or when the server stops; whoever comes back says with `Last-Event-ID` how far
//! it had read.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::Frame;
use semel_engine::Moved;
use semel_store::run::{RunId, RunState};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::runs::in_path;
use crate::runs::story::Story;
use crate::runs::timeline;
use crate::target::Segment;

/// Another node cannot tell this one what happens there.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long nothing may be said: proxies close what is silent.
const SILENCE: Duration = Duration::from_secs(15);
/// How many events may wait for a slow reader.
const WAITING: usize = 16;

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
    let (out, feed) = mpsc::channel(WAITING);
    let watching = Watching {
        app,
        run,
        out,
        told: last_event(request.headers()),
        shown: None,
        spoke: Instant::now(),
    };
    tokio::spawn(watching.go_on(story, moves));
    let mut response = Response::new(Body::new(Feed(feed)));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
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
    out: mpsc::Sender<Bytes>,
    /// How many entries were told.
    told: usize,
    /// The state that was told last.
    shown: Option<(RunState, Box<str>)>,
    spoke: Instant,
}

/// The other end no longer listens.
struct Gone;

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
                () = out.closed() => return,
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
            self.say(": still here\n\n".into()).await?;
        }
        Ok(run.state.is_open())
    }

    async fn send(&mut self, name: &str, id: Option<usize>, data: Object) -> Result<(), Gone> {
        let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
        let mut text = format!("event: {name}\n{id}data: ").into_bytes();
        // JSON on one line: a line break in a text is escaped.
        text.extend(data.into_bytes());
        text.extend(b"\n\n");
        self.say(text.into()).await
    }

    async fn say(&mut self, bytes: Bytes) -> Result<(), Gone> {
        self.spoke = Instant::now();
        self.out.send(bytes).await.map_err(|_| Gone)
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

/// A body that grows.
struct Feed(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Feed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = self.0.poll_recv(context);
        polled.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
