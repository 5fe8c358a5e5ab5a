//! What came of a move, in happenings.
//!
//! Owns reading outcomes, verdicts and ledger entries: which of them means done, try again, find
//! out, or ask a person. Pure; the worker writes what is said here in one commit.

mod ledger;
mod whole;

use std::sync::Arc;

use semel_act::{Answer, Failure, FailureClass, Outcome};
use semel_flow::Value;
use semel_flow::model::{Action, Class, GiveUp, OnUnknown, Step};
use semel_ledger::{Millis, Time};
use semel_store::planted::{self, Bug};

use crate::decide::{Scene, gave_up, lookup, names, policy, window};
use crate::journal::{Done, Failed, Happening, Kept, Usage};
use crate::places;
use crate::read;
use crate::resolve::Call;
use crate::retry::{self, Tried};
use crate::state::State;
use crate::token;

pub use ledger::{Refusal, inspected, refused};
pub(crate) use ledger::{is_mine, recorded, reused};
pub(crate) use whole::result as result_of;

/// How an act ended, as the ledger and the journal are told.
#[derive(Debug)]
pub struct Seen {
    /// What the ledger is told; `None` for steps that have no effect in it.
    pub settle: Option<Settlement>,
    /// What the journal is told.
    pub happenings: Vec<Happening>,
    /// Long values that the happenings refer to.
    pub contents: Vec<Vec<u8>>,
}

/// What the ledger is told of an act.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// How it ended.
    pub outcome: semel_ledger::Outcome,
    /// What came of it, as JSON text.
    pub result: Option<Box<str>>,
    /// Why, for people.
    pub note: Option<Box<str>>,
}

/// One attempt that has ended.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// The step.
    pub step: &'a Step,
    /// When it began.
    pub began: Time,
    /// A random number for jitter.
    pub random: u64,
}

/// Reads the outcome of an attempt.
#[must_use]
pub fn outcome(
    scene: &Scene<'_>,
    state: &State,
    attempt: &Attempt<'_>,
    call: &Call,
    outcome: &Outcome,
) -> Seen {
    match outcome {
        Outcome::Done(answer) => done(scene, state, attempt, call, answer),
        Outcome::Failed(failure) => failed(scene, state, attempt, call, failure),
        Outcome::Unknown {
            message,
            evidence: Some(_),
        } if planted::is(Bug::WrongIsNo) => {
            let failure = Failure {
                class: FailureClass::Transient,
                message: message.clone(),
                retry_after: None,
                answer: None,
            };
            failed(scene, state, attempt, call, &failure)
        }
        Outcome::Unknown { message, .. } => lost(scene, state, attempt, call, message),
    }
}

fn done(
    scene: &Scene<'_>,
    state: &State,
    attempt: &Attempt<'_>,
    call: &Call,
    answer: &Answer,
) -> Seen {
    let step = attempt.step;
    let expr = match &step.action {
        Action::Ensure(ensure) => ensure.create.result.as_ref().or(step.result.as_ref()),
        _ => step.result.as_ref(),
    };
    let read = match expr {
        None => Ok(answer.result.clone()),
        Some(_) => read::result(expr, &answer.names, &names(scene, state, &[])),
    };
    let mut contents = Vec::new();
    let (result, wrong) = match read {
        Ok(result) => (result, None),
        // It happened; only what later steps wanted of it is not there.
        Err(error) => (answer.result.clone(), Some(format!("result: {error}"))),
    };
    let is_whole = whole::main_name(step).is_some();
    let kept = if is_whole { &answer.names } else { &result };
    let settle = call.effect.as_ref().map(|_| Settlement {
        outcome: semel_ledger::Outcome::Done,
        result: Some(kept.to_json().into()),
        note: wrong.as_deref().map(Into::into),
    });
    let mut happenings = vec![Happening::Done(Box::new(Done {
        attempt: Some(call.task.attempt),
        took: Some(scene.now.since(attempt.began).0),
        input: input_of(call, &mut contents),
        usage: usage_of(step, Some(&answer.names)),
        ..Done::plain(Arc::clone(&call.step), Kept::new(result, &mut contents))
    }))];
    happenings.extend(wrong.map(|message| gave_up(step, &message)));
    Seen {
        settle,
        happenings,
        contents,
    }
}

/// What an answer took, if it is of a kind that is paid for.
fn usage_of(step: &Step, answer: Option<&Value>) -> Option<Box<Usage>> {
    whole::main_name(step)?;
    Usage::of(answer?).map(Box::new)
}

/// What was asked, where the ledger does not keep it.
fn input_of(call: &Call, contents: &mut Vec<Vec<u8>>) -> Option<Kept> {
    let kept = call.effect.is_none();
    kept.then(|| Kept::new(without_links(&call.task.input), contents))
}

/// The same without what makes links to runs good: whoever reads a history must not be able to use them.
fn without_links(value: &Value) -> Value {
    match value {
        Value::Text(text) => {
            token::masked(text).map_or_else(|| value.clone(), |it| Value::text(&it))
        }
        Value::List(items) => Value::list(items.iter().map(without_links).collect()),
        Value::Map(members) => {
            let members = members.iter();
            Value::map(members.map(|(name, it)| (Arc::clone(name), without_links(it))))
        }
        other => other.clone(),
    }
}

