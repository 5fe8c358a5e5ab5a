//! Who decides at every point of a simulation whether something goes wrong there.
//!
//! Owns the count of points, the faults that are due, and what the driver is asked to do. A point is a moment at
//! which a process can die or be overtaken: before and after each commit, and at each call to the world.
//!
//! The invariant: a node whose death was asked for passes no further point, whatever of it is still to be polled.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_store::gate::{Gate, Passing};
use tokio::sync::{Notify, oneshot};

use crate::fault::What;
use crate::schedule::Fault;

/// How far the clock jumps ahead.
const AHEAD: i64 = 24 * 3_600_000;
/// How far the clock jumps back.
const BACK: i64 = -3_600_000;

/// A moment at which something can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    BeforeCommit,
    AfterCommit,
    /// A call to the world, by its place in the flow.
    Act(usize),
}

/// What the driver is asked to do.
#[derive(Debug)]
pub(crate) enum Signal {
    /// A node is dead; after a power cut nothing of its flight recorder is believed.
    Crash { life: u32, power: bool },
    /// Something comes from outside; then the point passes.
    Outside(Outside, oneshot::Sender<()>),
    /// The event is delivered again, and nobody waits for that.
    Meanwhile,
    /// Another node takes over; the old one wakes up later.
    Overtaken(oneshot::Sender<()>),
}

/// What comes from outside in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// The event, again.
    Resend,
    /// A person who clicks retry.
    Retry,
    /// The clock jumps so many milliseconds.
    Jump(i64),
    /// Callbacks.
    CallBack,
    /// Answers of people, twice.
    Yes,
}

impl Outside {
    fn of(what: What) -> Option<Outside> {
        match what {
            What::Resend => Some(Outside::Resend),
            What::Retry => Some(Outside::Retry),
            What::Ahead => Some(Outside::Jump(AHEAD)),
            What::Back => Some(Outside::Jump(BACK)),
            What::CallBack => Some(Outside::CallBack),
            What::Yes => Some(Outside::Yes),
            _ => None,
        }
    }
}

/// Shared by the gate, the world and the driver of one simulation.
#[derive(Debug, Default)]
pub(crate) struct Conductor {
    turns: Mutex<Turns>,
    signalled: Notify,
}

#[derive(Debug, Default)]
struct Turns {
    /// Whether points count yet.
    on: bool,
    points: Vec<Point>,
    faults: VecDeque<Fault>,
    fired: usize,
    signals: VecDeque<Signal>,
    /// Lives that are over.
    dead: HashSet<u32>,
}

impl Conductor {
    pub(crate) fn new(faults: &[Fault]) -> Arc<Conductor> {
        let conductor = Conductor::default();
        conductor.turns().faults = faults.iter().copied().collect();
        Arc::new(conductor)
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on points count.
    pub(crate) fn begin(&self) {
        self.turns().on = true;
    }

    /// Every point that was passed.
    pub(crate) fn points(&self) -> Vec<Point> {
        self.turns().points.clone()
    }

    /// How many faults happened.
    pub(crate) fn fired(&self) -> usize {
        self.turns().fired
    }

    /// Passes a point; gives what goes wrong there, if it is the world's to carry out.
    pub(crate) async fn pass(&self, life: u32, point: Point) -> Option<What> {
        let due = {
            let mut turns = self.turns();
            (!turns.dead.contains(&life)).then(|| turns.due(point))
        };
        let Some(due) = due else {
            return std::future::pending().await;
        };
        let what = due?;
        if let Some(outside) = Outside::of(what) {
            self.comes(outside).await;
            return None;
        }
        match what {
            What::Meanwhile => {
                self.tell(Signal::Meanwhile);
                None
            }
            What::Crash { power } if !matches!(point, Point::Act(_)) => self.die(life, power).await,
            other => Some(other),
        }
    }

    /// The node dies here.
    pub(crate) async fn die<T>(&self, life: u32, power: bool) -> T {
        {
            let mut turns = self.turns();
            turns.dead.insert(life);
            turns.signals.push_back(Signal::Crash { life, power });
        }
        self.signalled.notify_one();
        std::future::pending().await
    }

    async fn comes(&self, outside: Outside) {
        let (done, told) = oneshot::channel();
        self.tell(Signal::Outside(outside, done));
        let _ = told.await;
    }

    /// Another node takes over; gives back when the old one may wake up.
    pub(crate) async fn overtaken(&self) {
        let (done, told) = oneshot::channel();
        self.tell(Signal::Overtaken(done));
        let _ = told.await;
    }

    fn tell(&self, signal: Signal) {
        self.turns().signals.push_back(signal);
        self.signalled.notify_one();
    }

    /// What the driver is asked for next.
    pub(crate) async fn signal(&self) -> Signal {
        loop {
            if let Some(signal) = self.turns().signals.pop_front() {
                return signal;
            }
            self.signalled.notified().await;
        }
    }
}

impl Turns {
    fn due(&mut self, point: Point) -> Option<What> {
        if !self.on {
            return None;
        }
        let at = self.points.len();
        self.points.push(point);
        let fault = self.faults.front().filter(|fault| fault.at == at)?;
        let what = fault.what;
        self.faults.pop_front();
        self.fired += 1;
        Some(what)
    }
}

/// Stands around the commits of one life of a node.
#[derive(Debug)]
pub(crate) struct Turnstile {
    pub(crate) conductor: Arc<Conductor>,
    pub(crate) life: u32,
}

impl Gate for Turnstile {
    fn before(&self) -> Passing<'_> {
        Box::pin(async {
            self.conductor.pass(self.life, Point::BeforeCommit).await;
        })
    }

    fn after(&self) -> Passing<'_> {
        Box::pin(async {
            self.conductor.pass(self.life, Point::AfterCommit).await;
        })
    }
}
