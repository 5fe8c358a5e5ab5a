//! A run's state: its happenings, folded.
//!
//! Owns [`State::apply`], the only code that changes a run's state. Pure: the same happenings in the
//! same order give the same state, whether they come from this process or from a journal.

mod doubt;
mod gates;

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_flow::Value;
use semel_ledger::{Fence, Time};

use crate::journal::{Done, Emitted, Ending, Failed, Happening, Kept, Opening, Spawned, WaitsFor};

pub(crate) use doubt::LOOKUP;
pub use gates::Gate;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// What started it.
    pub opening: Opening,
    /// Its steps, by id; those that have not begun are not here.
    pub steps: BTreeMap<Arc<str>, StepState>,
    /// The step that has finally failed, and why; from then on only `on_failure` goes on.
    pub failure: Option<(Arc<str>, Box<str>)>,
    /// Who asked it to end.
    pub cancelled: Option<Box<str>>,
    /// Whoever cancelled it wants what is done taken back.
    pub undo: bool,
    /// The steps that this run did itself, in the order in which they became done.
    pub own: Vec<Arc<str>>,
    /// A `stop` was reached, and what it says.
    pub stopped: Option<Box<str>>,
    /// How it ended.
    pub ended: Option<(Ending, Box<str>)>,
    /// The last thing that happened put it to rest: no act can have been under way after it.
    pub rests: bool,
    /// Callbacks that came before their turn.
    pub early: BTreeMap<Arc<str>, Value>,
}

/// Where a step stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StepState {
    /// What is known of it.
    pub phase: Phase,
    /// Attempts so far.
    pub attempts: u32,
    /// When the first attempt that is on record began.
    pub first_at: Option<Time>,
    /// An attempt that no claim tells of is under way, or was when its node died.
    pub begun: bool,
    /// An attempt of this run may have happened, and nobody has said whether it did.
    pub maybe: bool,
}

/// A claim that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Its fence.
    pub fence: Fence,
    /// The effect's scope.
    pub scope: Box<str>,
    /// The effect's key.
    pub key: Box<str>,
}

/// What is known of a step that has begun.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// A claim was asked for; the ledger knows what came of it.
    Asked(Grant),
    /// It may be tried (again) from this time on.
    Ready {
        /// From when on.
        at: Time,
    },
    /// An attempt's outcome is not known.
    Lost {
        /// When that was noticed.
        at: Time,
        /// What went wrong.
        message: Box<str>,
        /// How often the destination was asked without an answer that tells.
        probes: u32,
        /// Not to be asked again before; `None`: it has not been asked, or will not be asked again.
        probe_at: Option<Time>,
    },
    /// The destination was asked whether it is there.
    Probed {
        /// Whether it was; `None`: it could not tell.
        found: Option<bool>,
        /// What it said.
        evidence: Value,
        /// An attempt's outcome was not known before.
        lost: bool,
    },
    /// Somebody else is at it.
    Busy {
        /// When to look again.
        until: Time,
        /// Since when it waits.
        since: Time,
    },
    /// A person has to decide.
    Parked {
        /// Why.
        why: Box<str>,
        /// The effect that is in review.
        effect: Option<(Box<str>, Box<str>)>,
    },
    /// A person decided: it is to be looked at again.
    Resumed,
    /// Its inner steps go on; of a `switch`, those of this case.
    Entered {
        /// Which case.
        case: Option<u32>,
        /// A `lock`: the grant, to be given back at the end.
        grant: Option<Grant>,
    },
    /// It waits for other runs.
    Spawned(Spawned),
    /// Those runs are over.
    Returned(Spawned),
    /// It happened.
    Done(Value),
    /// It was passed over.
    Skipped,
    /// It has finally failed.
    GaveUp,
    /// It rests until this time at the most.
    Waiting {
        /// Fixed when its turn came.
        until: Time,
        /// What for.
        what: WaitsFor,
    },
    /// Its event is out; those that wait for it are to be told.
    Emitted(Box<Emitted>),
    /// People were asked for leave.
    Requested(Box<Gate>),
}

impl State {
    /// The state after an opening.
    #[must_use]
    pub fn opened(opening: Opening) -> State {
        let reuse = opening.again.as_ref().map_or(&[][..], |again| &again.reuse);
        let done = |(step, result): &(Arc<str>, Kept)| {
            (
                Arc::clone(step),
                StepState::new(Phase::Done(result.value())),
            )
        };
        let steps = reuse.iter().map(done).collect();
        let own = opening.again.as_ref().map(|again| again.own.clone());
        State {
            opening,
            steps,
            failure: None,
            cancelled: None,
            undo: false,
            own: own.unwrap_or_default(),
            stopped: None,
            ended: None,
            rests: false,
            early: BTreeMap::new(),
        }
    }

    /// The result of a step that is done.
    #[must_use]
    pub fn result(&self, step: &str) -> Option<&Value> {
        match &self.steps.get(step)?.phase {
            Phase::Done(result) => Some(result),
            _ => None,
        }
    }

    /// What is known of a step.
    #[must_use]
    pub fn phase(&self, step: &str) -> Option<&Phase> {
        self.steps.get(step).map(|state| &state.phase)
    }

    /// Folds one more happening in.
    pub fn apply(&mut self, happening: &Happening) {
        self.rests = rests(happening);
        match happening {
            Happening::Opened(_) | Happening::Woken => {}
            Happening::Cancelled { by, undo } => {
                self.cancelled = Some(by.clone());
                self.undo = *undo;
            }
            Happening::Stopped { step, message } => {
                self.set(step, Phase::Done(Value::Null));
                self.stopped = Some(message.clone());
            }
            Happening::Ended { how, why } => self.ended = Some((*how, why.clone())),
            Happening::GaveUp { step, message } => {
                self.set(step, Phase::GaveUp);
                // After a `stop` the run is over as far as the file goes.
                if self.failure.is_none() && self.stopped.is_none() {
                    self.failure = Some((Arc::clone(step), message.clone()));
                }
            }
            other => self.apply_to_step(other),
        }
    }

