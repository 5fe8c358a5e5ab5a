//! The engine as the server sees it: what a node works with, how it begins and how it ends.
//!
//! Owns the bounds (how many runs at a time), the hand-over from whoever accepts an event to the
//! worker, and stopping in good order. What a run does is decided in [`crate::decide`] and carried
//! out in [`crate::worker`].

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use semel_act::Perform;
use semel_flow::Flow;
use semel_ledger::{Fence, Millis};
use semel_store::planted::{self, Bug};
use semel_store::run::{RunId, RunState, Start, StartOutcome, Started};
use semel_store::store::random_bytes;
use semel_store::{Change, Store, StoreError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, broadcast, oneshot, watch};
use tokio::task::JoinSet;

use crate::flight::Flight;
use crate::flows::{Compiled, Flows};
use crate::hands::Held;
use crate::journal::{Note, Opening};
use crate::spent::{Spent, Tokens};
use crate::token::{Groups, Links};
use crate::topics::Topics;
use crate::{load, worker};

/// How many changes of runs a follower may be behind.
const FOLLOWED: usize = 1024;

/// What can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many runs this node works on at a time.
    pub runs: usize,
    /// How long done keys protect if the file does not say.
    pub remember: Millis,
    /// How long acts that are under way may take to end when the node stops.
    pub drain: Duration,
    /// Where the flight recorder lies; `None`: there is none, and a kill leaves more unknown.
    pub directory: Option<PathBuf>,
    /// The flight recorder of a simulation, instead of one that lies somewhere.
    pub recorder: Option<Arc<crate::flight::Memory>>,
    /// How many acts may be under way.
    pub acts: u32,
    /// How links to runs are made.
    pub links: Links,
    /// Lists of persons, by the name of the group.
    pub groups: Groups,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            runs: 1024,
            remember: crate::start::DEFAULT_REMEMBER,
            drain: Duration::from_secs(30),
            directory: None,
            recorder: None,
            acts: 4096,
            links: Links::default(),
            groups: Groups::new(),
        }
    }
}

/// A run has come somewhere.
#[derive(Clone, Debug)]
pub struct Moved {
    /// Which run.
    pub run: RunId,
    /// Where it stands now.
    pub state: RunState,
}

/// One node's engine. Cheap to share.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Arc<Store>,
    pub(crate) perform: Arc<dyn Perform>,
    pub(crate) flows: Flows,
    pub(crate) settings: Settings,
    pub(crate) flight: Mutex<Option<Arc<Flight>>>,
    pub(crate) room: Arc<Semaphore>,
    /// Something may have become due.
    pub(crate) due: Notify,
    /// Something may be due for which there was no room.
    pub(crate) crowded: AtomicBool,
    /// The runs in this node's hands, to tell them that mail came.
    pub(crate) held: Mutex<HashMap<RunId, Held>>,
    pub(crate) outers: load::Outers,
    pub(crate) spent: Spent,
    /// What runs wait for.
    pub(crate) topics: Topics,
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) moved: broadcast::Sender<Moved>,
    pub(crate) works: Mutex<JoinSet<()>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Room for one run in this node's hands.
#[derive(Debug)]
pub struct Room {
    /// Given back when it is dropped.
    #[expect(dead_code, reason = "it is held, never read")]
    pub(crate) permit: OwnedSemaphorePermit,
}

impl Engine {
    /// An engine that works through `perform` on what is in `store`.
    #[must_use]
    pub fn new(store: Arc<Store>, perform: Arc<dyn Perform>, settings: Settings) -> Engine {
        let groups = settings.groups.clone();
        let settings = Settings {
            links: settings.links.clone().with_groups(groups),
            ..settings
        };
        let room = Arc::new(Semaphore::new(settings.runs));
        Engine {
            inner: Arc::new(Inner {
                store,
                perform,
                flows: Flows::default(),
                settings,
                flight: Mutex::new(None),
                room,
                due: Notify::new(),
                crowded: AtomicBool::new(false),
                held: Mutex::default(),
                outers: load::Outers::default(),
                spent: Spent::default(),
                topics: Topics::default(),
                stopping: watch::Sender::new(false),
                moved: broadcast::Sender::new(FOLLOWED),
                works: Mutex::new(JoinSet::new()),
            }),
        }
    }

