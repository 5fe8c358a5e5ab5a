//! Steps that rest until a time or something from outside has come.
//!
//! The time is worked out once, when their turn comes, and written down; from then on only that counts.

use std::sync::Arc;

use jiff::Timestamp;
use semel_flow::Value;
use semel_flow::expr::Expr;
use semel_flow::model::{Action, OnTimeout, Patience, Step, Wait};
use semel_ledger::{Millis, Time};
use semel_store::run::RunState;

use super::{Decider, Look, Move, wait};
use crate::journal::{Happening, How, Waits, WaitsFor};
use crate::places;
use crate::state::Phase;

/// How far ahead a time may lie.
const MAX_AHEAD: Millis = Millis::days(3660);

impl Decider<'_, '_> {
    /// What was emitted is out: whoever waits for it is told, whatever became of the run since.
    pub(super) fn untold(&self) -> Vec<Move> {
        let steps = self.state.steps.iter();
        let out = steps.filter(|(_, step)| matches!(step.phase, Phase::Emitted(_)));
        out.map(|(id, _)| Move::Announce {
            step: Arc::clone(id),
        })
        .collect()
    }

    pub(super) fn begin_wait(&mut self, step: &Step, what: &Wait) -> Look {
        let now = self.scene.now;
        match what {
            Wait::For(span) => self.wait_until(step, now.after(*span), WaitsFor::Time),
            Wait::Until(until) => match self.time(until) {
                Ok(until) => self.wait_until(step, until, WaitsFor::Time),
                Err(message) => self.give_up(step, &format!("wait.until: {message}")),
            },
            Wait::Callback(patience) => match self.state.early.get(step.id.it.as_str()) {
                Some(result) => {
                    let result = result.clone();
                    self.done(step, result, How::Arrived)
                }
                None => self.wait_until(step, now.after(patience.timeout), WaitsFor::Callback),
            },
            Wait::ForEvent(it) => Look::Do(Move::Listen {
                step: places::name(step),
                until: now.after(it.patience.timeout),
            }),
        }
    }

    fn wait_until(&mut self, step: &Step, until: Time, what: WaitsFor) -> Look {
        self.note(Happening::Waits(Box::new(Waits {
            step: places::name(step),
            until,
            what,
        })))
    }

    /// A step that rests: its time has come, or not yet.
    pub(super) fn waiting(&mut self, step: &Step, until: Time, what: WaitsFor) -> Look {
        if until > self.scene.now {
            let why = format!("{}: {}", step.id.it, why(until, what));
            return wait(RunState::Waiting, why, Some(until));
        }
        match what {
            WaitsFor::Time => self.done(step, Value::Null, How::Arrived),
            WaitsFor::Callback | WaitsFor::Event | WaitsFor::Approval => Look::Do(Move::Expire {
                step: places::name(step),
            }),
        }
    }

    /// The time that an expression gives.
    fn time(&self, expr: &Expr) -> Result<Time, String> {
        let value = expr.eval(&self.names(&[]));
        let value = value.map_err(|error| error.to_string())?;
        let time = match &value {
            Value::Time(time) => *time,
            Value::Text(text) => {
                let time = text.parse::<Timestamp>().map_err(|_| {
                    let shown: String = text.chars().take(64).collect();
                    format!("{shown:?} is no time; write it as 2026-12-24T18:00:00Z")
                })?;
                Time(time.as_millisecond())
            }
            other => {
                return Err(format!(
                    "`{}` is {}, not a time; timestamp(\"2026-12-24T18:00:00Z\") is one",
                    expr.source.trim(),
                    other.kind()
                ));
            }
        };
        if time > self.scene.now.after(MAX_AHEAD) {
            let shown = shown(time);
            return Err(format!("{shown} is more than {MAX_AHEAD} ahead"));
        }
        Ok(time)
    }
}

/// What becomes of a step for which nothing came in time.
pub(crate) fn on_timeout(step: &Step) -> OnTimeout {
    patience(step).map_or(OnTimeout::Fail, |patience| patience.then)
}

/// How long a step waits for something from outside.
pub(crate) fn patience(step: &Step) -> Option<Patience> {
    match &step.action {
        Action::Wait(Wait::Callback(patience)) => Some(*patience),
        Action::Wait(Wait::ForEvent(it)) => Some(it.patience),
        _ => None,
    }
}

fn why(until: Time, what: WaitsFor) -> String {
    let until = shown(until);
    match what {
        WaitsFor::Time => format!("waits until {until}"),
        WaitsFor::Callback => format!("waits for its callback until {until}"),
        WaitsFor::Event => format!("waits for an event until {until}"),
        WaitsFor::Approval => format!("waits for an answer until {until}"),
    }
}

/// A time for people.
pub(super) fn shown(Time(millis): Time) -> String {
    let time = Timestamp::from_millisecond(millis);
    time.map_or_else(|_| format!("{millis} ms"), |time| time.to_string())
}
