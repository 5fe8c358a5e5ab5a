//! The names that expressions may use, before there is a run and in it.
//!
//! Owns what `event`, `request`, `steps`, `run`, `step`, `schedule`, `item`, `failure` and the flow's
//! own `let` names stand for at one moment of one run. The time and the randomness are the caller's.

use std::cell::Cell;
use std::sync::Arc;

use jiff::Timestamp;
use semel_flow::expr::{Expr, Names};
use semel_flow::model::{Action, Flow};
use semel_flow::{Value, value::Piece};
use semel_ledger::Time;
use semel_store::run::RunId;

use crate::journal::{Headers, Opening, Origin};
use crate::places;
use crate::state::State;
use crate::token::Links;

/// What a run is called.
#[derive(Clone, Debug)]
pub struct Identity {
    /// `run_…`
    pub id: Arc<str>,
    /// What it is about.
    pub key: Arc<str>,
}

/// The run around a `for_each` item, as it was when the item's run was loaded.
#[derive(Clone, Debug)]
pub struct Outer {
    /// What it is called.
    pub identity: Identity,
    /// Where it stood.
    pub state: State,
    /// The run around that.
    pub outer: Option<Arc<Outer>>,
}

/// What the trigger's and the flow's own expressions see before there is a run.
#[derive(Debug)]
pub struct EventNames<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// The event.
    pub event: &'a Value,
    /// The headers of its request that the flow uses.
    pub headers: &'a Headers,
    /// It is an item of a fetched list.
    pub is_item: bool,
    /// Planned or received at.
    pub at: Time,
    /// The present time.
    pub now: Time,
}

impl Names for EventNames<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        match name {
            "event" => Some(self.event.clone()),
            "item" if self.is_item => Some(self.event.clone()),
            "request" => Some(request(self.headers)),
            "schedule" => schedule_at(self.flow, self.at),
            _ => None,
        }
    }

    fn defined(&self, name: &str) -> Option<&Expr> {
        let_named(self.flow, name)
    }

    fn now(&self) -> Time {
        self.now
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }
}

fn let_named<'f>(flow: &'f Flow, name: &str) -> Option<&'f Expr> {
    let mut lets = flow.lets.iter();
    let found = lets.find(|(given, _)| given.it == name);
    found.map(|(_, expr)| expr)
}

/// What one evaluation sees.
#[derive(Debug)]
pub struct RunNames<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// The run.
    pub identity: &'a Identity,
    /// Its state.
    pub state: &'a State,
    /// The run around it, if it is an item's.
    pub outer: Option<&'a Arc<Outer>>,
    /// The time.
    pub now: Time,
    /// Where `uuid()` begins.
    pub seed: [u8; 16],
    /// Further names, such as those of an answer (`body`), `step` or `item`.
    pub more: &'a [(&'a str, Value)],
    /// How links to the run are made.
    pub links: &'a Links,
    /// How many random values were given.
    pub drawn: Cell<u64>,
}

impl<'a> RunNames<'a> {
    /// The same with other further names.
    #[must_use]
    pub fn with(&self, more: &'a [(&'a str, Value)]) -> RunNames<'a> {
        RunNames {
            more,
            drawn: Cell::new(self.drawn.get()),
            ..*self
        }
    }

    fn run(&self) -> Value {
        Value::map([
            ("id", Value::Text(Arc::clone(&self.identity.id))),
            ("key", Value::Text(Arc::clone(&self.identity.key))),
            ("flow", Value::text(&self.flow.name.it)),
        ])
    }

    fn failure(&self) -> Option<Value> {
        let (step, message) = self.state.failure.as_ref()?;
        let members = [
            ("step", Value::Text(Arc::clone(step))),
            ("message", Value::text(message)),
        ];
        Some(Value::map(members))
    }

    /// The run that a step belongs to: this one, or one around it.
    fn run_of(&self, step: &str) -> Option<RunId> {
        let mut run = &self.identity.id;
        let (mut state, mut outer) = (self.state, self.outer);
        while !places::is_own(self.flow, state, step) {
            let around = outer?;
            (run, state, outer) = (&around.identity.id, &around.state, around.outer.as_ref());
        }
        RunId::parse(run)
    }

    /// Where to call back for a step.
    fn callback(&self, step: &str) -> Option<Value> {
        let link = self.links.callback(self.run_of(step)?, step);
        link.map(|link| Value::text(&link))
    }

    /// Where each person who may be asked in a step answers.
    fn approvals(&self, step: &str) -> Option<Value> {
        let Action::Approve(approve) = &places::find(self.flow, step)?.action else {
            return None;
        };
        let run = self.run_of(step)?;
        let people = approve.people();
        let link = |person: &str| {
            let link = self.links.approval(run, step, person)?;
            Some((Arc::<str>::from(person), Value::text(&link)))
        };
        let persons = self.links.persons(&people);
        Some(Value::map(persons.into_iter().filter_map(link)))
    }

    fn all_steps(&self) -> Value {
        let mut steps = self.outer.map_or_else(Vec::new, |outer| outer.steps());
        steps.extend(results(&self.state.steps));
        Value::map(steps)
    }
}

