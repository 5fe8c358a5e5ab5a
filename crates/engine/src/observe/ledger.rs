//! What the ledger's answers and entries mean for a step.

use std::sync::Arc;

use semel_act::{Answer, Failure, FailureClass};
use semel_flow::Value;
use semel_flow::model::Step;
use semel_ledger::{Millis, State as EffectState, Time, Verdict};
use semel_store::Record;
use semel_store::run::RunId;

use super::{Attempt, after_failure, still_maybe, usage_of, whole};
use crate::decide::{BUSY_PAUSE, Scene, lookup};
use crate::journal::{Again, Done, Happening, How, Kept};
use crate::places;
use crate::state::State;

/// A claim that was refused.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// How.
    pub verdict: Verdict,
    /// What stands in the ledger.
    pub record: Option<&'a Record>,
    /// The recorded result.
    pub text: Option<&'a str>,
    /// The destination was asked already, or cannot be: the rule had the last word.
    pub by_rule: bool,
    /// Since when the step waits for somebody else.
    pub since: Option<Time>,
}

/// What a refused claim means for the step.
#[must_use]
pub fn refused(
    scene: &Scene<'_>,
    state: &State,
    step: &Step,
    refusal: &Refusal<'_>,
) -> (Happening, Vec<Vec<u8>>) {
    let name = places::name(step);
    let mut contents = Vec::new();
    let Refusal {
        verdict,
        record,
        text,
        by_rule,
        since,
    } = *refusal;
    let happening = match verdict {
        Verdict::Done => match not_as_done(scene, state, step, record) {
            Some(why) => Happening::Parked {
                step: name,
                why: why.into(),
                effect: record.map(effect_of),
            },
            None => match whole::result(scene, state, step, &recorded(text)) {
                Ok(value) => reused(scene, state, name, (record, value), &mut contents),
                Err(message) => Happening::GaveUp {
                    step: name,
                    message: message.into(),
                },
            },
        },
        Verdict::Conflict => Happening::Parked {
            step: name,
            why: "this key stood for another input before".into(),
            effect: record.map(effect_of),
        },
        Verdict::Unknown => match lookup(step).filter(|_| !by_rule) {
            Some(_) => Happening::Lost {
                step: name,
                attempt: own_attempt(scene, state, record),
                message: "an earlier attempt's outcome is unknown".into(),
                at: record.map_or(scene.now, |record| record.entry.changed_at),
                noticed: None,
            },
            None => Happening::Parked {
                step: name,
                why: "nobody knows whether it happened".into(),
                effect: record.map(effect_of),
            },
        },
        _ => Happening::Busy {
            step: name,
            until: scene.now.after(BUSY_PAUSE),
            since: since.unwrap_or(scene.now),
        },
    };
    (happening, contents)
}

fn effect_of(record: &Record) -> (Box<str>, Box<str>) {
    let effect = &record.effect;
    (effect.scope.as_str().into(), effect.key.as_str().into())
}

/// Whether this run, or one that it does again, is who the ledger names.
pub(crate) fn is_mine(scene: &Scene<'_>, state: &State, by: &str) -> bool {
    let before = state.opening.again.as_ref();
    let earlier = |again: &Again| *again.of == *by || again.earlier.iter().any(|run| **run == *by);
    *scene.identity.id == *by || before.is_some_and(earlier)
}

/// The number of a lost attempt, if it is one of this run's; 0 for anybody else's.
fn own_attempt(scene: &Scene<'_>, state: &State, record: Option<&Record>) -> u32 {
    let mine = |record: &&Record| {
        let by = record.by.as_deref();
        by.is_some_and(|by| is_mine(scene, state, by))
    };
    record.filter(mine).map_or(0, |record| record.entry.attempt)
}

