//! A node that dies on the way back: nothing is taken back twice, and nothing is forgotten.
//!
//! The node is killed at every moment at which the engine or the store looks at the clock, and before and
//! after every act; so a commit is lost, or its answer is, and an act is, or its answer is. What nobody
//! knows then is told by a person who looks at the world, and never guesses.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use semel_engine::Engine;
use semel_ledger::{Decision, EffectId, State as EffectState, Time};
use semel_store::run::{Loaded, RunId, RunState};
use semel_store::{Clock, Filter, Location, Options, SteadyClock, Store};
use tokio::sync::Notify;

use crate::undo::{CHARGED, ORDER, cancel, decide, resume, started, undone};
use crate::world::{Node, Reply, World};

/// Kills the node when it has burnt down.
#[derive(Default)]
struct Fuse {
    left: AtomicUsize,
    node: Mutex<Option<Engine>>,
    burnt: Notify,
}

impl std::fmt::Debug for Fuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fuse")
    }
}

impl Fuse {
    fn light(&self, engine: &Engine, length: usize) {
        *self.node.lock().expect("node") = Some(engine.clone());
        self.left.store(length, Ordering::SeqCst);
    }

    fn burn(&self) {
        let less = |left: usize| left.checked_sub(1);
        if self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            == Ok(1)
        {
            if let Some(engine) = self.node.lock().expect("node").take() {
                engine.kill();
            }
            self.burnt.notify_one();
        }
    }
}

#[derive(Debug)]
struct Ticking(SteadyClock, Arc<Fuse>);

impl Clock for Ticking {
    fn now(&self) -> Time {
        self.1.burn();
        self.0.now()
    }

    fn adjust(&self, ahead: i64) {
        self.0.adjust(ahead);
    }
}

/// What the world saw of each thing and of what takes it back.
const PAIRS: [(&str, &str); 3] = [
    ("charge", "refund"),
    ("parcel", "recall"),
    ("seat", "seat-free"),
];

fn saw(world: &World, name: &str) -> u32 {
    world.saw(&format!("http://w/{name}"))
}

/// One life that is killed after so many looks at the clock; false if it ended before that.
async fn live(location: &Location, directory: Option<&Path>, length: usize) -> bool {
    let fuse = Arc::<Fuse>::default();
    let options = Options {
        clock: Some(Arc::new(Ticking(
            SteadyClock::start(Time(0)),
            Arc::clone(&fuse),
        ))),
        ..Options::default()
    };
    let store = Arc::new(Store::open(location, options).await.expect("a store"));
    let node = Node::on(store, Arc::default(), directory).await;
    node.deploy(ORDER).await;
    node.world.will("http://w/charge", &vec![CHARGED; 9]);
    node.world.will("http://w/last", &vec![Reply::Refused; 9]);
    let touched = Arc::clone(&fuse);
    *node.world.around.lock().expect("around") = Some(Arc::new(move || touched.burn()));
    let mut moved = node.engine.follow();
    let run = node.start("order", r#"{"id":1}"#).await.expect("first");
    fuse.light(&node.engine, length);
    let over = async {
        while node
            .engine
            .store()
            .run(run)
            .await
            .expect("read")
            .is_some_and(|run| run.state.is_open())
        {
            let _ = moved.recv().await;
        }
    };
    let killed = tokio::select! {
        biased;
        () = fuse.burnt.notified() => true,
        () = over => false,
    };
    fuse.left.store(0, Ordering::SeqCst);
    let (store, world) = node.kill();
    let node = Node::on(store, world, directory).await;
    let loaded = settled(&node, run).await;
    assert_eq!(loaded.run.state, RunState::Undone, "{length}: {loaded:#?}");
    for (done, back) in PAIRS {
        let (done, back) = (saw(&node.world, done), saw(&node.world, back));
        // What is deduped by its key, or harmless, may be asked for twice.
        assert!(done >= 1 && back >= 1, "{length}: {loaded:#?}");
    }
    for guarded in ["charge", "refund", "plain", "tell"] {
        assert_eq!(
            saw(&node.world, guarded),
            1,
            "{length}: {guarded}: {loaded:#?}"
        );
    }
    assert_eq!(saw(&node.world, "last-undo"), 0, "{length}: {loaded:#?}");
    backwards(&node.world);
    killed
}

/// The first time that each was taken back is in the order opposite to the last time each was done.
fn backwards(world: &World) {
    let order = world.order();
    let at = |name: &str| {
        order
            .iter()
            .position(|url| *url == format!("http://w/{name}"))
    };
    let back = PAIRS.map(|(_, back)| at(back));
    assert!(back[2] < back[1] && back[1] < back[0], "{order:?}");
}

/// Waits until the run is over, and says what is true of whatever is asked.
async fn settled(node: &Node, run: RunId) -> Loaded {
    loop {
        let states = [
            RunState::Parked,
            RunState::Undone,
            RunState::Failed,
            RunState::Done,
        ];
        let loaded = node.until(run, &states).await;
        if !loaded.run.state.is_open() {
            return loaded;
        }
        for effect in in_review(node).await {
            let name = name_of(&effect);
            let decision = if saw(&node.world, name) > 0 {
                Decision::Happened
            } else {
                Decision::Failed
            };
            decide(node, effect, decision).await;
        }
        let mut moved = node.engine.follow();
        resume(node, run).await;
        // It goes on, whatever comes of it.
        while rows(node, run).await == loaded.journal.len() {
            let _ = moved.recv().await;
        }
    }
}

async fn rows(node: &Node, run: RunId) -> usize {
    let loaded = node.engine.store().load_run(run).await.expect("read");
    loaded.expect("a run").journal.len()
}

async fn in_review(node: &Node) -> Vec<EffectId> {
    let filter = Filter {
        states: vec![EffectState::Review, EffectState::Unknown],
        limit: 10,
        ..Filter::default()
    };
    let page = node.engine.store().list(&filter).await.expect("read");
    page.items.into_iter().map(|record| record.effect).collect()
}

/// What the world calls an effect.
fn name_of(effect: &EffectId) -> &'static str {
    match effect.scope.as_str() {
        "order/charge" => "charge",
        "order/charge/undo" => "refund",
        "order/parcel" => "parcel",
        "order/parcel/undo" => "recall",
        "order/seat" => "seat",
        "order/plain" => "plain",
        "order/last" => "last",
        "order/tell" => "tell",
        other => panic!("{other} is in review"),
    }
}