impl Outer {
    fn steps(&self) -> Vec<(Arc<str>, Value)> {
        let mut steps = self.outer.as_ref().map_or_else(Vec::new, |o| o.steps());
        steps.extend(results(&self.state.steps));
        steps
    }
}

fn results(
    steps: &std::collections::BTreeMap<Arc<str>, crate::state::StepState>,
) -> impl Iterator<Item = (Arc<str>, Value)> {
    steps
        .iter()
        // An undo is no step that the file names.
        .filter(|(id, _)| !id.contains('/'))
        .map(|(id, state)| (Arc::clone(id), one_step(&state.phase)))
}

fn one_step(phase: &crate::state::Phase) -> Value {
    use crate::state::Phase;
    let (status, result) = match phase {
        Phase::Done(result) => ("done", result.clone()),
        Phase::Skipped => ("skipped", Value::Null),
        Phase::GaveUp => ("failed", Value::Null),
        _ => ("open", Value::Null),
    };
    Value::map([("result", result), ("status", Value::text(status))])
}

impl Names for RunNames<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        if let Some((_, value)) = self.more.iter().find(|(given, _)| *given == name) {
            return Some(value.clone());
        }
        match name {
            "event" => Some(opening(self.state, self.outer).event.value()),
            "request" => Some(request(&opening(self.state, self.outer).headers)),
            "run" => Some(self.run()),
            "steps" => Some(self.all_steps()),
            "failure" => self.failure(),
            // What was planned, never what the clock says: the same at every retry.
            "schedule" => schedule_at(self.flow, opening(self.state, self.outer).at),
            _ => item(self.flow, self.state, self.outer, name),
        }
    }

    fn member(&self, root: &str, member: &str) -> Option<Value> {
        match root {
            "steps" => {
                let found = self.state.phase(member).map(one_step);
                found.or_else(|| step_of_outer(self.outer, member))
            }
            "secrets" => Some(Value::Sealed([Piece::Secret(member.into())].into())),
            "callbacks" => self.callback(member),
            "approvals" => self.approvals(member),
            _ => None,
        }
    }

    fn defined(&self, name: &str) -> Option<&Expr> {
        let_named(self.flow, name)
    }

    fn now(&self) -> Time {
        self.now
    }

    fn random(&self) -> [u8; 16] {
        let drawn = self.drawn.get();
        self.drawn.set(drawn + 1);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed).update(&drawn.to_le_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        bytes
    }
}

fn step_of_outer(outer: Option<&Arc<Outer>>, step: &str) -> Option<Value> {
    let outer = outer?;
    let found = outer.state.phase(step).map(one_step);
    found.or_else(|| step_of_outer(outer.outer.as_ref(), step))
}

/// What started a run; an item sees what started the run around it.
pub(crate) fn opening<'a>(state: &'a State, outer: Option<&'a Arc<Outer>>) -> &'a Opening {
    match outer {
        Some(outer) => opening(&outer.state, outer.outer.as_ref()),
        None => &state.opening,
    }
}

/// What `request` stands for; without a request it has no headers.
fn request(headers: &Headers) -> Value {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| (&**name, Value::text(value)));
    Value::map([("headers", Value::map(headers))])
}

fn item(flow: &Flow, state: &State, outer: Option<&Arc<Outer>>, name: &str) -> Option<Value> {
    let opening = &state.opening;
    let own = match (opening.by, &opening.within) {
        (Origin::Item, Some(within)) => {
            let called = places::item_name(flow, &within.step)?;
            (called == name).then(|| opening.event.value())
        }
        (Origin::Sync, _) if name == "item" => Some(opening.event.value()),
        _ => None,
    };
    own.or_else(|| {
        let outer = outer?;
        item(flow, &outer.state, outer.outer.as_ref(), name)
    })
}

/// What `schedule` stands for in a run of that planned time; the day is that of the schedule's zone.
fn schedule_at(flow: &Flow, Time(millis): Time) -> Option<Value> {
    let time = Timestamp::from_millisecond(millis).ok()?;
    let there = time.to_zoned(semel_flow::schedule::zone_of(flow));
    let date = there.strftime("%F").to_string();
    Some(Value::map([
        ("time", Value::text(&time.to_string())),
        ("date", Value::text(&date)),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_of_a_tick_is_that_of_its_zone() {
        let planned = |on: &str| {
            let steps = "steps: [{id: a, set: {b: 1}}]";
            let source = format!("name: f\non: {{{on}}}\nkey: ${{{{ schedule.date }}}}\n{steps}\n");
            let reading = semel_flow::read(&source);
            let flow = reading.flow.unwrap_or_else(|| panic!("{source}"));
            let at: Timestamp = "2026-01-01T22:00:00Z".parse().expect("a time");
            let names = schedule_at(&flow, Time(at.as_millisecond())).expect("it has a date");
            ["time", "date"].map(|name| names.get(name).expect(name).to_json())
        };
        let utc = [r#""2026-01-01T22:00:00Z""#, r#""2026-01-01""#];
        let tokyo = [utc[0], r#""2026-01-02""#];
        assert_eq!(
            planned("schedule: {cron: 0 7 * * *, zone: Asia/Tokyo}"),
            tokyo
        );
        assert_eq!(planned("schedule: {cron: 0 22 * * *}"), utc);
        assert_eq!(planned("schedule: {every: 1h}"), utc);
    }
}