    /// The store that it works on.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.inner.store
    }

    /// The flows as this node knows them.
    #[must_use]
    pub fn flows(&self) -> &Flows {
        &self.inner.flows
    }

    /// Who performs, to ask what a call stands for.
    pub(crate) fn steps(&self) -> &dyn Perform {
        &*self.inner.perform
    }

    /// What can be set, as it is.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Room for a run that is about to be started, if there is any right now and this node serves.
    #[must_use]
    pub fn room(&self) -> Option<Room> {
        if *self.inner.stopping.borrow() || self.inner.store.member().is_none() {
            return None;
        }
        let permit = Arc::clone(&self.inner.room).try_acquire_owned();
        permit.ok().map(|permit| Room { permit })
    }

    /// Starts a run and, if this node then holds it, works on it. In a task of its own: whoever asks
    /// may go away while the commit is under way, but a run that this node holds must be begun.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn start(
        &self,
        room: Room,
        fresh: Fresh,
        start: Box<Start>,
    ) -> Result<Started, StoreError> {
        let (inner, (tell, told)) = (Arc::clone(&self.inner), oneshot::channel());
        if planted::is(Bug::AcceptBeforeCommit) {
            return Ok(self.start_unheard(room, fresh, start));
        }
        self.inner.spawn(async move {
            let started = inner.store.start(start).await;
            let held = started.as_ref().is_ok_and(Started::is_held);
            // Whoever asked may be gone.
            let _ = tell.send(started);
            if let (true, Some(member)) = (held, inner.store.member()) {
                let links = inner.settings.links.clone();
                let active = worker::Active::fresh(fresh, member, links);
                inner.work(room, Box::new(active)).await;
            }
        });
        told.await.unwrap_or(Err(StoreError::Closed))
    }

    /// As a test has planted it: whoever asks is told before anything is durable.
    fn start_unheard(&self, room: Room, fresh: Fresh, start: Box<Start>) -> Started {
        let inner = Arc::clone(&self.inner);
        self.inner.spawn(async move {
            let started = inner.store.start(start).await;
            let held = started.as_ref().is_ok_and(Started::is_held);
            if let (true, Some(member)) = (held, inner.store.member()) {
                let links = inner.settings.links.clone();
                let active = worker::Active::fresh(fresh, member, links);
                inner.work(room, Box::new(active)).await;
            }
        });
        Started {
            answered: None,
            outcome: StartOutcome::Started { held: true },
        }
    }

    /// What must be done although nobody asks; ends when the set is dropped.
    #[must_use]
    pub fn duties(&self) -> JoinSet<()> {
        let mut duties = JoinSet::new();
        duties.spawn(crate::timers::run(Arc::clone(&self.inner)));
        duties.spawn(crate::schedules::run(Arc::clone(&self.inner)));
        duties
    }

    /// Something may have become due: look now.
    pub fn look(&self) {
        self.inner.due.notify_one();
    }

    /// A run of this flow was started that this node does not hold: look now.
    pub fn has_started(&self, flow: &Flow) {
        self.inner.has_started(flow);
    }

    /// Tells a run something from outside. Gives whether it is there and open.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn tell(&self, run: RunId, note: &Note) -> Result<bool, StoreError> {
        let note = serde_json::to_string(note).unwrap_or_default().into();
        let mut answers = self
            .inner
            .store
            .commit(vec![Change::Mail { run, note }])
            .await?;
        self.inner.mail_came(run);
        Ok(matches!(
            answers.pop(),
            Some(semel_store::Answer::Mailed(true))
        ))
    }

    /// Mail for a run was written: it looks now.
    pub fn mail_came(&self, run: RunId) {
        self.inner.mail_came(run);
    }

    /// Follows what becomes of runs on this node.
    #[must_use]
    pub fn follow(&self) -> broadcast::Receiver<Moved> {
        self.inner.moved.subscribe()
    }

    /// How many tokens models read and said for this node since it began.
    #[must_use]
    pub fn spent(&self) -> BTreeMap<Box<str>, Tokens> {
        self.inner.spent.so_far()
    }

    /// How many runs are in this node's hands.
    #[must_use]
    pub fn held(&self) -> usize {
        let held = self.inner.held.lock();
        held.unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Stops in good order: nothing new begins, what is under way ends within its time.
    pub async fn stop(&self) {
        self.inner.stopping.send_replace(true);
        let works = {
            let mut works = self
                .inner
                .works
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *works)
        };
        let all = works.join_all();
        if tokio::time::timeout(self.inner.settings.drain, all)
            .await
            .is_err()
        {
            tracing::warn!(
                "some acts did not end in time; they are unknown until looked up or decided"
            );
        }
    }
}

impl Engine {
    /// Ends everything at once, as a kill does: for tests and simulations.
    pub fn kill(&self) {
        self.inner.stopping.send_replace(true);
        let mut works = self
            .inner
            .works
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        works.abort_all();
    }
}

/// A run that was started a moment ago: nothing of it needs to be read back.
#[derive(Debug)]
pub struct Fresh {
    /// Its name.
    pub id: RunId,
    /// By which release.
    pub compiled: Arc<Compiled>,
    /// What it is about.
    pub key: Arc<str>,
    /// What started it.
    pub opening: Opening,
}

impl Inner {
    pub(crate) fn has_moved(&self, run: RunId, state: RunState) {
        // Nobody following is no failure.
        let _ = self.moved.send(Moved { run, state });
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    pub(crate) fn flight(&self) -> Option<Arc<Flight>> {
        let flight = self.flight.lock().unwrap_or_else(PoisonError::into_inner);
        flight.clone()
    }
}

/// A fence that was never used.
pub(crate) fn fence() -> Fence {
    Fence(random_bytes())
}