/// Why what the ledger has as done must not be taken as done by this step.
fn not_as_done(
    scene: &Scene<'_>,
    state: &State,
    step: &Step,
    record: Option<&Record>,
) -> Option<String> {
    let record = record?;
    let by = record.by.as_deref().unwrap_or("an earlier claim");
    if record.entry.state == EffectState::Undone {
        return Some(format!(
            "it was done by {by} and taken back; this key is used up"
        ));
    }
    // An effect is taken back once. What the ledger keeps no effect of can be done again under the
    // same key, and then an earlier undo says nothing.
    let of = places::find(scene.flow, step.takes_back()?)?;
    let others = RunId::parse(by).is_some() && !is_mine(scene, state, by);
    (others && !of.class().has_effect())
        .then(|| format!("{by} took it back before, under the same key"))
}

/// What a done effect of another run, or of this one, means for a step.
pub(crate) fn reused(
    scene: &Scene<'_>,
    state: &State,
    step: Arc<str>,
    (record, value): (Option<&Record>, Value),
    contents: &mut Vec<Vec<u8>>,
) -> Happening {
    let by = record.and_then(|record| record.by.clone());
    let by = by.unwrap_or_else(|| "an earlier claim".into());
    let mine = is_mine(scene, state, &by);
    Happening::Done(Box::new(Done {
        how: if mine {
            How::TakenOver(by)
        } else {
            How::Reused(by)
        },
        effect: record.map(effect_of),
        ..Done::plain(step, Kept::new(value, contents))
    }))
}

/// What the ledger knows of a claim that was asked for before the run was last put down.
#[must_use]
pub fn inspected(
    scene: &Scene<'_>,
    state: &State,
    attempt: &Attempt<'_>,
    mine: bool,
    record: Option<&Record>,
    text: Option<&str>,
) -> (Vec<Happening>, Vec<Vec<u8>>) {
    let step = attempt.step;
    let name = places::name(step);
    let Some(record) = record.filter(|_| mine) else {
        // It was never granted: ask again.
        let ready = Happening::Resumed {
            step: name,
            by: "semel".into(),
            note: Some("the claim was not granted".into()),
        };
        return (vec![ready], Vec::new());
    };
    let number = state.steps.get(&name).map_or(1, |step| step.attempts);
    let mut contents = Vec::new();
    let happenings = match record.entry.state {
        EffectState::Done | EffectState::Undone => {
            let kept = recorded(text);
            vec![match whole::result(scene, state, step, &kept) {
                Ok(value) => Happening::Done(Box::new(Done {
                    attempt: Some(number),
                    usage: usage_of(step, Some(&kept)),
                    ..Done::plain(name, Kept::new(value, &mut contents))
                })),
                Err(message) => Happening::GaveUp {
                    step: name,
                    message: message.into(),
                },
            }]
        }
        EffectState::Failed => {
            let failure = failure_of(record, text);
            let maybe = still_maybe(state, step, true);
            after_failure(scene, state, attempt, number, &failure, maybe)
        }
        EffectState::Released => vec![Happening::Resumed {
            step: name,
            by: "semel".into(),
            note: Some("the claim was given back".into()),
        }],
        EffectState::Claimed | EffectState::Unknown | EffectState::Review => {
            let message = record
                .note
                .as_deref()
                .unwrap_or("the server died during the act");
            vec![Happening::Lost {
                step: name,
                attempt: number,
                message: message.into(),
                at: record.entry.changed_at,
                noticed: None,
            }]
        }
    };
    (happenings, contents)
}

/// A result as the ledger keeps it; others than this engine may have written it, with spaces.
pub(crate) fn recorded(text: Option<&str>) -> Value {
    let value = text.and_then(|text| Value::read(text.as_bytes()).ok());
    value.unwrap_or(Value::Null)
}

fn failure_of(record: &Record, text: Option<&str>) -> Failure {
    let told = recorded(text);
    let member = |name: &str| told.get(name).cloned();
    let class = member("class").and_then(|class| FailureClass::named(class.as_text()?));
    let after = match member("retry_after_ms") {
        Some(Value::Int(millis)) => u64::try_from(millis).ok().map(Millis),
        _ => None,
    };
    Failure {
        class: class.unwrap_or(FailureClass::Refused),
        message: record.note.as_deref().unwrap_or("it failed").to_owned(),
        retry_after: after,
        answer: member("answer").map(|names| Answer {
            result: names.clone(),
            names,
        }),
    }
}
