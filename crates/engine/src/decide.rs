//! What a run does next: `(flow, state, now) → happenings and moves`.
//!
//! Owns the order of steps, what each phase of a step leads to, and when a run rests or ends.
//! Pure: no clock, no store, no world. What needs one of them is given back as a [`Move`] for the
//! worker; what comes of it returns as happenings ([`observe`](crate::observe)).
//!
//! The invariant: no move asks the world for an effect without a claim of it in the same move,
//! unless a repeat is harmless or deduped by the destination.

mod begin;
mod gates;
mod moves;
mod recover;
mod undo;
mod waits;

use std::collections::HashSet;
use std::sync::Arc;

use semel_act::Perform;
use semel_flow::Value;
use semel_flow::model::{Flow, Retry, Step};
use semel_ledger::{Millis, Time};
use semel_store::run::RunState;

pub use moves::{Move, Rest};

pub(crate) use begin::{KEPT_SECRET, window};
pub(crate) use recover::{MAX_PROBES, lookup};
pub(crate) use waits::{on_timeout, patience};

use crate::journal::{Ending, Happening};
use crate::names::{Identity, Outer, RunNames};
use crate::places::{self, Open};
use crate::state::{Phase, State};
use crate::token::Links;
use undo::{Back, Way};

/// Everything around a run that decisions depend on.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The flow, in the release that the run is pinned to.
    pub flow: &'a Flow,
    /// What the run is called.
    pub identity: &'a Identity,
    /// The run around it.
    pub outer: Option<&'a Arc<Outer>>,
    /// The time.
    pub now: Time,
    /// Randomness for jitter, fences and `uuid()`: different each time.
    pub seed: [u8; 16],
    /// When the run's last row was written, or what the next one tells of ended: nothing is under way that began
    /// later and is not on record.
    pub last_row_at: Time,
    /// How links to the run are made.
    pub links: &'a Links,
}

/// What a run does next.
#[derive(Debug, Default)]
pub struct Decision {
    /// What became true by deciding alone; already folded into the state.
    pub happenings: Vec<Happening>,
    /// Long values that the happenings refer to.
    pub contents: Vec<Vec<u8>>,
    /// What is to be done.
    pub moves: Vec<Move>,
    /// With no moves and nothing under way: how the run rests.
    pub rest: Rest,
}

/// What one look at a step led to.
pub(crate) enum Look {
    /// Something became true; look again.
    Moved,
    /// Something is to be done.
    Do(Move),
    /// Nothing before this time, or before mail comes.
    Wait(Rest),
}

/// Decides. `acting` are the steps whose moves are under way; whoever performs is asked only what a
/// call stands for, which touches nothing.
#[must_use]
#[expect(clippy::implicit_hasher, reason = "there is one kind of set")]
pub fn decide(
    scene: &Scene<'_>,
    steps: &dyn Perform,
    state: &mut State,
    acting: &HashSet<Arc<str>>,
) -> Decision {
    let mut decider = Decider {
        scene,
        steps,
        state,
        decision: Decision::default(),
        draws: 0,
    };
    while decider.look_around(acting) {}
    decider.decision
}

pub(crate) struct Decider<'d, 'a> {
    pub(crate) scene: &'d Scene<'a>,
    pub(crate) steps: &'d dyn Perform,
    pub(crate) state: &'d mut State,
    pub(crate) decision: Decision,
    draws: u64,
}

