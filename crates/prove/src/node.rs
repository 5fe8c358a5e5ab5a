//! One life of a node in a simulation: the real engine on a shared store in memory.

use std::path::Path;
use std::sync::Arc;

use semel_engine::journal::Origin;
use semel_engine::start::{Incoming, StartError};
use semel_engine::token::{Links, TokenKey};
use semel_engine::{Engine, Fresh, Settings};
use semel_flow::Value;
use semel_ledger::{Fence, Key, Time};
use semel_store::run::ReleaseChange;
use semel_store::store::random_bytes;
use semel_store::{Change, Clock, Store, StoreError};

use crate::conductor::Turnstile;
use crate::stage::Stage;
use crate::world::{Reach, World};

/// How many acts may be under way in a simulation.
const ACTS: u32 = 16;
/// How many runs a node works on at a time.
const RUNS: usize = 64;

/// The time of a simulation: its runtime's, which stands still while anything is to be done.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    began: tokio::time::Instant,
}

/// When simulations begin, so that times in a story are believable: 2026-01-05T09:00:00Z.
const MONDAY: Time = Time(1_767_603_600_000);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch {
            began: tokio::time::Instant::now(),
        }
    }
}

impl Clock for Stopwatch {
    fn now(&self) -> Time {
        let passed = self.began.elapsed().as_millis();
        Time(MONDAY.0 + i64::try_from(passed).unwrap_or(i64::MAX))
    }

    fn adjust(&self, _ahead: i64) {}
}

/// Why an event started no run.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It cannot.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store could not.
    #[error("the store could not: {0}")]
    Store(#[from] StoreError),
}

/// One life of a node.
pub(crate) struct Node {
    pub(crate) engine: Engine,
    duties: tokio::task::JoinSet<()>,
}

impl Node {
    /// Begins a life: takes over from whoever was there.
    pub(crate) async fn begin(
        root: &Store,
        world: &Arc<World>,
        stage: &Stage,
        life: u32,
        directory: Option<&Path>,
    ) -> Result<Node, StoreError> {
        let gate = Turnstile {
            conductor: Arc::clone(&world.conductor),
            life,
        };
        let store = root
            .beside(Some(Arc::new(gate)))
            .ok_or(StoreError::Closed)?;
        store.join("simulated").await?;
        let settings = Settings {
            runs: RUNS,
            acts: ACTS,
            directory: directory.map(Path::to_owned),
            links: Links::new(
                "https://simulated.example",
                Arc::new(TokenKey::new(&[7; 32])),
            ),
            ..Settings::default()
        };
        let reach = Reach {
            world: Arc::clone(world),
            life,
        };
        let engine = Engine::new(Arc::new(store), Arc::new(reach), settings);
        engine.flows().keep(Arc::clone(&stage.compiled));
        engine.recover(true).await?;
        engine.flows().refresh(engine.store()).await?;
        let duties = engine.duties();
        Ok(Node { engine, duties })
    }

    /// Nothing of what it was doing goes on.
    pub(crate) fn kill(&mut self) {
        self.duties.abort_all();
        self.engine.kill();
    }

    /// Takes an event as the front door does: when this returns, it is durable.
    pub(crate) async fn accept(&self, stage: &Stage, event: &Value) -> Result<(), Refused> {
        let store = self.engine.store();
        let (id, now) = (store.new_run_id(), store.now());
        let incoming = Incoming {
            compiled: &stage.compiled,
            id,
            by: Origin::Manual,
            event: event.clone(),
            canonical: None,
            raw: None,
            headers: stage.headers(event),
            at: now,
            from: None,
            key: None,
            own_key: own_key(event),
            begin: false,
            remember: self.engine.settings().remember,
            now,
            fence: Fence(random_bytes()),
        };
        let (key, lane, room) = (incoming.key()?, incoming.lane()?, self.engine.room());
        let incoming = Incoming {
            begin: room.is_some(),
            ..incoming
        };
        let opening = incoming.opening();
        let start = Box::new(incoming.start_as(key.clone(), lane)?);
        match room {
            None => {
                store.start(start).await?;
                self.engine.has_started(stage.flow());
            }
            Some(room) => {
                let fresh = Fresh {
                    id,
                    compiled: Arc::clone(&stage.compiled),
                    key: key.as_str().into(),
                    opening,
                };
                let started = self.engine.start(room, fresh, start).await?;
                if !started.is_held() {
                    self.engine.has_started(stage.flow());
                }
            }
        }
        Ok(())
    }
}

/// What the sender calls the event, where the flow has no key of its own.
fn own_key(event: &Value) -> Option<Key> {
    let id = match event.get("id") {
        Some(id) => id.shown(),
        None => event.to_json(),
    };
    Key::from_parts(&["event", &id]).ok()
}

/// Makes the flow live in a fresh store.
pub(crate) async fn deploy(root: &Store, stage: &Stage) -> Result<(), StoreError> {
    let deploy = ReleaseChange::Deploy {
        id: stage.compiled.id,
        flow: stage.flow().name.it.as_str().into(),
        source: stage.compiled.source.clone(),
        by: None,
        live: true,
    };
    root.commit(vec![Change::Release(deploy)]).await.map(drop)
}
