//! What a step does when its turn has come.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::expr::{Expr, Template};
use semel_flow::model::{Act, Action, Case, Class, Kind, Step, Tree};
use semel_ledger::{EffectId, Fence, Key, Millis, Scope};
use semel_store::planted::{self, Bug};
use semel_store::run::RunState;

use super::{Decider, Look, Move, wait};
use crate::journal::{Done, Happening, How, Kept};
use crate::kv;
use crate::places;
use crate::resolve::{self, Call, ResolveError};
use crate::state::Phase;

/// The scope of every lock; its key is the lock's name.
const LOCK_SCOPE: &str = "lock";

/// Why a value with a secret in it is refused where values are kept.
pub(crate) const KEPT_SECRET: &str =
    "a secret cannot be kept; write `secrets.NAME` where it is sent";

/// Only where a test has planted that.
fn skips_claim(step: &Step) -> bool {
    let undoes = step.takes_back().is_some();
    planted::is(Bug::SkipClaim) || (undoes && planted::is(Bug::UndoUnclaimed))
}

impl Decider<'_, '_> {
    /// Its turn has come for the first time.
    pub(super) fn begin_first(&mut self, step: &Step) -> Look {
        if let Some(when) = &step.when {
            match self.is_true(when) {
                Ok(true) => {}
                Ok(false) => {
                    let step = places::name(step);
                    return self.note(Happening::Skipped { step });
                }
                Err(message) => return self.give_up(step, &format!("if: {message}")),
            }
        }
        self.begin(step)
    }

    pub(super) fn begin(&mut self, step: &Step) -> Look {
        match &step.action {
            Action::Act(act) => self.begin_act(step, act),
            Action::Ensure(ensure) => {
                let question = self.question(step, &ensure.find.act);
                self.or_give_up(step, question, |call| Move::Ask(Box::new(call)))
            }
            Action::Set(members) => self.set(step, members),
            Action::Switch { cases, .. } => self.switch(step, cases),
            Action::Parallel(_) => self.note(Happening::Entered {
                step: places::name(step),
                case: None,
            }),
            Action::ForEach(_) | Action::Call { .. } | Action::Emit { .. } => {
                Look::Do(Move::Spawn {
                    step: places::name(step),
                })
            }
            Action::Lock { name, wait, .. } => self.lock(step, name, wait.as_ref().map(|w| w.it)),
            Action::Stop { message } => self.stop(step, message.as_ref()),
            Action::Fail { message } => match self.text(message) {
                Ok(message) | Err(message) => self.give_up(step, &message),
            },
            Action::Wait(wait) => self.begin_wait(step, wait),
            Action::Approve(approve) => self.begin_approve(step, approve),
        }
    }

    fn begin_act(&mut self, step: &Step, act: &Arc<Act>) -> Look {
        match self.call(step, act) {
            Err(error) => self.give_up(step, &error.to_string()),
            Ok(call) if act.kind == Kind::Kv => match kv::asked(act, &call.task.input) {
                Ok(asked) => Look::Do(Move::Kv {
                    call: Box::new(call),
                    asked,
                }),
                Err(message) => self.give_up(step, &message),
            },
            Ok(call) => match call.task.class {
                Class::Guarded if skips_claim(step) => Look::Do(Move::Perform(Box::new(call))),
                Class::Guarded => Look::Do(Move::Claim(Box::new(call))),
                Class::Keyed => self.begin_keyed(step, call),
                Class::Pure | Class::Read | Class::Set => Look::Do(Move::Perform(Box::new(call))),
            },
        }
    }

    /// The destination dedupes on our key, as long as it remembers it.
    fn begin_keyed(&mut self, step: &Step, call: Call) -> Look {
        let now = self.scene.now;
        let first_at = self.state.steps.get(&call.step).and_then(|s| s.first_at);
        if self.state.rests && first_at.is_none() {
            // From here on it may be under way; the record of that must be younger than the act.
            return self.note(Happening::Woken);
        }
        let Some(window) = window(&call) else {
            return Look::Do(Move::Perform(Box::new(call)));
        };
        let since = first_at.unwrap_or(self.scene.last_row_at);
        let maybe_sent = first_at.is_some() || !self.state.rests;
        if maybe_sent && now.since(since) >= window {
            let step = places::name(step);
            return Look::Do(Move::Forgotten {
                step,
                call: Box::new(call),
                since,
            });
        }
        Look::Do(Move::Perform(Box::new(call)))
    }

    fn set(
        &mut self,
        step: &Step,
        members: &[(semel_flow::diagnostic::Spanned<String>, Tree)],
    ) -> Look {
        let mut values = Vec::with_capacity(members.len());
        for (name, tree) in members {
            match tree.render(&self.names(&[])) {
                Ok(value) if value.hides_secret() => {
                    return self.give_up(step, &format!("set.{}: {KEPT_SECRET}", name.it));
                }
                Ok(value) => values.push((name.it.as_str(), value)),
                Err(error) => return self.give_up(step, &format!("set.{}: {error}", name.it)),
            }
        }
        self.done(step, Value::map(values), How::Act)
    }