impl Decider<'_, '_> {
    /// One look at everything that is open; true if something became true by it.
    fn look_around(&mut self, acting: &HashSet<Arc<str>>) -> bool {
        self.decision.moves.clear();
        if self.state.ended.is_some() {
            return false;
        }
        self.decision.moves = self.untold();
        if !self.decision.moves.is_empty() {
            return false;
        }
        let State {
            failure,
            cancelled,
            stopped,
            ..
        } = &self.state;
        let ending = failure.is_some() || cancelled.is_some() || stopped.is_some();
        if ending && !acting.iter().all(|id| self.is_of_the_end(id)) {
            return false;
        }
        let stops = failure.is_none() && cancelled.is_none() && stopped.is_some();
        if stops || (cancelled.is_some() && !self.goes_back()) {
            self.finish();
            return false;
        }
        let flow = self.scene.flow;
        let mut open = Vec::new();
        places::open(self.block(flow), self.state, &mut open);
        let back = if self.goes_back() {
            self.back()
        } else {
            Back::Over
        };
        if open.is_empty() && matches!(back, Back::Over) {
            self.finish();
            return false;
        }
        let mut rests = Vec::new();
        let forward = open.into_iter().map(|open| (Way::Forward, open));
        for (way, open) in forward.chain(back.open()) {
            let step = match &open {
                Open::Step(step) | Open::Complete(step) => *step,
            };
            if acting.contains(step.id.it.as_str()) {
                continue;
            }
            let look = match way {
                Way::Forward => self.look(&open),
                Way::Settle => self.settle(step),
            };
            match look {
                Look::Moved => return true,
                Look::Do(next) => self.decision.moves.push(next),
                Look::Wait(rest) => rests.push(rest),
            }
        }
        self.decision.rest = Rest::together(rests);
        false
    }

    /// Whether what is under way belongs to how the run ends, not to what failed or was cancelled.
    fn is_of_the_end(&self, id: &str) -> bool {
        let flow = self.scene.flow;
        let tells = self.state.cancelled.is_none() && places::is_in(&flow.on_failure, id);
        let undoes = || places::find(flow, id).is_some_and(|step| step.takes_back().is_some());
        self.goes_back() && (tells || undoes())
    }

