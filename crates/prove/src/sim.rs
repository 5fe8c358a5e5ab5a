//! One try: the real engine in a simulated world, under one schedule, until nothing more happens.
//!
//! Owns the order of things: events come, nodes die and are followed by others, whoever sent an event that was not
//! acknowledged sends it again, time passes when nothing else can. The invariant: the same schedule gives the same
//! story.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use semel_flow::Value;
use semel_ledger::Millis;
use semel_store::run::{Run, RunFilter, RunId, RunState};
use semel_store::{Clock, Location, Options, Store};
use tokio::sync::oneshot;

use crate::conductor::{Conductor, Point, Signal};
use crate::node::{Node, Refused, Stopwatch, deploy};
use crate::schedule::{Delivery, Schedule};
use crate::stage::Stage;
use crate::world::{Line, World};

/// How often a sender sends what nobody acknowledged.
const DELIVERIES: usize = 8;
/// After everything that can happen now has happened.
const MOMENT: Duration = Duration::from_millis(1);
/// How long a flow may go on by itself.
const HORIZON: Millis = Millis::days(400);
/// How many moments a try may take.
const PATIENCE: usize = 20_000;
/// The most runs that are looked at.
const RUNS: usize = 1_000;

/// What came of a try.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// How often each place was seen to do something.
    pub(crate) counts: Vec<usize>,
    /// Where the runs stand, without those of items.
    pub(crate) states: Vec<(RunState, Box<str>)>,
    /// A person is asked, about one of the runs or of their items.
    pub(crate) asks: bool,
    pub(crate) points: Vec<Point>,
    pub(crate) fired: usize,
    pub(crate) lines: Vec<Line>,
    /// Something was still going on when nothing should.
    pub(crate) stuck: bool,
}

