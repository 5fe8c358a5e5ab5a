//! Who decides at every point of a simulation whether something goes wrong there.
//!
//! Owns the count of points, the faults that are due, and what the driver is asked to do. A point is a moment at
//! which a process can die or be overtaken: before and after each commit, and at each call to the world.
//!
//! The invariant: a node whose death was asked for passes no further point, whatever of it is still to be polled.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_store::gate::{Gate, Passing};
use tokio::sync::{Notify, oneshot};

use crate::schedule::{Fault, What};

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
    /// The node is dead; after a power cut nothing of its flight recorder is believed.
    Crash { power: bool },
    /// Deliver the event again, then let the point pass.
    Resend(oneshot::Sender<()>),
    /// Another node takes over; the old one wakes up later.
    Overtaken(oneshot::Sender<()>),
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
    /// Lives up to this one are dead.
    dead: u32,
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
            (turns.dead < life).then(|| turns.due(point))
        };
        let Some(due) = due else {
            return std::future::pending().await;
        };
        match due? {
            What::Resend => {
                self.resend().await;
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
            turns.dead = turns.dead.max(life);
            turns.signals.push_back(Signal::Crash { power });
        }
        self.signalled.notify_one();
        std::future::pending().await
    }

    async fn resend(&self) {
        let (done, told) = oneshot::channel();
        self.tell(Signal::Resend(done));
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
