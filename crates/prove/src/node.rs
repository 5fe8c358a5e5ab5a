//! One life of a node in a simulation: the real engine on a shared store in memory.

use std::sync::Arc;

use semel_engine::flight::Memory;
use semel_engine::intake::newest;
use semel_engine::journal::Origin;
use semel_engine::start::{Incoming, StartError};
use semel_engine::token::{Links, TokenKey};
use semel_engine::{Engine, Fresh, Settings};
use semel_flow::Value;
use semel_flow::model::{Latest as LatestOf, Trigger};
use semel_ledger::{Fence, Key};
use semel_store::run::{Latest, ReleaseChange, StartOutcome};
use semel_store::store::random_bytes;
use semel_store::{Change, Store, StoreError};

use crate::conductor::Turnstile;
use crate::events::Arrival;
use crate::stage::Stage;
use crate::world::{Reach, World};

/// How many acts may be under way in a simulation.
const ACTS: u32 = 16;
/// How many runs a node works on at a time.
const RUNS: usize = 64;

/// Why an event started no run.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It cannot.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store could not.
    #[error("the store could not: {0}")]
    Store(#[from] StoreError),
    /// What `latest` says has no value.
    #[error("{0}")]
    Latest(String),
}

/// Whether something newer was applied before an event came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    InTime,
    Stale,
}

/// Which node of several, and its flight recorder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life<'a> {
    pub(crate) number: u32,
    pub(crate) recorder: Option<&'a Arc<Memory>>,
    /// Every other node is dead.
    pub(crate) alone: bool,
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
        life: Life<'_>,
    ) -> Result<Node, StoreError> {
        let gate = Turnstile {
            conductor: Arc::clone(&world.conductor),
            life: life.number,
        };
        let store = root
            .beside(Some(Arc::new(gate)))
            .ok_or(StoreError::Closed)?;
        store.join("simulated").await?;
        let settings = Settings {
            runs: RUNS,
            acts: ACTS,
            recorder: life.recorder.cloned(),
            links: Links::new(
                "https://simulated.example",
                Arc::new(TokenKey::new(&[7; 32])),
            ),
            ..Settings::default()
        };
        let reach = Reach {
            world: Arc::clone(world),
            life: life.number,
        };
        let engine = Engine::new(Arc::new(store), Arc::new(reach), settings);
        engine.flows().keep(Arc::clone(&stage.compiled));
        engine.recover(life.alone).await?;
        engine.flows().refresh(engine.store()).await?;
        let duties = engine.duties();
        Ok(Node { engine, duties })
    }

    /// Nothing of what it was doing goes on.
    pub(crate) fn kill(&mut self) {
        self.duties.abort_all();
        self.engine.kill();
    }
}

/// Takes an event as the front door does: when this returns, it is durable.
pub(crate) async fn accept(
    engine: Engine,
    stage: Arc<Stage>,
    arrival: Arrival,
) -> Result<Arrived, Refused> {
    let store = engine.store();
    let (id, now) = (store.new_run_id(), store.now());
    let own_key = own_key(&arrival.event);
    let incoming = Incoming {
        compiled: &stage.compiled,
        id,
        by: origin(&stage),
        event: arrival.event,
        canonical: None,
        raw: None,
        headers: arrival.headers,
        at: now,
        from: None,
        key: None,
        own_key,
        begin: false,
        remember: engine.settings().remember,
        now,
        fence: Fence(random_bytes()),
    };
    let (key, lane, room) = (incoming.key()?, incoming.lane()?, engine.room());
    let latest = newest_of(&stage, &incoming)?;
    let once = incoming.once(key.clone())?;
    if store.start_refused(&once).await?.is_some() {
        return Ok(Arrived::InTime);
    }
    let incoming = Incoming {
        begin: room.is_some(),
        ..incoming
    };
    let fresh = Fresh {
        id,
        compiled: Arc::clone(&stage.compiled),
        key: key.as_str().into(),
        opening: incoming.opening(),
    };
    let mut start = Box::new(incoming.start_once(once, key, lane));
    start.latest = latest;
    start.otherwise = latest.map(|_| r#"{"status":"stale"}"#.into());
    let started = match room {
        None => store.start(start).await?,
        Some(room) => engine.start(room, fresh, start).await?,
    };
    if !started.is_held() {
        engine.has_started(stage.flow());
    }
    Ok(if started.outcome == StartOutcome::Stale {
        Arrived::Stale
    } else {
        Arrived::InTime
    })
}

fn origin(stage: &Stage) -> Origin {
    match stage.flow().triggers.first() {
        Some(Trigger::Webhook(_)) => Origin::Webhook,
        Some(Trigger::Event { .. }) => Origin::Emit,
        _ => Origin::Manual,
    }
}

fn newest_of(stage: &Stage, incoming: &Incoming<'_>) -> Result<Option<Latest>, Refused> {
    let mut hooks = stage.flow().triggers.iter();
    let latest: Option<&LatestOf> = hooks.find_map(|trigger| match trigger {
        Trigger::Webhook(hook) => hook.latest.as_ref(),
        _ => None,
    });
    let newest = latest.map(|latest| newest(latest, &incoming.names()));
    newest.transpose().map_err(Refused::Latest)
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
