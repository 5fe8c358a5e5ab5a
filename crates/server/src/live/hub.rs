//! Finding out what changes, once for all who want to know, and only while somebody does.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use semel_engine::Changes;
use semel_store::run::{ReleaseId, Run, RunId};
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep, timeout};

use super::elsewhere::Elsewhere;
use crate::app::App;
use crate::feed;
use crate::out::Object;
use crate::releases::release_text;
use crate::runs::write_row;

/// How much may wait for a slow reader.
const BEHIND: usize = 1024;
/// How long changes are gathered: a run that moves on at once is told once.
const GATHERED: Duration = Duration::from_millis(100);
/// How many rows are read at a time; when more change, readers are told that some were lost.
const MOST: usize = 200;
/// How often is looked for what nobody tells: what went live, and what other nodes do.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Something that readers are told.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// About a flow, as it is sent.
    Of {
        /// Which.
        flow: Box<str>,
        /// What.
        event: Bytes,
    },
    /// Too much changed at once.
    Lost,
}

/// Where readers listen.
#[derive(Debug)]
pub(crate) struct Live {
    told: broadcast::Sender<Told>,
    listeners: watch::Sender<usize>,
}

impl Default for Live {
    fn default() -> Live {
        Live {
            told: broadcast::Sender::new(BEHIND),
            listeners: watch::Sender::new(0),
        }
    }
}

/// Somebody listens until this is dropped.
#[derive(Debug)]
pub(crate) struct Listener(watch::Sender<usize>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Live {
    pub(super) fn listen(&self) -> (Listener, broadcast::Receiver<Told>) {
        let told = self.told.subscribe();
        self.listeners.send_modify(|count| *count += 1);
        (Listener(self.listeners.clone()), told)
    }

    /// Goes on telling, for as long as it is polled.
    pub(crate) async fn keep_telling(&self, app: &App) {
        let mut listeners = self.listeners.subscribe();
        loop {
            // The sender lives as long as this.
            let _ = listeners.wait_for(|count| *count > 0).await;
            let mut hub = Hub::new(app);
            while *self.listeners.borrow() > 0 {
                hub.look(app, &self.told).await;
            }
        }
    }
}

struct Hub {
    changes: Changes,
    live: BTreeMap<Box<str>, ReleaseId>,
    elsewhere: Option<Elsewhere>,
    looked: Instant,
}

impl Hub {
    fn new(app: &App) -> Hub {
        // Only PostgreSQL is shared.
        let shared = app.store.kind() == "postgres";
        Hub {
            changes: app.engine.changes(),
            live: live(app),
            elsewhere: shared.then(|| Elsewhere::new(app.store.now())),
            looked: Instant::now(),
        }
    }

    /// Waits for changes, gathers those that come at once, and tells them.
    async fn look(&mut self, app: &App, told: &broadcast::Sender<Told>) {
        let mut runs = HashSet::new();
        let mut lost = false;
        let wait = LOOK_EVERY.saturating_sub(self.looked.elapsed());
        if let Ok(first) = timeout(wait, self.changes.next()).await {
            lost |= !take(&mut runs, first);
            let until = Instant::now() + GATHERED;
            while let Ok(next) = tokio::time::timeout_at(until, self.changes.next()).await {
                lost |= !take(&mut runs, next);
                if lost {
                    // There is more than can be read anyway.
                    sleep(GATHERED).await;
                    break;
                }
            }
        }
        for run in runs {
            match app.store.run(run).await {
                Ok(Some(row)) => self.tell(told, &row),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "a run that changed could not be read");
                    lost = true;
                }
            }
        }
        if self.looked.elapsed() >= LOOK_EVERY {
            self.looked = Instant::now();
            self.releases(app, told);
            lost |= self.others(app, told).await;
        }
        if lost {
            // Nobody listening is no failure, here and below.
            let _ = told.send(Told::Lost);
        }
    }

    fn tell(&mut self, told: &broadcast::Sender<Told>, row: &Run) {
        if let Some(elsewhere) = &mut self.elsewhere
            && !elsewhere.is_news(row)
        {
            return;
        }
        let mut out = Object::new();
        write_row(&mut out, row);
        let _ = told.send(Told::Of {
            flow: row.flow.clone(),
            event: feed::event("run", None, out),
        });
    }

    /// What other nodes did; gives whether some of it may be missing.
    async fn others(&mut self, app: &App, told: &broadcast::Sender<Told>) -> bool {
        let Some(elsewhere) = &mut self.elsewhere else {
            return false;
        };
        match elsewhere.look(&app.store).await {
            Ok((rows, whole)) => {
                for row in rows {
                    self.tell(told, &row);
                }
                !whole
            }
            Err(error) => {
                tracing::debug!(%error, "what other nodes do could not be read");
                true
            }
        }
    }

    /// What went live or was retired, on whichever node.
    fn releases(&mut self, app: &App, told: &broadcast::Sender<Told>) {
        let now = live(app);
        let names: HashSet<&Box<str>> = now.keys().chain(self.live.keys()).collect();
        for flow in names {
            let release = now.get(flow);
            if release == self.live.get(flow) {
                continue;
            }
            let mut out = Object::new();
            let text = release.map(|release| release_text(*release));
            out.text("flow", flow)
                .text_or_null("release", text.as_deref());
            let _ = told.send(Told::Of {
                flow: flow.clone(),
                event: feed::event("release", None, out),
            });
        }
        self.live = now;
    }
}

/// Takes in a change; false if it does not fit, or some were missed.
fn take(runs: &mut HashSet<RunId>, change: Option<RunId>) -> bool {
    match change {
        Some(run) if runs.contains(&run) => true,
        Some(run) if runs.len() < MOST => runs.insert(run),
        _ => false,
    }
}

fn live(app: &App) -> BTreeMap<Box<str>, ReleaseId> {
    let live: Arc<_> = app.engine.flows().live();
    let flows = live.flows.iter();
    flows.map(|(flow, it)| (flow.clone(), it.id)).collect()
}
