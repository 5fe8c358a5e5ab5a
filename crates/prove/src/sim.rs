//! One try: the real engine in a simulated world, under one schedule, until nothing more happens.
//!
//! Owns the order of things, and that time passes when nothing else can. How events come is in `deliveries`, how nodes
//! die and are followed in `lives`, what people do in `people`, how ticks come in `ticks`. The invariant: the same schedule gives the same story.

mod deliveries;
mod lives;
mod people;
mod seen;
mod ticks;

use std::sync::Arc;
use std::time::Duration;

use semel_engine::flight::Memory;
use semel_ledger::Millis;
use semel_store::run::RunId;
use semel_store::{Location, Options, Store};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::clock::Stopwatch;
use crate::conductor::{Conductor, Signal};
use crate::fault::What;
use crate::node::{Life, Node, Refused, deploy};
use crate::schedule::{Delivery, Schedule};
use crate::stage::Stage;
use crate::world::World;
use people::People;

pub(crate) use seen::Seen;

/// How often a sender sends what nobody acknowledged.
const DELIVERIES: usize = 8;
/// After everything that can happen now has happened.
const MOMENT: Duration = Duration::from_millis(1);
/// The longest wait for something that goes on by itself.
const LONG_MOMENT: Duration = Duration::from_secs(1);
/// How long a flow may go on by itself.
const HORIZON: Millis = Millis::days(400);
/// How many moments a try may take.
const PATIENCE: usize = 20_000;

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
    /// The schedule never fires.
    #[error("the schedule of this flow has no next tick")]
    NoTick,
}

/// Tries one schedule.
pub(crate) fn try_it(stage: &Arc<Stage>, schedule: &Schedule) -> Result<Seen, SimError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    runtime.block_on(async {
        let mut sim = Sim::begin(stage, schedule).await?;
        sim.play().await?;
        sim.end().await
    })
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Sim<'a> {
    stage: &'a Arc<Stage>,
    delivery: Delivery,
    recorder: Arc<Memory>,
    root: Store,
    world: Arc<World>,
    conductor: Arc<Conductor>,
    life: u32,
    node: Node,
    /// A second node that serves, too.
    other: Option<Node>,
    /// Nodes that were taken for dead, with what lets them wake up.
    zombies: Vec<(Node, oneshot::Sender<()>)>,
    /// Those that woke up; what they still do is refused.
    woken: Vec<Node>,
    /// Deliveries that nobody waits for.
    meanwhile: JoinSet<()>,
    people: People,
    /// How often each event was sent.
    sent: Vec<usize>,
    stale: usize,
    refused: bool,
    stuck: bool,
    /// The clock was set ahead.
    jumped: bool,
    /// How many runs the ticks that passed are to start.
    ticks_due: usize,
    /// An event came again, and nothing tells of it.
    unrecorded: bool,
    /// Runs that a person started anew.
    reruns: Vec<RunId>,
}

impl<'a> Sim<'a> {
    async fn begin(stage: &'a Arc<Stage>, schedule: &Schedule) -> Result<Sim<'a>, SimError> {
        let clock = Arc::new(Stopwatch::start());
        let options = Options {
            clock: Some(Arc::clone(&clock) as Arc<dyn semel_store::Clock>),
            ..Options::default()
        };
        let root = Store::open(&Location::Memory, options).await?;
        let conductor = Conductor::new(&schedule.faults);
        let world = Arc::new(World::new(Arc::clone(stage), Arc::clone(&conductor), clock));
        deploy(&root, stage).await?;
        let recorder = Arc::new(Memory::default());
        let life = Life {
            number: 1,
            recorder: Some(&recorder),
            alone: true,
        };
        let node = Node::begin(&root, &world, stage, life).await?;
        conductor.begin();
        let delivery = schedule.delivery;
        let no = |it: &What| matches!(it, What::Refused | What::Down);
        Ok(Sim {
            stage,
            delivery,
            recorder,
            root,
            world,
            conductor,
            life: 1,
            node,
            other: None,
            zombies: Vec::new(),
            woken: Vec::new(),
            meanwhile: JoinSet::new(),
            people: People::default(),
            sent: vec![0; stage.ordered.len().max(stage.events.len())],
            stale: 0,
            refused: schedule.faults.iter().any(|fault| no(&fault.what))
                || matches!(delivery, Delivery::CalledLate | Delivery::YesLate),
            stuck: false,
            jumped: false,
            ticks_due: 1,
            unrecorded: false,
            reruns: Vec::new(),
        })
    }

    async fn play(&mut self) -> Result<(), SimError> {
        if let Some(clockwork) = &self.stage.clockwork {
            self.ticks(clockwork).await?;
        } else if self.delivery.is_ordered() {
            self.in_order().await?;
        } else {
            self.events().await?;
        }
        match self.delivery {
            Delivery::Rerun => self.rerun().await,
            Delivery::Retried => {
                self.retry().await?;
                self.settle().await
            }
            _ => Ok(()),
        }
    }

    /// Lets everything happen that will.
    async fn settle(&mut self) -> Result<(), SimError> {
        let end = self.root.now().after(HORIZON);
        let (mut patience, mut moment) = (PATIENCE, MOMENT);
        loop {
            let conductor = Arc::clone(&self.conductor);
            tokio::select! {
                biased;
                signal = conductor.signal() => {
                    self.obey(signal).await?;
                    moment = MOMENT;
                    continue;
                }
                () = tokio::time::sleep(moment) => {}
            }
            patience -= 1;
            if patience == 0 {
                self.stuck = true;
                return Ok(());
            }
            if self.held() > 0 {
                moment = (moment * 2).min(LONG_MOMENT);
                continue;
            }
            moment = MOMENT;
            if self.people_answer().await? {
                continue;
            }
            match self.root.next_wake().await? {
                Some(at) if at < end => {
                    self.world.clock.pass(at.since(self.root.now()));
                    self.look();
                }
                _ if !self.zombies.is_empty() => self.wake_up(),
                _ if self.people_come_late().await? => {}
                _ => return Ok(()),
            }
        }
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::once(&self.node).chain(&self.other)
    }

    fn held(&self) -> usize {
        self.nodes().map(|node| node.engine.held()).sum()
    }

    fn look(&self) {
        self.nodes().for_each(|node| node.engine.look());
    }

    /// Asks something of the node, whatever happens to it meanwhile, until it is answered.
    async fn insist<F>(&mut self, ask: impl Fn(semel_engine::Engine) -> F) -> Result<(), SimError>
    where
        F: Future<Output = Result<(), semel_store::StoreError>>,
    {
        for _ in 0..DELIVERIES {
            let conductor = Arc::clone(&self.conductor);
            let mut asking = Box::pin(ask(self.node.engine.clone()));
            loop {
                let signal = tokio::select! {
                    biased;
                    answered = &mut asking => match answered {
                        Ok(()) => return Ok(()),
                        Err(_) => break,
                    },
                    signal = conductor.signal() => signal,
                };
                let is_over = matches!(signal, Signal::Crash { .. });
                Box::pin(self.obey(signal)).await?;
                if is_over {
                    break;
                }
            }
            self.world.tell("nobody answered: it is said again");
        }
        Ok(())
    }
}
