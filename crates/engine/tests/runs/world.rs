//! A world that obeys, counts, and fails when it is told to; and a node that works on flows in it.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use semel_act::{Answer, Failure, FailureClass, Outcome, Perform, Performing, Task, Trace};
use semel_engine::journal::{Headers, Origin};
use semel_engine::start::Incoming;
use semel_engine::token::{Links, TokenKey};
use semel_engine::{Engine, Settings};
use semel_flow::Value;
use semel_ledger::{Fence, Time};
use semel_store::run::{Loaded, ReleaseChange, ReleaseId, RunId, RunState, StartOutcome};
use semel_store::store::random_bytes;
use semel_store::{Change, Location, ManualClock, Options, Store};
use tokio::sync::Notify;

/// What a destination does when it is called.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Does it and says so, with this body.
    Ok(&'static str),
    /// Does nothing and says so.
    Refused,
    /// Does nothing, come back later.
    Busy,
    /// Nothing was sent.
    Unreachable,
    /// Does it, but the answer is lost.
    LostAfter,
    /// Does nothing, and the answer is lost.
    LostBefore,
    /// Does it and never answers.
    Hangs,
}

/// What the world saw.
#[derive(Default)]
pub(crate) struct World {
    seen: Mutex<HashMap<String, u32>>,
    script: Mutex<HashMap<String, VecDeque<Reply>>>,
    pub(crate) hanging: Notify,
}

impl World {
    /// What the destination of that address does, in turn; then it obeys.
    pub(crate) fn will(&self, url: &str, replies: &[Reply]) {
        let mut script = self.script.lock().expect("script");
        script.insert(url.to_owned(), replies.iter().cloned().collect());
    }

    /// How often the destination of that address did something.
    pub(crate) fn saw(&self, url: &str) -> u32 {
        *self.seen.lock().expect("seen").get(url).unwrap_or(&0)
    }

    fn happens(&self, url: &str) {
        *self
            .seen
            .lock()
            .expect("seen")
            .entry(url.to_owned())
            .or_default() += 1;
    }

    async fn answer(&self, task: &Task, trace: &dyn Trace) -> Outcome {
        let url = task.input.get("url").expect("a url").shown();
        let next = {
            let mut script = self.script.lock().expect("script");
            script.get_mut(&url).and_then(VecDeque::pop_front)
        };
        let reply = next.unwrap_or(Reply::Ok("{}"));
        if !matches!(reply, Reply::Unreachable) {
            trace.sent();
        }
        match reply {
            Reply::Ok(body) => {
                self.happens(&url);
                Outcome::Done(answer(200, body))
            }
            Reply::Refused => failed(FailureClass::Refused),
            Reply::Busy => failed(FailureClass::Transient),
            Reply::Unreachable => failed(FailureClass::NeverSent),
            Reply::LostAfter => {
                self.happens(&url);
                lost()
            }
            Reply::LostBefore => lost(),
            Reply::Hangs => {
                self.happens(&url);
                self.hanging.notify_one();
                std::future::pending().await
            }
        }
    }
}

fn answer(status: i64, body: &str) -> Answer {
    let body = Value::read(body.as_bytes()).expect("JSON");
    let names = Value::map([
        ("status", Value::Int(status)),
        ("body", body.clone()),
        ("headers", Value::map::<&str>([])),
    ]);
    Answer {
        names,
        result: body,
    }
}

fn failed(class: FailureClass) -> Outcome {
    Outcome::Failed(Failure {
        class,
        message: class.name().to_owned(),
        retry_after: None,
        answer: None,
    })
}

fn lost() -> Outcome {
    Outcome::Unknown {
        message: "the answer was lost".to_owned(),
        evidence: None,
    }
}

impl Perform for World {
    fn perform<'a>(&'a self, task: &'a Task, trace: &'a dyn Trace) -> Performing<'a> {
        Box::pin(self.answer(task, trace))
    }
}

/// A node, its store and its world.
pub(crate) struct Node {
    pub(crate) engine: Engine,
    pub(crate) world: Arc<World>,
    duties: tokio::task::JoinSet<()>,
}

impl Node {
    /// A node with an empty store in memory.
    pub(crate) async fn new() -> Node {
        let store = Store::open(&Location::Memory, Options::default()).await;
        Node::on(Arc::new(store.expect("a store")), Arc::default(), None).await
    }

