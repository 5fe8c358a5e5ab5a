//! The flows as this node knows them: what is live, and every release that a run is pinned to.
//!
//! Owns reading a release's source into a [`Compiled`] flow, once. The store is the authority on
//! what is live; this is a copy that is refreshed when the store says that it changed.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use semel_flow::model::{Flow, Step, Trigger};
use semel_flow::shadow;
use semel_store::run::{Release, ReleaseId};
use semel_store::{Store, StoreError};

use crate::counts::{Counts, FlowCounts};

/// How many releases that are not live are kept ready.
const KEPT: usize = 256;

/// A release, ready to be run.
#[derive(Debug)]
pub struct Compiled {
    /// Its name.
    pub id: ReleaseId,
    /// What it says.
    pub flow: Flow,
    /// The headers of a request that it uses; no others are kept.
    pub headers: BTreeSet<String>,
    /// The file.
    pub source: Box<str>,
    /// What is counted of its flow, once it is asked for.
    counts: OnceLock<Arc<FlowCounts>>,
}

impl Compiled {
    /// Reads a release.
    ///
    /// # Errors
    /// [`ReleaseError::Unreadable`] if this version cannot.
    pub fn read(id: ReleaseId, source: Box<str>) -> Result<Compiled, ReleaseError> {
        let reading = semel_flow::read(&source);
        let Some(mut flow) = reading.flow else {
            let first = reading.diagnostics.first();
            let message = first.map_or_else(String::new, |first| first.title.clone());
            return Err(ReleaseError::Unreadable { message });
        };
        semel_flow::mark_volatile(&mut flow);
        Ok(Compiled {
            id,
            headers: semel_flow::check::headers(&flow),
            flow,
            source,
            counts: OnceLock::new(),
        })
    }

    /// What is counted of its flow.
    pub(crate) fn counts(&self, all: &Counts) -> &Arc<FlowCounts> {
        self.counts.get_or_init(|| all.of(&self.flow.name.it))
    }

    /// A step as it is written.
    #[must_use]
    pub fn written(&self, step: &Step) -> &str {
        self.source
            .get(step.span.start..step.span.end)
            .unwrap_or("")
    }
}

/// Why a release cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// It is not in the store.
    #[error("the release is not in the store")]
    Missing,
    /// This version of Semel cannot read it.
    #[error("this version of Semel cannot read the release: {message}")]
    Unreadable {
        /// The first problem.
        message: String,
    },
    /// The store could not be asked.
    #[error("the store could not be asked for the release")]
    Store {
        /// Why.
        #[from]
        source: StoreError,
    },
}

/// What is live, by name and by what triggers it.
#[derive(Debug, Default)]
pub struct Live {
    /// By name.
    pub flows: HashMap<Box<str>, Arc<Compiled>>,
    /// By the path of their webhooks.
    pub hooks: HashMap<Box<str>, Arc<Compiled>>,
    /// Shadows, by the path of their webhooks. Where no other flow is, they stand in `hooks` as well.
    pub shadows: HashMap<Box<str>, Arc<Compiled>>,
    revision: i64,
}

impl Live {
    /// The flows that wait for an event of that name.
    pub fn receivers<'a>(&'a self, event: &'a str) -> impl Iterator<Item = &'a Arc<Compiled>> {
        self.flows.values().filter(move |compiled| {
            let waits = |trigger: &Trigger| matches!(trigger, Trigger::Event { name, .. } if name.it == event);
            compiled.flow.triggers.iter().any(waits)
        })
    }
}

/// The flows as this node knows them.
#[derive(Debug, Default)]
pub struct Flows {
    live: RwLock<Arc<Live>>,
    ready: Mutex<HashMap<ReleaseId, Arc<Compiled>>>,
}

impl Flows {
    /// What is live.
    #[must_use]
    pub fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The release of that name, ready to be run.
    ///
    /// # Errors
    /// [`ReleaseError`].
    pub async fn release(
        &self,
        store: &Store,
        id: ReleaseId,
    ) -> Result<Arc<Compiled>, ReleaseError> {
        let ready = self
            .ready
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned();
        if let Some(compiled) = ready {
            return Ok(compiled);
        }
        let release = store.release(id).await?.ok_or(ReleaseError::Missing)?;
        self.compile(store, &release).await
    }

    /// Keeps a release ready, so that it need not be read again.
    pub fn keep(&self, compiled: Arc<Compiled>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() >= KEPT {
            ready.clear();
        }
        ready.insert(compiled.id, compiled);
    }

    async fn compile(
        &self,
        store: &Store,
        release: &Release,
    ) -> Result<Arc<Compiled>, ReleaseError> {
        let source = store.text(&release.source).await?;
        let source = source.ok_or(ReleaseError::Missing)?;
        let mut compiled = Compiled::read(release.id, source)?;
        if shadow::cast_by(&release.flow).is_some() {
            shadow::cast(&mut compiled.flow);
        }
        let compiled = Arc::new(compiled);
        self.keep(Arc::clone(&compiled));
        Ok(compiled)
    }

    /// Looks whether what is live has changed, and takes it over. Gives whether it had.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not be asked.
    pub async fn refresh(&self, store: &Store) -> Result<bool, StoreError> {
        let revision = store.live_revision().await?;
        if self.live().revision == revision {
            return Ok(false);
        }
        let mut live = Live {
            revision,
            ..Live::default()
        };
        for release in store.live().await? {
            let compiled = match self.release(store, release.id).await {
                Ok(compiled) => compiled,
                Err(ReleaseError::Store { source }) => return Err(source),
                Err(error) => {
                    tracing::error!(flow = %release.flow, %error, "a live flow cannot be run");
                    continue;
                }
            };
            let hooks = match shadow::cast_by(&release.flow) {
                Some(_) => &mut live.shadows,
                None => &mut live.hooks,
            };
            for trigger in &compiled.flow.triggers {
                if let Trigger::Webhook(webhook) = trigger {
                    let path = webhook.path.it.as_str().into();
                    hooks.insert(path, Arc::clone(&compiled));
                }
            }
            live.flows.insert(release.flow.clone(), compiled);
        }
        for (path, shadow) in &live.shadows {
            let taken = live.hooks.entry(path.clone());
            taken.or_insert_with(|| Arc::clone(shadow));
        }
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(live);
        Ok(true)
    }
}