    /// The steps that go on: the run's own, or after a failure those that tell of it.
    fn block<'f>(&self, flow: &'f Flow) -> Vec<&'f Step> {
        let State {
            failure,
            cancelled,
            stopped,
            opening,
            ..
        } = &self.state;
        if failure.is_none() && cancelled.is_none() {
            return places::block_of(flow, self.state).iter().collect();
        }
        if cancelled.is_some() || stopped.is_some() || opening.within.is_some() {
            return Vec::new();
        }
        // One that fails itself must not keep the others from telling.
        let gave_up = |step: &&Step| matches!(self.state.phase(&step.id.it), Some(Phase::GaveUp));
        flow.on_failure.iter().filter(|s| !gave_up(s)).collect()
    }

    fn look(&mut self, open: &Open<'_>) -> Look {
        let now = self.scene.now;
        let step = match open {
            Open::Complete(step) => return self.complete(step),
            Open::Step(step) => *step,
        };
        let Some(known) = self.state.steps.get(step.id.it.as_str()) else {
            return self.begin_first(step);
        };
        match known.phase.clone() {
            Phase::Ready { at } if at > now => {
                let attempts = known.attempts;
                let why = format!("{}: attempt {} failed", step.id.it, attempts);
                wait(RunState::Retrying, why, Some(at))
            }
            Phase::Busy { until, .. } if until > now => {
                let why = format!("{}: somebody else is at it", step.id.it);
                wait(RunState::Waiting, why, Some(until))
            }
            Phase::Ready { .. } | Phase::Busy { .. } | Phase::Resumed => self.begin(step),
            Phase::Asked(grant) => Look::Do(Move::Inspect {
                step: places::name(step),
                grant,
            }),
            Phase::Lost {
                at,
                probes,
                probe_at,
                ..
            } => self.recover(step, at, probes, probe_at),
            Phase::Probed {
                found,
                evidence,
                lost,
            } => self.probed(step, found, &evidence, lost),
            Phase::Parked { why, .. } => {
                wait(RunState::Parked, format!("{}: {why}", step.id.it), None)
            }
            Phase::Spawned(spawned) if spawned.waits => {
                let why = format!("{}: {} of {}", step.id.it, spawned.begun, spawned.total);
                wait(RunState::Waiting, why, None)
            }
            Phase::Spawned(spawned) if spawned.begun < spawned.total => Look::Do(Move::Spawn {
                step: places::name(step),
            }),
            Phase::Spawned(_) => self.note(Happening::Returned {
                step: places::name(step),
            }),
            Phase::Returned(spawned) if spawned.begun < spawned.total => Look::Do(Move::Spawn {
                step: places::name(step),
            }),
            Phase::Returned(_) => Look::Do(Move::Collect {
                step: places::name(step),
            }),
            Phase::GaveUp | Phase::Entered { .. } | Phase::Done(_) | Phase::Skipped => {
                wait(RunState::Running, "running".to_owned(), None)
            }
            Phase::Waiting { until, what } => self.waiting(step, until, what),
            Phase::Requested(gate) => self.requested(step, &gate),
            // Those that wait for it are told before anything else.
            Phase::Emitted(_) => wait(RunState::Running, "running".to_owned(), None),
        }
    }

    /// There is nothing left to do.
    fn finish(&mut self) {
        let State {
            failure,
            cancelled,
            stopped,
            ..
        } = &self.state;
        let (how, why) = match (cancelled, failure, stopped) {
            (Some(by), ..) => (Ending::Cancelled, format!("cancelled by {by}")),
            (None, Some((step, message)), _) => (Ending::Failed, format!("{step}: {message}")),
            (None, None, Some(message)) => (Ending::Done, message.to_string()),
            (None, None, None) => (Ending::Done, "done".to_owned()),
        };
        let undone = self.taken_back();
        if self.goes_back() && !undone.is_empty() {
            let why = format!("{why}; undone: {}", undone.join(", "));
            return self.end(Ending::Undone, why);
        }
        self.end(how, why);
    }

    fn end(&mut self, how: Ending, why: String) {
        let held = self
            .state
            .steps
            .values()
            .filter_map(|step| match &step.phase {
                Phase::Entered { grant, .. } => grant.clone(),
                _ => None,
            });
        let held = held.collect();
        self.decision.moves = vec![Move::End { how, why, held }];
    }

    /// Makes something true.
    pub(crate) fn note(&mut self, happening: Happening) -> Look {
        self.state.apply(&happening);
        self.decision.happenings.push(happening);
        Look::Moved
    }

    /// A step has finally failed; an undo that has waits for a person.
    pub(crate) fn give_up(&mut self, step: &Step, message: &str) -> Look {
        self.note(gave_up(step, message))
    }

    /// The policy of a step.
    pub(crate) fn policy(&self, step: &Step) -> Retry {
        policy(self.scene.flow, step)
    }

    pub(crate) fn names<'n>(&'n self, more: &'n [(&'n str, Value)]) -> RunNames<'n> {
        names(self.scene, self.state, more)
    }

    /// Sixteen bytes that were not drawn before.
    pub(crate) fn draw(&mut self) -> [u8; 16] {
        self.draws += 1;
        let mut hasher = blake3::Hasher::new_derive_key("semel engine draw");
        hasher.update(&self.scene.seed);
        hasher.update(&self.draws.to_le_bytes());
        let mut drawn = [0; 16];
        drawn.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        drawn
    }
}

/// The retry policy of a step: its own, the flow's, or the default.
#[must_use]
pub fn policy(flow: &Flow, step: &Step) -> Retry {
    step.retry.or(flow.retry).unwrap_or_default()
}

/// What it means for a run that a step has finally failed: it has failed, too. But nothing ends by an
/// undo that did not work: a person sees to it.
pub(crate) fn gave_up(step: &Step, message: &str) -> Happening {
    let (name, message) = (places::name(step), message.into());
    match step.takes_back() {
        None => Happening::GaveUp {
            step: name,
            message,
        },
        Some(_) => Happening::Parked {
            step: name,
            why: message,
            effect: None,
        },
    }
}

/// What expressions of a run see.
#[must_use]
pub fn names<'n>(
    scene: &'n Scene<'_>,
    state: &'n State,
    more: &'n [(&'n str, Value)],
) -> RunNames<'n> {
    RunNames {
        flow: scene.flow,
        identity: scene.identity,
        state,
        outer: scene.outer,
        now: scene.now,
        seed: scene.seed,
        more,
        links: scene.links,
        drawn: std::cell::Cell::new(0),
    }
}

pub(crate) fn wait(state: RunState, why: String, wake: Option<Time>) -> Look {
    Look::Wait(Rest { state, why, wake })
}

/// How long to wait before looking again at what somebody else holds.
pub(crate) const BUSY_PAUSE: Millis = Millis::seconds(1);
