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
use semel_flow::model::{Act, Kind};
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
    /// Does it, and answers when it is let go.
    Held,
    /// A model: answers, and nobody can use it.
    Misfit,
}

/// What the world saw.
#[derive(Default)]
pub(crate) struct World {
    seen: Mutex<HashMap<String, u32>>,
    script: Mutex<HashMap<String, VecDeque<Reply>>>,
    pub(crate) hanging: Notify,
    pub(crate) let_go: Notify,
    /// Every call: its address, what was sent, and under which key.
    calls: Mutex<Vec<(String, String, String)>>,
    /// What was done, in order.
    done: Mutex<Vec<String>>,
    /// Called before and after every act.
    pub(crate) around: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
    /// What the names of models stand for.
    pub(crate) models: Mutex<HashMap<String, String>>,
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

    /// What was done, in order.
    pub(crate) fn order(&self) -> Vec<String> {
        self.done.lock().expect("done").clone()
    }

    fn calls_of<T>(&self, url: &str, of: impl Fn(&(String, String, String)) -> T) -> Vec<T> {
        let calls = self.calls.lock().expect("calls");
        let to = calls.iter().filter(|(to, ..)| to == url);
        to.map(of).collect()
    }

    /// What that address was sent.
    pub(crate) fn sent(&self, url: &str) -> Vec<String> {
        self.calls_of(url, |(_, sent, _)| sent.clone())
    }

    /// Under which key it was last asked.
    pub(crate) fn key(&self, url: &str) -> String {
        let keys = self.calls_of(url, |(.., key)| key.clone());
        keys.last().cloned().unwrap_or_default()
    }

    fn touch(&self) {
        let around = self.around.lock().expect("around").clone();
        if let Some(around) = around {
            around();
        }
    }

    fn happens(&self, url: &str) {
        self.done.lock().expect("done").push(url.to_owned());
        *self
            .seen
            .lock()
            .expect("seen")
            .entry(url.to_owned())
            .or_default() += 1;
    }

    async fn answer(&self, task: &Task, trace: &dyn Trace) -> Outcome {
        let asks = task.act.kind == Kind::Ai;
        let url = task.input.get(if asks { "prompt" } else { "url" });
        let url = url.expect("a destination").shown();
        let key = task.key.as_ref().map_or("", |key| key.as_str());
        let call = (url.clone(), task.input.to_json(), key.to_owned());
        self.calls.lock().expect("calls").push(call);
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
                Outcome::Done(if asks { said(body) } else { answer(200, body) })
            }
            Reply::Misfit => Outcome::Failed(Failure {
                class: FailureClass::Permanent,
                message: "the answer does not fit".to_owned(),
                retry_after: None,
                answer: Some(said(r#""nonsense""#)),
            }),
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
            Reply::Held => {
                self.happens(&url);
                self.hanging.notify_one();
                self.let_go.notified().await;
                Outcome::Done(answer(200, "{}"))
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

/// What a model says: 12 tokens were read, 3 said.
fn said(text: &str) -> Answer {
    let text = Value::read(text.as_bytes()).expect("JSON");
    let usage = [("input", Value::Int(12)), ("output", Value::Int(3))];
    let names = Value::map([
        ("text", text.clone()),
        ("json", Value::Null),
        ("usage", Value::map(usage)),
        ("cost", Value::read(b"0.25").expect("JSON")),
        ("currency", Value::text("USD")),
        ("model", Value::text("gpt-1")),
        ("stop", Value::text("stop")),
    ]);
    Answer {
        names,
        result: text,
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
        Box::pin(async move {
            self.touch();
            tokio::task::yield_now().await;
            let outcome = self.answer(task, trace).await;
            self.touch();
            tokio::task::yield_now().await;
            outcome
        })
    }

    fn identity(&self, act: &Act, input: &Value) -> Result<Option<Value>, String> {
        if act.kind != Kind::Ai {
            return Ok(None);
        }
        let member = |name: &str| input.get(name).cloned().unwrap_or(Value::Null);
        let models = self.models.lock().expect("models");
        let model = models.get(&member("model").shown());
        let model = model.ok_or("there is no such model")?;
        let asked = ["prompt", "sample"].map(|name| (name, member(name)));
        let asked = asked.into_iter().chain([("model", Value::text(model))]);
        Ok(Some(Value::map(asked)))
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

    /// The same, under a name that was known before.
    pub(crate) async fn start_as(&self, id: RunId, flow: &str, event: &str) -> Option<RunId> {
        self.start_of(id, flow, event, None).await
    }

    /// The same, by hand of somebody.
    pub(crate) async fn start_by(
        &self,
        flow: &str,
        event: &str,
        by: Option<&str>,
    ) -> Option<RunId> {
        let id = self.engine.store().new_run_id();
        self.start_of(id, flow, event, by).await
    }

    async fn start_of(
        &self,
        id: RunId,
        flow: &str,
        event: &str,
        by: Option<&str>,
    ) -> Option<RunId> {
        let live = self.engine.flows().live();
        let compiled = live.flows.get(flow).expect("a live flow");
        let store = self.engine.store();
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