    fn switch(&mut self, step: &Step, cases: &[Case]) -> Look {
        let mut chosen = cases.len();
        for (index, case) in cases.iter().enumerate() {
            match self.is_true(&case.when) {
                Ok(true) => {
                    chosen = index;
                    break;
                }
                Ok(false) => {}
                Err(message) => {
                    return self.give_up(step, &format!("case {}: {message}", index + 1));
                }
            }
        }
        self.note(Happening::Entered {
            step: places::name(step),
            case: u32::try_from(chosen).ok(),
        })
    }

    fn lock(&mut self, step: &Step, name: &Template, limit: Option<Millis>) -> Look {
        let now = self.scene.now;
        if let Some(Phase::Busy { since, .. }) = self.state.phase(&step.id.it)
            && limit.is_some_and(|limit| now.since(*since) >= limit)
        {
            let waited = now.since(*since);
            return self.give_up(step, &format!("the lock was not free within {waited}"));
        }
        let effect = match lock_id(name.key(&self.names(&[]))) {
            Ok(effect) => effect,
            Err(message) => return self.give_up(step, &format!("lock: {message}")),
        };
        let fence = Fence(self.draw());
        Look::Do(Move::Lock {
            step: places::name(step),
            effect,
            fence,
        })
    }

    fn stop(&mut self, step: &Step, message: Option<&Template>) -> Look {
        let message = message.map_or(Ok("stopped".to_owned()), |message| self.text(message));
        match message {
            Ok(message) => self.note(Happening::Stopped {
                step: places::name(step),
                message: message.into(),
            }),
            Err(message) => self.give_up(step, &format!("stop: {message}")),
        }
    }

    /// The steps inside a step have all ended.
    pub(super) fn complete(&mut self, step: &Step) -> Look {
        if let Some(Phase::Entered {
            grant: Some(grant), ..
        }) = self.state.phase(&step.id.it)
        {
            return Look::Do(Move::Unlock {
                step: places::name(step),
                grant: grant.clone(),
            });
        }
        let result = match &step.result {
            None => Value::Null,
            Some(result) => match result.eval(&self.names(&[])) {
                Ok(value) => value,
                Err(error) => return self.give_up(step, &format!("result: {error}")),
            },
        };
        self.done(step, result, How::Act)
    }

    pub(super) fn done(&mut self, step: &Step, result: Value, how: How) -> Look {
        let result = Kept::new(result, &mut self.decision.contents);
        self.note(Happening::Done(Box::new(Done {
            how,
            ..Done::plain(places::name(step), result)
        })))
    }

    /// The call of a step, as its next attempt.
    pub(super) fn call(&self, step: &Step, act: &Arc<Act>) -> Result<Call, ResolveError> {
        let attempt = self.next_attempt(step);
        let call = resolve::call(self.scene.flow, step, act, &self.names(&[]), attempt)?;
        resolve::identified(call, self.steps)
    }

    pub(super) fn question(&self, step: &Step, act: &Arc<Act>) -> Result<Call, ResolveError> {
        resolve::question(self.scene.flow, step, act, &self.names(&[]))
    }

    pub(super) fn or_give_up(
        &mut self,
        step: &Step,
        call: Result<Call, ResolveError>,
        make: impl FnOnce(Call) -> Move,
    ) -> Look {
        match call {
            Ok(call) => Look::Do(make(call)),
            Err(error) => self.give_up(step, &error.to_string()),
        }
    }

    pub(super) fn next_attempt(&self, step: &Step) -> u32 {
        let known = self.state.steps.get(step.id.it.as_str());
        known.map_or(0, |step| step.attempts) + 1
    }

    fn is_true(&self, expr: &Expr) -> Result<bool, String> {
        expr.holds(&self.names(&[]))
            .map_err(|error| error.to_string())
    }

    fn text(&self, template: &Template) -> Result<String, String> {
        let rendered = template.render(&self.names(&[]));
        rendered
            .map(|value| value.shown())
            .map_err(|error| error.to_string())
    }

    /// Nothing is to be done before mail comes.
    pub(super) fn unknown(step: &Step, why: &str, wake: Option<semel_ledger::Time>) -> Look {
        wait(RunState::Unknown, format!("{}: {why}", step.id.it), wake)
    }
}

/// For how long the destination remembers our key.
pub(crate) fn window(call: &Call) -> Option<Millis> {
    let window = call.task.input.get("idempotency")?.get("window")?;
    window.as_text()?.parse().ok()
}

fn lock_id(key: Result<Key, semel_flow::expr::KeyFault>) -> Result<EffectId, String> {
    let key = key.map_err(|fault| fault.to_string())?;
    let scope = Scope::new(LOCK_SCOPE).map_err(|error| error.to_string())?;
    Ok(EffectId::new(scope, key))
}
