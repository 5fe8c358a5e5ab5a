//! `GET /v1/live`: what changes, as it does, for a page that shows everything.
//!
//! Owns what one reader is told: rows of runs as in `GET /v1/runs`, at most once a second what the overview
//! counts, and what goes live. What changed is found out once for all readers (`hub`). A reader who cannot
//! keep up is told that something was lost, and reads anew; nobody waits for one.

mod elsewhere;
mod hub;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use semel_ledger::Time;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::app::App;
use crate::feed::{self, Gone, SILENCE, STILL_HERE, Speaker};
use crate::out::Object;
use crate::overview::{Tallied, Window};
use crate::problem::Problem;
use crate::query::Query;

pub(crate) use hub::Live;
use hub::{Listener, Told};

/// How often what is counted is told at most.
const TALLY_EVERY: Duration = Duration::from_secs(1);

/// `GET /v1/live`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &["flow", "since"])?;
    let (flow, since) = (query.one("flow")?, query.time("since")?);
    let (listener, told) = app.live.listen();
    let (out, response) = feed::open();
    let reader = Reader {
        flow: flow.map(Into::into),
        since,
        out,
        said: Vec::new(),
        spoke: Instant::now(),
        _listener: listener,
        app,
    };
    tokio::spawn(reader.go_on(told));
    Ok(response)
}

struct Reader {
    app: Arc<App>,
    flow: Option<Box<str>>,
    since: Option<Time>,
    out: Speaker,
    /// What was counted when it was last told.
    said: Vec<u8>,
    spoke: Instant,
    _listener: Listener,
}

impl Reader {
    async fn go_on(mut self, mut told: broadcast::Receiver<Told>) {
        let mut stopping = self.app.stopping.subscribe();
        let mut tallies = interval(TALLY_EVERY);
        tallies.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let out = self.out.clone();
            let heard = tokio::select! {
                it = told.recv() => Some(it),
                _ = tallies.tick() => None,
                stopped = stopping.wait_for(|stopping| *stopping) => {
                    drop(stopped);
                    return;
                }
                () = out.gone() => return,
            };
            let said = match heard {
                Some(it) => self.hear(it).await,
                None => self.tally().await,
            };
            if said.is_err() {
                return;
            }
        }
    }

    async fn hear(&mut self, it: Result<Told, RecvError>) -> Result<(), Gone> {
        match it {
            Ok(Told::Of { flow, event }) => {
                if self.flow.as_ref().is_some_and(|wanted| *wanted != flow) {
                    return Ok(());
                }
                self.say(event).await
            }
            Ok(Told::Lost) | Err(RecvError::Lagged(_)) => {
                self.say(feed::event("lost", None, Object::new())).await
            }
            // The hub lives as long as the app does.
            Err(RecvError::Closed) => Err(Gone),
        }
    }

    /// Tells what was counted, if that is another than before.
    async fn tally(&mut self) -> Result<(), Gone> {
        let counted = async {
            let window = Window::new(self.app.store.now(), self.since);
            let tallied = Tallied::read(&self.app, window).await?;
            let standing = self.app.store.standing().await?;
            let mut out = Object::new();
            tallied.write(&mut out, &standing);
            Ok::<_, Problem>((window.now, out))
        };
        match counted.await {
            Ok((now, counts)) => {
                let mut out = Object::new();
                out.time("now", now).append(&counts);
                let counts = counts.into_bytes();
                if self.said != counts {
                    self.said = counts;
                    return self.say(feed::event("tally", None, out)).await;
                }
            }
            Err(problem) => tracing::debug!(why = problem.detail(), "nothing could be counted"),
        }
        if self.spoke.elapsed() >= SILENCE {
            self.say(STILL_HERE.into()).await?;
        }
        Ok(())
    }

    async fn say(&mut self, bytes: Bytes) -> Result<(), Gone> {
        self.spoke = Instant::now();
        self.out.say(bytes).await
    }
}
