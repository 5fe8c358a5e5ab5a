//! What happens, counted in memory where it happens.
//!
//! Owns the counters of this node between two times that they are added to the store. Counting is an
//! atomic addition; nobody waits for it, and nothing that a run does depends on it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use semel_flow::model::{Class, Flow, Step};
use semel_flow::shadow;
use semel_ledger::Time;
use semel_store::count::Count;
use semel_store::run::RunState;

use crate::journal::{Happening, How};
use crate::places;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Events that came in, whatever became of them.
    Events,
    /// Of those: came before, and turned away.
    Duplicates,
    /// Runs that were started from outside.
    Runs,
    /// Runs, or steps, that are done.
    Done,
    /// Runs, or steps, that failed.
    Failed,
    /// Runs that were taken back.
    Undone,
    /// Runs that were ended by somebody.
    Cancelled,
    /// Changes to the world that were made.
    Effects,
    /// Changes to the world that were asked for again, and refused by the ledger.
    Blocked,
    /// Attempts of steps of which nobody knows what came of them.
    Unknown,
}

impl What {
    /// All of them, in the order they stand in.
    pub const ALL: [What; 10] = [
        What::Events,
        What::Duplicates,
        What::Runs,
        What::Done,
        What::Failed,
        What::Undone,
        What::Cancelled,
        What::Effects,
        What::Blocked,
        What::Unknown,
    ];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            What::Events => "events",
            What::Duplicates => "duplicates",
            What::Runs => "runs",
            What::Done => "done",
            What::Failed => "failed",
            What::Undone => "undone",
            What::Cancelled => "cancelled",
            What::Effects => "effects",
            What::Blocked => "blocked",
            What::Unknown => "unknown",
        }
    }
}

/// How often something happened since the node started, and how much of that is in the store.
#[derive(Debug, Default)]
struct Cell {
    total: AtomicU64,
    taken: AtomicU64,
}

impl Cell {
    fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// What is not in the store.
    fn fresh(&self) -> u64 {
        self.total() - self.taken.load(Ordering::Relaxed)
    }