fn failed(
    scene: &Scene<'_>,
    state: &State,
    attempt: &Attempt<'_>,
    call: &Call,
    failure: &Failure,
) -> Seen {
    let maybe = still_maybe(state, attempt.step, claimed(call));
    let settle = claimed(call).then(|| Settlement {
        outcome: semel_ledger::Outcome::Failed,
        result: Some(failure_json(failure, whole::main_name(attempt.step).is_some()).into()),
        note: Some(failure.message.as_str().into()),
    });
    Seen {
        settle,
        happenings: after_failure(scene, state, attempt, call.task.attempt, failure, maybe),
        contents: Vec::new(),
    }
}

/// Whether the step may have happened although its last attempt did nothing. A claim that was granted
/// says that earlier attempts were settled, unless the file wants them repeated unsettled.
fn still_maybe(state: &State, step: &Step, claimed: bool) -> bool {
    let known = state.steps.get(step.id.it.as_str());
    let repeats = step
        .on_unknown
        .as_ref()
        .is_some_and(|rule| rule.it == OnUnknown::Retry);
    known.is_some_and(|known| known.maybe) && (repeats || !claimed)
}

/// Tries again, gives up, or asks, by class and policy.
fn after_failure(
    scene: &Scene<'_>,
    state: &State,
    attempt: &Attempt<'_>,
    number: u32,
    failure: &Failure,
    maybe: bool,
) -> Vec<Happening> {
    let step = attempt.step;
    let policy = policy(scene.flow, step);
    let first_at = state
        .steps
        .get(step.id.it.as_str())
        .and_then(|s| s.first_at);
    let tried = Tried {
        attempts: number,
        first_at: first_at.unwrap_or(attempt.began),
        asked: failure.retry_after,
    };
    // Whoever lost the race to create finds what the other made.
    let refused_create =
        matches!(step.action, Action::Ensure(_)) && failure.class == FailureClass::Refused;
    let may_pass = failure.class.may_pass() || refused_create;
    let again_at = retry::next(&policy, tried, scene.now, attempt.random).filter(|_| may_pass);
    let name = places::name(step);
    let failed = Happening::Failed(Box::new(Failed {
        step: Arc::clone(&name),
        attempt: number,
        class: failure.class,
        message: failure.message.as_str().into(),
        at: attempt.began,
        again_at,
        maybe,
        usage: usage_of(step, failure.answer.as_ref().map(|answer| &answer.names)),
    }));
    if again_at.is_some() {
        return vec![failed];
    }
    let message = if may_pass {
        format!("gave up after {number} attempts: {}", failure.message)
    } else {
        failure.message.clone()
    };
    let last = match policy.then {
        GiveUp::Ask if may_pass => Happening::Parked {
            step: name,
            why: message.into(),
            effect: None,
        },
        GiveUp::Ask | GiveUp::Fail => gave_up(step, &message),
    };
    vec![failed, last]
}

fn lost(
    scene: &Scene<'_>,
    state: &State,
    attempt: &Attempt<'_>,
    call: &Call,
    message: &str,
) -> Seen {
    let step = attempt.step;
    let harmless = match call.task.class {
        Class::Pure | Class::Read | Class::Set => true,
        Class::Keyed => lookup(step).is_none() && remembered(scene, state, attempt, call),
        Class::Guarded => false,
    };
    if harmless {
        let failure = Failure {
            class: FailureClass::Transient,
            message: message.to_owned(),
            retry_after: None,
            answer: None,
        };
        let number = call.task.attempt;
        let maybe = !matches!(call.task.class, Class::Pure | Class::Read);
        return Seen {
            settle: None,
            happenings: after_failure(scene, state, attempt, number, &failure, maybe),
            contents: Vec::new(),
        };
    }
    Seen {
        settle: Some(Settlement {
            outcome: semel_ledger::Outcome::Unknown,
            result: None,
            note: Some(message.into()),
        }),
        happenings: vec![Happening::Lost {
            step: Arc::clone(&call.step),
            attempt: call.task.attempt,
            message: message.into(),
            at: attempt.began,
            noticed: Some(scene.now),
        }],
        contents: Vec::new(),
    }
}

/// Whether the destination will still know our key when it is asked again.
fn remembered(scene: &Scene<'_>, state: &State, attempt: &Attempt<'_>, call: &Call) -> bool {
    let first_at = state.steps.get(&call.step).and_then(|s| s.first_at);
    let since = first_at.unwrap_or(attempt.began);
    let cap = policy(scene.flow, attempt.step).cap;
    window(call).is_none_or(|window| {
        let next = scene.now.after(cap);
        next.since(since) < window
    })
}

/// Whether the ledger holds a claim for this call.
fn claimed(call: &Call) -> bool {
    call.effect.is_some() && call.task.class == Class::Guarded
}

/// A failure as the ledger keeps it; with an answer that was paid for, as evidence.
fn failure_json(failure: &Failure, with_answer: bool) -> String {
    let message = Value::text(&failure.message);
    let class = Value::text(failure.class.name());
    let after = failure.retry_after.map_or(Value::Null, |Millis(millis)| {
        Value::Int(i64::try_from(millis).unwrap_or(i64::MAX))
    });
    let mut told = vec![
        ("class", class),
        ("message", message),
        ("retry_after_ms", after),
    ];
    if let Some(answer) = failure.answer.as_ref().filter(|_| with_answer) {
        told.push(("answer", answer.names.clone()));
    }
    Value::map(told).to_json()
}