/// No claim tells of a harmless step, but it may have happened, and then it is to be taken back.
#[tokio::test]
async fn a_harmless_step_that_its_node_died_in_is_settled_first() {
    let (node, run) = started(ORDER, &[("seat", &[Reply::Hangs])]).await;
    node.world.hanging.notified().await;
    cancel(&node, run, true).await;
    let (store, world) = node.kill();
    let node = Node::on(store, world, None).await;
    let loaded = node.until(run, &[RunState::Parked]).await;
    let why = &loaded.run.why;
    assert!(why.starts_with("seat: nobody knows"), "{why}");
    assert_eq!(undone(&node), Vec::<String>::new());
    let loaded = settled(&node, run).await;
    assert_eq!(loaded.run.state, RunState::Undone, "{loaded:#?}");
    assert_eq!(undone(&node), ["seat-free", "recall", "refund"]);
    assert_eq!(saw(&node.world, "seat"), 1);
}

#[tokio::test]
async fn killed_at_any_moment_it_takes_back_each_thing_once() {
    let mut length = 1;
    while live(&Location::Memory, None, length).await {
        length += 1;
    }
    assert!(length > 60, "it was killed only {length} times");
}

#[tokio::test]
async fn killed_beside_its_flight_recorder_too() {
    let mut length = 1;
    loop {
        let dir = tempfile::tempdir().expect("dir");
        let location = Location::Sqlite(dir.path().join("semel.db"));
        if !live(&location, Some(dir.path()), length).await {
            break;
        }
        length += 7;
    }
}

#[tokio::test]
async fn killed_on_postgresql_too() {
    let Ok(url) = std::env::var("SEMEL_TEST_POSTGRES") else {
        panic!("SEMEL_TEST_POSTGRES names no PostgreSQL cluster: run ./test, which starts one");
    };
    let separator = if url.contains('?') { '&' } else { '?' };
    for length in (1..).step_by(13) {
        let schema = u128::from_le_bytes(semel_store::store::random_bytes());
        let location = Location::Postgres(format!("{url}{separator}semel_schema=undo_{schema:x}"));
        if !live(&location, None, length).await {
            return;
        }
    }
}