    /// The same, which counts as being there from now on; one taker at a time.
    fn take(&self) -> u64 {
        let total = self.total();
        total - self.taken.swap(total, Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct Cells([Cell; What::ALL.len()]);

impl Cells {
    fn add(&self, what: What) {
        self.0[what as usize].total.fetch_add(1, Ordering::Relaxed);
    }

    fn put_back(&self, what: What, count: u64) {
        let taken = &self.0[what as usize].taken;
        taken.fetch_sub(count, Ordering::Relaxed);
    }

    /// What is there, each read by `read`.
    fn all(&self, read: impl Fn(&Cell) -> u64) -> Vec<(What, u64)> {
        let all = What::ALL.into_iter().zip(self.0.iter().map(read));
        all.filter(|(_, count)| *count > 0).collect()
    }
}

/// What is counted of one flow.
#[derive(Debug, Default)]
pub struct FlowCounts {
    of_flow: Cells,
    steps: RwLock<HashMap<Arc<str>, Arc<Cells>>>,
}

impl FlowCounts {
    /// Something happened.
    pub fn add(&self, what: What) {
        self.of_flow.add(what);
    }

    fn add_to_step(&self, step: &Arc<str>, what: What) {
        let steps = self.steps.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(cells) = steps.get(step) {
            return cells.add(what);
        }
        drop(steps);
        let mut steps = self.steps.write().unwrap_or_else(PoisonError::into_inner);
        steps.entry(Arc::clone(step)).or_default().add(what);
    }

    /// A claim of a step was refused.
    pub(crate) fn blocked(&self, step: &Arc<str>) {
        self.add(What::Blocked);
        self.add_to_step(step, What::Blocked);
    }

    /// What a row of a journal tells.
    pub(crate) fn happened(&self, flow: &Flow, happenings: &[Happening]) {
        for happening in happenings {
            match happening {
                Happening::Done(done) => {
                    self.add_to_step(&done.step, What::Done);
                    let own = matches!(done.how, How::Act | How::LookedUp | How::Decided);
                    if own && changes_the_world(flow, &done.step) {
                        self.add(What::Effects);
                    }
                }
                Happening::GaveUp { step, .. } => self.add_to_step(step, What::Failed),
                Happening::Lost { step, .. } => self.add_to_step(step, What::Unknown),
                _ => {}
            }
        }
    }

    /// A run without a parent has ended.
    pub(crate) fn ended(&self, state: RunState) {
        match state {
            RunState::Done => self.add(What::Done),
            RunState::Failed => self.add(What::Failed),
            RunState::Undone => self.add(What::Undone),
            RunState::Cancelled => self.add(What::Cancelled),
            _ => {}
        }
    }
}

/// A shadow only says what it would have done.
fn changes_the_world(flow: &Flow, step: &str) -> bool {
    let real = |step: &&Step| step.act().is_none_or(|act| act.shadow.is_none());
    let found = places::find(flow, step).filter(real);
    found.is_some_and(|step| matches!(step.class(), Class::Set | Class::Keyed | Class::Guarded))
}

/// What is counted on this node and not yet in the store.
#[derive(Debug, Default)]
pub struct Counts {
    flows: RwLock<HashMap<Box<str>, Arc<FlowCounts>>>,
}

impl Counts {
    /// The counters of a flow; those of the empty name are for what happens outside of flows.
    #[must_use]
    pub fn of(&self, flow: &str) -> Arc<FlowCounts> {
        let flows = self.flows.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(counts) = flows.get(flow) {
            return Arc::clone(counts);
        }
        drop(flows);
        let mut flows = self.flows.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(flows.entry(flow.into()).or_default())
    }

    /// Takes out what was counted so far, as of `at`.
    #[must_use]
    pub fn take(&self, at: Time) -> Vec<Count> {
        self.read(at, false, Cell::take)
    }

    /// What was counted so far and is not in the store; it stays.
    #[must_use]
    pub fn look(&self, at: Time) -> Vec<Count> {
        self.read(at, false, Cell::fresh)
    }

    /// Everything since the node started.
    #[must_use]
    pub fn totals(&self) -> Vec<Count> {
        self.read(Time(0), true, Cell::total)
    }

    /// What shadows take came in for the flow that casts them already.
    fn read(&self, at: Time, shadows: bool, read: impl Fn(&Cell) -> u64 + Copy) -> Vec<Count> {
        let mut all = Vec::new();
        let mut push = |flow: &str, step: &str, cells: &Cells| {
            all.extend(cells.all(read).into_iter().map(|(what, count)| Count {
                at,
                flow: flow.into(),
                step: step.into(),
                what: what.name().into(),
                count,
            }));
        };
        let flows = self.flows.read().unwrap_or_else(PoisonError::into_inner);
        for (flow, counts) in flows.iter() {
            if shadows || shadow::cast_by(flow).is_none() {
                push(flow, "", &counts.of_flow);
            }
            let steps = counts.steps.read().unwrap_or_else(PoisonError::into_inner);
            for (step, cells) in steps.iter() {
                push(flow, step, cells);
            }
        }
        all
    }

    /// Puts back what could not be added to the store.
    pub fn put_back(&self, counts: &[Count]) {
        for it in counts {
            let named = |what: &What| what.name() == &*it.what;
            let Some(what) = What::ALL.into_iter().find(named) else {
                continue;
            };
            let flow = self.of(&it.flow);
            if it.step.is_empty() {
                flow.of_flow.put_back(what, it.count);
            } else if let Some(cells) = flow
                .steps
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&*it.step)
            {
                cells.put_back(what, it.count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_is_not_taken_again_unless_it_is_put_back() {
        let counts = Counts::default();
        let flow = counts.of("order");
        flow.add(What::Runs);
        flow.blocked(&Arc::from("pay"));
        let taken = counts.take(Time(7));
        assert_eq!(taken.len(), 3, "{taken:?}");
        assert!(counts.take(Time(8)).is_empty() && counts.look(Time(8)).is_empty());
        flow.add(What::Runs);
        counts.put_back(&taken);
        let again = counts.take(Time(9));
        let of = |what: &str| {
            again
                .iter()
                .find(|it| *it.what == *what && it.step.is_empty())
        };
        assert_eq!(of("runs").map(|it| it.count), Some(2));
        let step = again.iter().find(|it| &*it.step == "pay");
        assert_eq!(step.map(|it| it.count), Some(1));
        let totals = counts.totals();
        let runs = totals.iter().find(|it| &*it.what == "runs");
        assert_eq!(runs.map(|it| it.count), Some(2), "the totals only grow");
    }
}