    fn apply_to_step(&mut self, happening: &Happening) {
        match happening {
            Happening::Skipped { step } => self.set(step, Phase::Skipped),
            Happening::Entered { step, case } => self.enter(step, *case),
            Happening::Asked {
                step,
                attempt,
                fence,
                scope,
                key,
            } => {
                let grant = Grant {
                    fence: *fence,
                    scope: scope.clone(),
                    key: key.clone(),
                };
                self.set(step, Phase::Asked(grant));
                self.attempted(step, *attempt, None);
            }
            Happening::Done(done) => {
                let Done {
                    step, result, how, ..
                } = &**done;
                if self.is_own(step, how) {
                    self.own.retain(|known| known != step);
                    self.own.push(Arc::clone(step));
                }
                self.set(step, Phase::Done(result.value()));
                self.doubt(step, false, false);
            }
            Happening::Failed(failed) => self.failed(failed),
            Happening::Lost {
                step,
                attempt,
                message,
                at,
                noticed,
            } => {
                let phase = Phase::Lost {
                    at: noticed.unwrap_or(*at),
                    message: message.clone(),
                    probes: 0,
                    probe_at: None,
                };
                self.set(step, phase);
                self.attempted(step, *attempt, Some(*at));
                let maybe = *attempt > 0 || self.steps.get(step).is_some_and(|s| s.maybe);
                self.doubt(step, false, maybe);
            }
            Happening::Probed {
                step,
                found,
                evidence,
                again_at,
            } => self.probed(step, *found, evidence.value(), *again_at),
            Happening::Busy { step, until, since } => {
                let (until, since) = (*until, *since);
                self.set(step, Phase::Busy { until, since });
                self.not_sent(step);
            }
            Happening::Parked { step, why, effect } => {
                let (why, effect) = (why.clone(), effect.clone());
                self.set(step, Phase::Parked { why, effect });
                self.not_sent(step);
            }
            Happening::Resumed { step, by, .. } => {
                self.resume(step);
                self.was_asked(step, by);
            }
            Happening::Spawned(spawned) => {
                self.set(&spawned.step, Phase::Spawned((**spawned).clone()));
            }
            Happening::Returned { step } => {
                if let Some(Phase::Spawned(spawned)) = self.phase(step) {
                    let spawned = spawned.clone();
                    self.set(step, Phase::Returned(spawned));
                }
            }
            Happening::Waits(waits) => self.wait(waits),
            Happening::Requested(asked) => self.requested(asked),
            Happening::CameEarly { step, result } => {
                self.early.insert(Arc::clone(step), result.value());
            }
            Happening::Emitted(emitted) => {
                self.set(&emitted.step, Phase::Emitted(emitted.clone()));
            }
            Happening::Begun { step } => self.begin(step),
            Happening::NotDone { step } => {
                self.set(step, Phase::GaveUp);
                self.doubt(step, false, false);
            }
            _ => {}
        }
    }

    fn set(&mut self, step: &Arc<str>, phase: Phase) {
        match self.steps.get_mut(step) {
            Some(state) => state.phase = phase,
            None => {
                self.steps.insert(Arc::clone(step), StepState::new(phase));
            }
        }
    }

    fn attempted(&mut self, step: &Arc<str>, attempt: u32, at: Option<Time>) {
        if let Some(state) = self.steps.get_mut(step) {
            state.attempts = state.attempts.max(attempt);
            state.first_at = state.first_at.or(at);
        }
    }

    fn enter(&mut self, step: &Arc<str>, case: Option<u32>) {
        let grant = match self.phase(step) {
            Some(Phase::Asked(grant)) => Some(grant.clone()),
            _ => None,
        };
        self.set(step, Phase::Entered { case, grant });
    }

    fn failed(&mut self, failed: &Failed) {
        let at = failed.again_at.unwrap_or(Time::NEVER);
        self.set(&failed.step, Phase::Ready { at });
        self.attempted(&failed.step, failed.attempt, Some(failed.at));
        self.doubt(&failed.step, false, failed.maybe);
    }

    fn probed(
        &mut self,
        step: &Arc<str>,
        found: Option<bool>,
        evidence: Value,
        again_at: Option<Time>,
    ) {
        let phase = match (self.phase(step), again_at) {
            (
                Some(Phase::Lost {
                    at,
                    message,
                    probes,
                    ..
                }),
                Some(again_at),
            ) => Phase::Lost {
                at: *at,
                message: message.clone(),
                probes: probes + 1,
                probe_at: Some(again_at),
            },
            (before, _) => Phase::Probed {
                found,
                evidence,
                lost: matches!(before, Some(Phase::Lost { .. })),
            },
        };
        self.set(step, phase);
    }
}

impl StepState {
    fn new(phase: Phase) -> StepState {
        StepState {
            phase,
            attempts: 0,
            first_at: None,
            begun: false,
            maybe: false,
        }
    }
}

/// Whether a run that stops here has nothing under way.
fn rests(happening: &Happening) -> bool {
    match happening {
        Happening::Busy { .. }
        | Happening::Parked { .. }
        | Happening::Spawned(_)
        | Happening::Waits(_)
        | Happening::Ended { .. } => true,
        Happening::Failed(failed) => failed.again_at.is_some(),
        Happening::Probed { again_at, .. } => again_at.is_some(),
        _ => false,
    }
}