    /// A node with an empty store in memory, where time passes only when it is told to.
    pub(crate) async fn with_clock() -> (Node, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::at(Time(1_767_225_600_000)));
        let options = Options {
            clock: Some(Arc::clone(&clock) as _),
            ..Options::default()
        };
        let store = Store::open(&Location::Memory, options).await;
        let node = Node::on(Arc::new(store.expect("a store")), Arc::default(), None).await;
        (node, clock)
    }

    /// A node on that store; its flight recorder lies in that directory.
    pub(crate) async fn on(store: Arc<Store>, world: Arc<World>, directory: Option<&Path>) -> Node {
        store.join("test").await.expect("joined");
        let settings = Settings {
            directory: directory.map(Path::to_owned),
            links: Links::new("http://here", Arc::new(TokenKey::new(&[7; 32]))),
            groups: [("finance".to_owned(), vec!["bob".to_owned()])].into(),
            ..Settings::default()
        };
        let engine = Engine::new(store, Arc::clone(&world) as Arc<dyn Perform>, settings);
        engine.recover(true).await.expect("recovered");
        engine.flows().refresh(engine.store()).await.expect("flows");
        let duties = engine.duties();
        Node {
            engine,
            world,
            duties,
        }
    }

    /// The node is killed: nothing of what it was doing goes on.
    pub(crate) fn kill(mut self) -> (Arc<Store>, Arc<World>) {
        self.duties.abort_all();
        self.engine.kill();
        (Arc::clone(self.engine.store()), self.world)
    }

    pub(crate) async fn deploy(&self, source: &str) {
        let reading = semel_flow::read(source);
        let flow = reading
            .flow
            .unwrap_or_else(|| panic!("{:#?}", reading.diagnostics));
        let deploy = ReleaseChange::Deploy {
            id: ReleaseId(*blake3::hash(source.as_bytes()).as_bytes()),
            flow: flow.name.it.as_str().into(),
            source: source.into(),
            by: None,
            live: true,
        };
        let store = self.engine.store();
        store
            .commit(vec![Change::Release(deploy)])
            .await
            .expect("deployed");
        self.engine.flows().refresh(store).await.expect("flows");
    }

    /// Starts a run by an event; `None` if its key had one already.
    pub(crate) async fn start(&self, flow: &str, event: &str) -> Option<RunId> {
        self.start_by(flow, event, None).await
    }

    /// The same, by hand of somebody.
    pub(crate) async fn start_by(
        &self,
        flow: &str,
        event: &str,
        by: Option<&str>,
    ) -> Option<RunId> {
        let live = self.engine.flows().live();
        let compiled = live.flows.get(flow).expect("a live flow");
        let store = self.engine.store();
        let id = store.new_run_id();
        let incoming = Incoming {
            compiled,
            id,
            by: Origin::Manual,
            event: Value::read(event.as_bytes()).expect("JSON"),
            canonical: None,
            raw: None,
            headers: Headers::new(),
            at: store.now(),
            from: by.map(Into::into),
            key: None,
            own_key: None,
            begin: false,
            remember: semel_engine::start::DEFAULT_REMEMBER,
            now: store.now(),
            fence: Fence(random_bytes()),
        };
        let start = incoming.into_start().expect("a key");
        let started = store.start(start).await.expect("started");
        self.engine.look();
        matches!(started.outcome, StartOutcome::Started { .. }).then_some(id)
    }

    /// Waits until the run is in one of these states.
    pub(crate) async fn until(&self, run: RunId, states: &[RunState]) -> Loaded {
        let mut moved = self.engine.follow();
        let wait = async {
            loop {
                let loaded = self.engine.store().load_run(run).await.expect("readable");
                let loaded = loaded.expect("a run");
                if states.contains(&loaded.run.state) {
                    return loaded;
                }
                let _ = moved.recv().await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), wait).await;
        let Ok(loaded) = waited else {
            panic!("{:#?}", self.engine.store().load_run(run).await);
        };
        loaded
    }

    pub(crate) async fn done(&self, run: RunId) -> Loaded {
        let over = [
            RunState::Done,
            RunState::Failed,
            RunState::Cancelled,
            RunState::Parked,
        ];
        let loaded = self.until(run, &over).await;
        assert_eq!(loaded.run.state, RunState::Done, "{loaded:#?}");
        loaded
    }
}
