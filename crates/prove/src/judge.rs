//! What tries show: how often the world saw each effect.
//!
//! Owns the verdict on a step under a schedule, measured against a try in which nothing went wrong. The invariant: more
//! than once is always red; less than once is right only if a person is asked, or the flow says that it is to be
//! taken as done.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::places;
use semel_flow::model::{Class, OnUnknown};

use crate::schedule::{Family, Schedule};
use crate::sim::Seen;
use crate::stage::{Role, Stage};
use crate::world::Line;

/// How a step came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Never, and it should not.
    Unreached,
    /// As often as it should.
    Once,
    /// The flow says that what nobody knows is taken as done, and it was not.
    Skipped,
    /// Not at all, and a person is asked.
    Parked,
    /// Not at all, and nobody is asked.
    Missing,
    /// More often than it should: so many times too often.
    Twice(usize),
}

impl Verdict {
    /// Whether it may be so.
    #[must_use]
    pub fn is_good(self) -> bool {
        !matches!(self, Verdict::Missing | Verdict::Twice(_))
    }
}

/// A step that did not come through, and how that happened.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Which step.
    pub step: Arc<str>,
    /// How.
    pub verdict: Verdict,
    /// Under which schedule; the shortest that was found.
    pub schedule: Schedule,
    /// What went on.
    pub story: Vec<Line>,
    /// Where the runs stood in the end.
    pub ended: Vec<String>,
}

/// What was found out about a flow.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// What has an effect, in the order of the file, with its class: a step, or its undo.
    pub steps: Vec<(Arc<str>, Class)>,
    /// The worst verdict of each step in each family, and how many tries were made.
    pub cells: BTreeMap<(Arc<str>, Family), (Verdict, usize)>,
    /// What did not come through: one for each step and family.
    pub findings: BTreeMap<(Arc<str>, Family), Finding>,
    /// Steps that were never reached when nothing went wrong.
    pub unreached: Vec<Arc<str>>,
    /// How many schedules were tried.
    pub schedules: usize,
    /// How many faults really happened.
    pub fired: usize,
    /// How many crashes really happened.
    pub crashes: usize,
}

impl Proof {
    /// Whether every effect was seen once or, where no better is possible, at most once with a
    /// person asked.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.findings.is_empty()
    }
}

/// What is judged, and under which trouble.
type Cell = (Arc<str>, Family);

/// What the start of a run is called.
pub const RUN: &str = "(run)";

/// Judges tries of one flow.
pub(crate) struct Judge<'a> {
    stage: &'a Stage,
    plain: &'a Seen,
    pub(crate) proof: Proof,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(stage: &'a Stage, plain: &'a Seen) -> Judge<'a> {
        let mut proof = Proof {
            steps: vec![(RUN.into(), Class::Guarded)],
            ..Proof::default()
        };
        for (at, place) in stage.places.iter().enumerate() {
            if is_judged(place.role, place.class) {
                let in_case = place.role == Role::Undo
                    || places::is_in(&stage.flow().on_failure, &place.step);
                if plain.counts[at] == 0 && !in_case {
                    proof.unreached.push(Arc::clone(&place.step));
                }
                proof.steps.push((place.name(), place.class));
            }
        }
        Judge {
            stage,
            plain,
            proof,
        }
    }

    /// Takes a try in.
    pub(crate) fn take(&mut self, schedule: &Schedule, seen: &Seen) {
        self.proof.schedules += 1;
        self.proof.fired += seen.fired;
        let crashes = schedule.faults.iter().take(seen.fired);
        let died = |family| matches!(family, Family::Crash | Family::Power);
        self.proof.crashes += crashes.filter(|it| died(it.what.family())).count();
        let Some(family) = schedule.family() else {
            return;
        };
        self.enter((RUN.into(), family), self.runs(seen), schedule, seen);
        for (at, place) in self.stage.places.iter().enumerate() {
            if is_judged(place.role, place.class) {
                let cell = (place.name(), family);
                self.enter(cell, self.verdict(at, seen), schedule, seen);
            }
        }
    }

    fn enter(&mut self, cell: Cell, verdict: Verdict, schedule: &Schedule, seen: &Seen) {
        let (worst, tries) = self.proof.cells.entry(cell.clone()).or_insert((verdict, 0));
        *worst = verdict.max(*worst);
        *tries += 1;
        if !verdict.is_good() {
            self.keep(cell, verdict, schedule, seen);
        }
    }

    /// One event starts one run.
    fn runs(&self, seen: &Seen) -> Verdict {
        let (due, saw) = (self.plain.states.len(), seen.states.len());
        match saw.checked_sub(due) {
            None => Verdict::Missing,
            Some(0) => Verdict::Once,
            Some(more) => Verdict::Twice(more),
        }
    }

    fn keep(&mut self, cell: Cell, verdict: Verdict, schedule: &Schedule, seen: &Seen) {
        let shorter = |known: &Finding| {
            let length = |s: &Schedule, story: usize| (s.faults.len(), story);
            length(schedule, seen.lines.len()) < length(&known.schedule, known.story.len())
        };
        let known = self.proof.findings.get(&cell);
        if known.is_none_or(|known| verdict > known.verdict || shorter(known)) {
            let ended = seen
                .states
                .iter()
                .map(|(state, why)| format!("{}: {why}", state.name()));
            let finding = Finding {
                step: Arc::clone(&cell.0),
                verdict,
                schedule: schedule.clone(),
                story: seen.lines.clone(),
                ended: ended.collect(),
            };
            self.proof.findings.insert(cell, finding);
        }
    }

    fn verdict(&self, at: usize, seen: &Seen) -> Verdict {
        if seen.stuck {
            return Verdict::Missing;
        }
        let (due, saw) = (self.plain.counts[at], seen.counts[at]);
        // What is done only when something goes wrong may be done once for each event.
        let most = if due == 0 {
            self.stage.events().len()
        } else {
            due
        };
        if saw > most {
            return Verdict::Twice(saw - most);
        }
        if saw >= due {
            return if saw == 0 {
                Verdict::Unreached
            } else {
                Verdict::Once
            };
        }
        if seen.asks {
            return Verdict::Parked;
        }
        let step = places::find(self.stage.flow(), &self.stage.places[at].step);
        let skips = step.and_then(|step| step.on_unknown.as_ref());
        if skips.is_some_and(|rule| rule.it == OnUnknown::Skip) {
            return Verdict::Skipped;
        }
        Verdict::Missing
    }
}

/// Whether a repeat of it would be seen.
fn is_judged(role: Role, class: Class) -> bool {
    matches!(role, Role::Main | Role::Undo) && class.has_effect()
}