/// Why a try could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The event starts no run.
    #[error("the event starts no run: {0}")]
    Refused(#[from] Refused),
    /// The simulation itself cannot go on.
    #[error("the simulation cannot go on: {0}")]
    Store(#[from] semel_store::StoreError),
    /// There is no runtime.
    #[error("the simulation cannot begin: {0}")]
    Runtime(#[from] std::io::Error),
    /// It broke off inside.
    #[error("the simulation broke off inside; this is a bug")]
    Broken,
    /// There is no store.
    #[error("the simulation cannot begin: {0}")]
    Open(#[from] semel_store::OpenError),
}

/// Tries one schedule. `directory` is for the flight recorder, and nobody else's meanwhile.
pub(crate) fn try_it(
    stage: &Arc<Stage>,
    schedule: &Schedule,
    directory: &Path,
) -> Result<Seen, SimError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    runtime.block_on(async {
        let mut sim = Sim::begin(stage, schedule, directory).await?;
        sim.play(schedule.delivery).await?;
        sim.end().await
    })
}

struct Sim<'a> {
    stage: &'a Arc<Stage>,
    directory: &'a Path,
    root: Store,
    world: Arc<World>,
    conductor: Arc<Conductor>,
    life: u32,
    node: Node,
    /// Nodes that were taken for dead, with what lets them wake up.
    zombies: Vec<(Node, oneshot::Sender<()>)>,
    /// Those that woke up; what they still do is refused.
    woken: Vec<Node>,
    stuck: bool,
}

impl<'a> Sim<'a> {
    async fn begin(
        stage: &'a Arc<Stage>,
        schedule: &Schedule,
        directory: &'a Path,
    ) -> Result<Sim<'a>, SimError> {
        let clock: Arc<dyn Clock> = Arc::new(Stopwatch::start());
        let options = Options {
            clock: Some(Arc::clone(&clock)),
            ..Options::default()
        };
        let root = Store::open(&Location::Memory, options).await?;
        let conductor = Conductor::new(&schedule.faults);
        let world = Arc::new(World::new(Arc::clone(stage), Arc::clone(&conductor), clock));
        deploy(&root, stage).await?;
        forget_flight(directory);
        let node = Node::begin(&root, &world, stage, 1, Some(directory)).await?;
        conductor.begin();
        Ok(Sim {
            stage,
            directory,
            root,
            world,
            conductor,
            life: 1,
            node,
            zombies: Vec::new(),
            woken: Vec::new(),
            stuck: false,
        })
    }

    async fn play(&mut self, delivery: Delivery) -> Result<(), SimError> {
        for event in self.stage.events() {
            self.world.tell("the event comes");
            self.deliver(event, delivery == Delivery::Together).await?;
        }
        self.settle().await?;
        if delivery == Delivery::Again {
            for event in self.stage.events() {
                self.world.tell("the same event comes again");
                self.deliver(event, false).await?;
            }
            self.settle().await?;
        }
        Ok(())
    }

    /// Sends an event until it is acknowledged.
    async fn deliver(&mut self, event: &Value, together: bool) -> Result<(), SimError> {
        for _ in 0..DELIVERIES {
            let (conductor, stage) = (Arc::clone(&self.conductor), Arc::clone(self.stage));
            let signal = tokio::select! {
                biased;
                signal = conductor.signal() => Some(signal),
                taken = take(&self.node, &stage, event, together) => {
                    match taken {
                        Ok(()) => return Ok(()),
                        // It was killed meanwhile; who sent it does not know.
                        Err(Refused::Store(_)) => None,
                        Err(refused) => return Err(refused.into()),
                    }
                }
            };
            if let Some(signal) = signal {
                Box::pin(self.obey(signal)).await?;
            }
            self.world
                .tell("nobody acknowledged the event: it is sent again");
        }
        Ok(())
    }

    async fn obey(&mut self, signal: Signal) -> Result<(), SimError> {
        match signal {
            Signal::Crash { power } => {
                self.world.tell(if power {
                    "the power fails"
                } else {
                    "the process dies"
                });
                self.follow(power).await
            }
            Signal::Resend(go_on) => {
                self.world.tell("the same event comes in the middle");
                for event in self.stage.events() {
                    Box::pin(self.deliver(event, false)).await?;
                }
                let _ = go_on.send(());
                Ok(())
            }
            Signal::Overtaken(wake) => {
                let next = self.successor(None).await?;
                let old = std::mem::replace(&mut self.node, next);
                self.zombies.push((old, wake));
                Ok(())
            }
        }
    }

    /// Another process takes the place of one that died.
    async fn follow(&mut self, power: bool) -> Result<(), SimError> {
        self.node.kill();
        // What was aborted is dropped before anybody else goes on.
        tokio::time::sleep(MOMENT).await;
        if power {
            forget_flight(self.directory);
        }
        self.node = self.successor(Some(self.directory)).await?;
        self.world.tell("another process begins");
        Ok(())
    }

    /// A node that takes over; it may die while it begins.
    async fn successor(&mut self, directory: Option<&Path>) -> Result<Node, SimError> {
        loop {
            let conductor = Arc::clone(&self.conductor);
            let signal = tokio::select! {
                biased;
                signal = conductor.signal() => signal,
                node = self.next_life(directory) => return node,
            };
            match signal {
                Signal::Crash { power } => {
                    self.world.tell("it dies while it begins");
                    if power {
                        forget_flight(self.directory);
                    }
                }
                // Whoever sends the event meets nobody, and does so later.
                Signal::Resend(go_on) | Signal::Overtaken(go_on) => {
                    let _ = go_on.send(());
                }
            }
        }
    }

    async fn next_life(&mut self, directory: Option<&Path>) -> Result<Node, SimError> {
        self.life += 1;
        let node = Node::begin(&self.root, &self.world, self.stage, self.life, directory);
        Ok(node.await?)
    }

    /// Lets everything happen that will.
    async fn settle(&mut self) -> Result<(), SimError> {
        let end = self.root.now().after(HORIZON);
        let mut patience = PATIENCE;
        loop {
            let conductor = Arc::clone(&self.conductor);
            tokio::select! {
                biased;
                signal = conductor.signal() => {
                    self.obey(signal).await?;
                    continue;
                }
                () = tokio::time::sleep(MOMENT) => {}
            }
            patience -= 1;
            if patience == 0 {
                self.stuck = true;
                return Ok(());
            }
            if self.node.engine.held() > 0 {
                continue;
            }
            match self.root.next_wake().await? {
                Some(at) if at < end => {
                    let wait = at.since(self.root.now());
                    tokio::time::advance(Duration::from_millis(wait.0)).await;
                }
                _ if self.zombies.is_empty() => return Ok(()),
                _ => self.wake_up(),
            }
        }
    }

    /// Nodes that were taken for dead go on where they were.
    fn wake_up(&mut self) {
        for (node, wake) in self.zombies.drain(..) {
            let _ = wake.send(());
            self.woken.push(node);
        }
    }

    /// The runs inside of one, or those that are in none.
    async fn runs(&self, parent: Option<RunId>) -> Result<Vec<Run>, SimError> {
        let filter = RunFilter {
            parent,
            limit: RUNS,
            ..RunFilter::default()
        };
        Ok(self.root.runs(&filter).await?.items)
    }

    async fn end(mut self) -> Result<Seen, SimError> {
        let runs = self.runs(None).await?;
        let mut asks = false;
        let mut open = runs.clone();
        while let Some(run) = open.pop() {
            asks |= matches!(run.state, RunState::Parked | RunState::Unknown);
            open.extend(self.runs(Some(run.id)).await?);
        }
        let state = |run: Run| (run.state, run.why);
        self.node.kill();
        self.woken.iter_mut().for_each(Node::kill);
        Ok(Seen {
            counts: self.world.counts(),
            states: runs.into_iter().map(state).collect(),
            asks,
            points: self.conductor.points(),
            fired: self.conductor.fired(),
            lines: self.world.lines(),
            stuck: self.stuck,
        })
    }
}

async fn take(node: &Node, stage: &Stage, event: &Value, together: bool) -> Result<(), Refused> {
    if !together {
        return node.accept(stage, event).await;
    }
    let (one, other) = tokio::join!(node.accept(stage, event), node.accept(stage, event));
    one.and(other)
}

/// After a power cut the flight recorder is not believed.
fn forget_flight(directory: &Path) {
    let _ = std::fs::remove_file(directory.join(semel_engine::flight::FILE));
}
