//! What becomes of a step whose outcome nobody knows: it is looked up where it can be, and the
//! rest follows its rule. Never simply repeated.

use semel_flow::Value;
use semel_flow::model::{Action, OnUnknown, Probe, Step};
use semel_ledger::{EffectId, Millis, Time};
use semel_store::planted::{self, Bug};

use super::{Decider, Look, Move};
use crate::journal::How;
use crate::resolve::{self, ResolveError};
use crate::retry::{self, Tried};
use crate::{places, read};

/// How often a destination that gives no answer is asked.
pub(crate) const MAX_PROBES: u32 = 5;

/// How the destination of a step can be asked, and how long it may take to show what it did.
pub(crate) fn lookup(step: &Step) -> Option<(&Probe, Millis)> {
    match (&step.lookup, &step.action) {
        (Some(lookup), _) => Some((&lookup.probe, lookup.settle)),
        (None, Action::Ensure(ensure)) => Some((&ensure.find, ensure.settle)),
        (None, _) => None,
    }
}

impl Decider<'_, '_> {
    pub(super) fn recover(
        &mut self,
        step: &Step,
        at: Time,
        probes: u32,
        probe_at: Option<Time>,
    ) -> Look {
        let Some((probe, settle)) = lookup(step).filter(|_| probes < MAX_PROBES) else {
            return self.by_rule(step, at);
        };
        let due = probe_at.unwrap_or_else(|| at.after(settle));
        if due > self.scene.now && !planted::is(Bug::AskEarly) {
            return Self::unknown(step, "the answer was lost; it will be looked up", Some(due));
        }
        let question = self.question(step, &probe.act);
        self.or_give_up(step, question, |call| Move::Ask(Box::new(call)))
    }

    /// There is nobody to ask, or they could not tell.
    fn by_rule(&mut self, step: &Step, at: Time) -> Look {
        let Some(act) = resolve::main_act(step) else {
            return self.give_up(
                step,
                "its outcome is unknown and there is nothing to repeat",
            );
        };
        let attempt = self.next_attempt(step);
        let mut call = match self.call(step, act) {
            Ok(call) => call,
            Err(error) => return self.give_up(step, &error.to_string()),
        };
        call.by_rule = true;
        if let Some(effect) = call
            .effect
            .as_mut()
            .filter(|_| planted::is(Bug::RetryUnknown))
        {
            effect.on_unknown = OnUnknown::Retry;
        }
        if let Some(effect) = &mut call.effect
            && effect.on_unknown == OnUnknown::Retry
        {
            let tried = Tried {
                attempts: attempt - 1,
                first_at: self
                    .state
                    .steps
                    .get(&call.step)
                    .and_then(|s| s.first_at)
                    .unwrap_or(at),
                asked: None,
            };
            // Half of the longest pause: jitter that is the same whenever it is asked.
            match retry::next(&self.policy(step), tried, at, u64::MAX / 2) {
                Some(again) if again > self.scene.now => {
                    return Self::unknown(
                        step,
                        "the answer was lost; it will be repeated",
                        Some(again),
                    );
                }
                Some(_) => {}
                None => effect.on_unknown = OnUnknown::Ask,
            }
        }
        Look::Do(Move::Claim(Box::new(call)))
    }

    pub(super) fn probed(
        &mut self,
        step: &Step,
        found: Option<bool>,
        evidence: &Value,
        lost: bool,
    ) -> Look {
        let Some((probe, _)) = lookup(step) else {
            return self.give_up(step, "it was looked up, but the file does not say how");
        };
        let result = match found {
            Some(true) => match read::result(probe.result.as_ref(), evidence, &self.names(&[])) {
                Ok(result) => result,
                Err(error) => return self.give_up(step, &format!("lookup.result: {error}")),
            },
            _ => Value::Null,
        };
        match (lost, found) {
            (true, Some(happened)) => {
                let happened = happened || planted::is(Bug::NotThereIsThere);
                self.conclude(step, happened, result)
            }
            (true, None) => self.by_rule(step, self.scene.now),
            (false, Some(true)) => self.found(step, result),
            (false, Some(false)) => self.create(step),
            (false, None) => self.give_up(step, "find: the destination gave no answer that tells"),
        }
    }

    pub(super) fn conclude(&mut self, step: &Step, happened: bool, result: Value) -> Look {
        match self.effect_id(step) {
            Ok(effect) => Look::Do(Move::Conclude {
                step: places::name(step),
                effect,
                happened,
                result,
            }),
            Err(error) => self.give_up(step, &error.to_string()),
        }
    }

    /// The effect of a step, as its calls name it.
    pub(super) fn effect_id(&self, step: &Step) -> Result<EffectId, ResolveError> {
        if let Some(act) = resolve::main_act(step)
            && let Some(effect) = self.call(step, act)?.effect
        {
            return Ok(effect.id);
        }
        resolve::effect_id(self.scene.flow, step, &self.names(&[]))
    }

    /// An `ensure` found its thing.
    fn found(&mut self, step: &Step, result: Value) -> Look {
        let Action::Ensure(ensure) = &step.action else {
            return self.done(step, result, How::LookedUp);
        };
        let Some(update) = &ensure.update else {
            return self.done(step, result, How::LookedUp);
        };
        let more = [("found", result)];
        let call = resolve::question(self.scene.flow, step, &update.act, &self.names(&more));
        self.or_give_up(step, call, |call| Move::Update(Box::new(call)))
    }

    fn create(&mut self, step: &Step) -> Look {
        let Some(act) = resolve::main_act(step) else {
            return self.give_up(step, "there is nothing to create");
        };
        let call = self.call(step, act);
        self.or_give_up(step, call, |call| Move::Claim(Box::new(call)))
    }
}
