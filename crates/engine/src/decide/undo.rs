//! Going back: what a run that has failed, or was cancelled so, takes back, and in which order.
//!
//! Strictly backwards, one at a time. A step whose outcome nobody knows comes first: until that is
//! settled nothing that was done before it is taken back. An undo is a step like any other
//! ([`Step::undone_by`]); only its failure does not end anything but waits for a person.

use semel_flow::Value;
use semel_flow::model::Step;
use semel_ledger::Time;

use super::{Decider, Look, Move, lookup, wait};
use crate::decide::recover::MAX_PROBES;
use crate::places::{self, Open};
use crate::state::{Phase, StepState};
use crate::{read, resolve};
use semel_store::run::RunState;

/// What there is to do on the way back.
pub(super) enum Back<'f> {
    /// These steps' outcomes are not known.
    Settle(Vec<&'f Step>),
    /// This undo is next.
    Undo(&'f Step),
    /// Everything is taken back.
    Over,
}

/// How a step is looked at.
pub(super) enum Way {
    /// To do it.
    Forward,
    /// To know whether it happened.
    Settle,
}

impl<'f> Back<'f> {
    /// The steps that are to be looked at for it.
    pub(super) fn open(self) -> Vec<(Way, Open<'f>)> {
        match self {
            Back::Settle(steps) => {
                let open = steps
                    .into_iter()
                    .map(|step| (Way::Settle, Open::Step(step)));
                open.collect()
            }
            Back::Undo(step) => vec![(Way::Forward, Open::Step(step))],
            Back::Over => Vec::new(),
        }
    }
}

impl<'a> Decider<'_, 'a> {
    /// Whether the run goes back.
    pub(super) fn goes_back(&self) -> bool {
        match &self.state.cancelled {
            Some(_) => self.state.undo,
            None => self.state.failure.is_some(),
        }
    }

    /// What is next on the way back.
    pub(super) fn back(&self) -> Back<'a> {
        let flow = self.scene.flow;
        let unsettled: Vec<&Step> = self
            .state
            .steps
            .iter()
            .filter(|(_, known)| is_unsettled(known))
            .filter_map(|(id, _)| places::undoable(flow, id))
            .collect();
        if !unsettled.is_empty() {
            return Back::Settle(unsettled);
        }
        let mut own = self.state.own.iter().rev();
        let next = own.find_map(|id| {
            let undo = places::undoable(flow, id)?.undo.as_deref()?;
            let done = self.state.result(&undo.id.it).is_some();
            (!done).then_some(undo)
        });
        next.map_or(Back::Over, Back::Undo)
    }

    /// Finds out whether a step happened, without ever doing it.
    pub(super) fn settle(&mut self, step: &Step) -> Look {
        let Some(known) = self.state.steps.get(step.id.it.as_str()) else {
            return wait(RunState::Running, "running".to_owned(), None);
        };
        let now = self.scene.now;
        match known.phase.clone() {
            Phase::Asked(_) | Phase::Spawned(_) | Phase::Returned(_) => {
                self.look(&Open::Step(step))
            }
            Phase::Parked {
                why,
                effect: Some(_),
            } => wait(RunState::Parked, format!("{}: {why}", step.id.it), None),
            Phase::Busy { until, .. } if until > now => {
                let why = format!("{}: somebody else is at it", step.id.it);
                wait(RunState::Waiting, why, Some(until))
            }
            Phase::Resumed
            | Phase::Busy { .. }
            | Phase::Probed {
                found: None,
                lost: true,
                ..
            } => self.ask_ledger(step),
            Phase::Lost {
                at,
                probes,
                probe_at,
                ..
            } => self.look_up(step, at, probes, probe_at),
            Phase::Probed {
                found: Some(found),
                evidence,
                lost: true,
            } => self.found_out(step, found, &evidence),
            _ if resolve::is_kv(step) => self.ask_ledger(step),
            // It may have been sent, and the ledger does not know of it yet.
            _ => self.file(step),
        }
    }

    fn look_up(&mut self, step: &Step, at: Time, probes: u32, probe_at: Option<Time>) -> Look {
        let Some((probe, settle)) = lookup(step).filter(|_| probes < MAX_PROBES) else {
            return self.ask_ledger(step);
        };
        let due = probe_at.unwrap_or_else(|| at.after(settle));
        if due > self.scene.now {
            return Self::unknown(step, "the answer was lost; it will be looked up", Some(due));
        }
        match self.question(step, &probe.act) {
            Ok(call) => Look::Do(Move::Ask(Box::new(call))),
            Err(_) => self.ask_ledger(step),
        }
    }

    fn found_out(&mut self, step: &Step, found: bool, evidence: &Value) -> Look {
        let expr = lookup(step).and_then(|(probe, _)| probe.result.as_ref());
        // It is there, whether its result can be read or not.
        let result = read::result(expr.filter(|_| found), evidence, &self.names(&[]));
        self.conclude(step, found, result.unwrap_or(Value::Null))
    }

    /// The ledger knows what a lookup, a person or another run has said.
    fn ask_ledger(&mut self, step: &Step) -> Look {
        match self.effect_id(step) {
            Ok(effect) => Look::Do(Move::Settle {
                step: places::name(step),
                effect,
            }),
            Err(error) => Self::cannot_tell(step, &error.to_string()),
        }
    }

    fn file(&mut self, step: &Step) -> Look {
        let attempt = self.next_attempt(step);
        let Some(act) = resolve::main_act(step) else {
            return Self::cannot_tell(step, "there is nothing that could be asked");
        };
        let call = resolve::filed(self.scene.flow, step, act, &self.names(&[]), attempt);
        match call {
            Ok(call) => Look::Do(Move::Forgotten {
                step: places::name(step),
                call: Box::new(call),
                since: self.scene.last_row_at,
            }),
            Err(error) => Self::cannot_tell(step, &error.to_string()),
        }
    }

    /// Nothing on record names it: all that is left is to wait for a person to end the run.
    fn cannot_tell(step: &Step, why: &str) -> Look {
        let why = format!("{}: it may have happened: {why}", step.id.it);
        wait(RunState::Parked, why, None)
    }

    /// The steps that were taken back, in the order in which they were.
    pub(super) fn taken_back(&self) -> Vec<&'a str> {
        let undone = |id: &std::sync::Arc<str>| {
            let undo = places::undoable(self.scene.flow, id)?.undo.as_deref()?;
            self.state.result(&undo.id.it)?;
            undo.takes_back()
        };
        self.state.own.iter().rev().filter_map(undone).collect()
    }
}

/// Whether a step may have happened without anybody having said so.
fn is_unsettled(known: &StepState) -> bool {
    match &known.phase {
        Phase::Done(_) | Phase::Skipped => false,
        Phase::Asked(_) => true,
        Phase::Spawned(spawned) | Phase::Returned(spawned) => spawned.run.is_some(),
        _ => known.maybe || known.begun,
    }
}
