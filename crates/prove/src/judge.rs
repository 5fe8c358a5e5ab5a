//! What tries show: how often the world saw each effect.
//!
//! Owns the verdict on a step under a schedule, measured against a try in which nothing went wrong. The invariant: more
//! than once is always red; less than once is right only if a person is asked or somebody said no.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::places;
use semel_flow::model::{Class, Kind, OnUnknown};

use crate::advice;
use crate::schedule::{Delivery, Family, Schedule};
use crate::sim::Seen;
use crate::stage::{Place, Role, Stage};
use crate::world::Line;

/// How a step came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Never, and it should not.
    Unreached,
    /// As often as it should.
    Once,
    /// Not at all: a destination said no, and the run has failed.
    Failed,
    /// Not at all, and a person is asked.
    Parked,
    /// The flow says that what nobody knows is taken as done, and it was not.
    Skipped,
    /// Not at all, or undone by something older, and nobody is asked.
    Missing,
    /// More often than it should: so many times too often.
    Twice(usize),
}

impl Verdict {
    /// Whether it may be so.
    #[must_use]
    pub fn is_good(self) -> bool {
        !matches!(
            self,
            Verdict::Skipped | Verdict::Missing | Verdict::Twice(_)
        )
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
    /// What to change in the file.
    pub help: String,
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
    /// How many were not, because there were more than the limit.
    pub left_out: usize,
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
pub(crate) type Cell = (Arc<str>, Family);

/// What the start of a run is called.
pub const RUN: &str = "(run)";
/// What is kept under keys.
const KEPT: &str = "(kv)";

/// What is seen when nothing goes wrong.
#[derive(Debug)]
pub(crate) struct Baseline {
    pub(crate) plain: Seen,
    /// When events about one thing come in their order.
    pub(crate) ordered: Option<Seen>,
}

/// Judges tries of one flow.
pub(crate) struct Judge<'a> {
    stage: &'a Stage,
    base: &'a Baseline,
    /// How simple what was found is, so that it does not depend on which try ended first.
    ranks: BTreeMap<Cell, Rank>,
    pub(crate) proof: Proof,
}

/// The least is told: the worst verdict, the simplest schedule, the shortest story, the earliest point.
type Rank = (std::cmp::Reverse<Verdict>, usize, usize, usize);

impl<'a> Judge<'a> {
    pub(crate) fn new(stage: &'a Stage, base: &'a Baseline) -> Judge<'a> {
        let mut proof = Proof {
            steps: vec![(RUN.into(), Class::Guarded)],
            ..Proof::default()
        };
        if !base.plain.kept.is_empty() {
            proof.steps.push((KEPT.into(), Class::Keyed));
        }
        for (at, place) in stage.places.iter().enumerate() {
            if is_judged(place) {
                let in_case = place.role == Role::Undo
                    || places::is_in(&stage.flow().on_failure, &place.step);
                if base.plain.counts[at] == 0 && !in_case {
                    proof.unreached.push(Arc::clone(&place.step));
                }
                proof.steps.push((place.name(), place.class));
            }
        }
        Judge {
            stage,
            base,
            ranks: BTreeMap::new(),
            proof,
        }
    }

    /// Takes a try in, the one of that number; whether all came through.
    pub(crate) fn take(&mut self, number: usize, schedule: &Schedule, seen: &Seen) -> bool {
        self.proof.schedules += 1;
        self.proof.fired += seen.fired;
        let fired = schedule.faults.iter().take(seen.fired);
        self.proof.crashes += fired.filter(|it| it.what.kills()).count();
        let verdicts = self.verdicts(schedule, seen);
        let held = verdicts.iter().all(|(_, verdict)| verdict.is_good());
        for (cell, verdict) in verdicts {
            let (worst, tries) = self.proof.cells.entry(cell.clone()).or_insert((verdict, 0));
            *worst = verdict.max(*worst);
            *tries += 1;
            if !verdict.is_good() {
                self.keep(number, cell, verdict, schedule, seen);
            }
        }
        held
    }

    /// Takes a simpler schedule for what was found, if the same comes of it.
    pub(crate) fn replace(&mut self, cell: &Cell, schedule: &Schedule, seen: &Seen) -> bool {
        let mut verdicts = self.verdicts(schedule, seen).into_iter();
        let same = verdicts.find(|((step, _), verdict)| *step == cell.0 && !verdict.is_good());
        let Some((_, verdict)) = same else {
            return false;
        };
        self.ranks.remove(cell);
        self.keep(0, cell.clone(), verdict, schedule, seen);
        true
    }

    /// How each step came through.
    fn verdicts(&self, schedule: &Schedule, seen: &Seen) -> Vec<(Cell, Verdict)> {
        let ordered = schedule.delivery == Delivery::InOrder;
        let family = schedule.family().or(ordered.then_some(Family::Order));
        // Leave that nobody gave is wrong at any time.
        let of_gates = family.unwrap_or(Family::Person);
        let gates = seen.unasked.iter();
        let mut all: Vec<(Cell, Verdict)> = gates
            .map(|step| ((step.as_str().into(), of_gates), Verdict::Twice(1)))
            .collect();
        let Some(family) = family else {
            return all;
        };
        let base = self.baseline(schedule);
        all.push(((RUN.into(), family), runs(base, seen)));
        if !self.base.plain.kept.is_empty() {
            all.push(((KEPT.into(), family), kept(base, seen)));
        }
        for (at, place) in self.stage.places.iter().enumerate() {
            if is_judged(place) {
                all.push(((place.name(), family), self.verdict(at, base, seen)));
            } else if family == Family::Order && place.class == Class::Set {
                let stands = |it: &Seen| {
                    let mine = it.stands.iter().filter(|(_, (of, _))| *of == at);
                    mine.map(|(thing, (_, value))| (thing.clone(), value.clone()))
                        .collect::<BTreeMap<_, _>>()
                };
                let (due, saw) = (stands(base), stands(seen));
                let newest = saw
                    .iter()
                    .all(|(thing, value)| due.get(thing) == Some(value));
                let verdict = if newest {
                    Verdict::Once
                } else {
                    Verdict::Missing
                };
                all.push(((place.name(), family), verdict));
            }
        }
        all
    }

    fn baseline(&self, schedule: &Schedule) -> &'a Seen {
        let ordered = self.base.ordered.as_ref();
        let ordered = ordered.filter(|_| schedule.delivery.is_ordered());
        ordered.unwrap_or(&self.base.plain)
    }

    /// What was done and is to be taken back is taken back, once.
    fn undone(&self, at: usize, seen: &Seen) -> Verdict {
        let (own, saw) = (&self.stage.places[at], seen.counts[at]);
        let places = self.stage.places.iter().zip(&seen.counts);
        let done = places.filter(|(place, _)| place.step == own.step && place.role == Role::Main);
        let done: usize = done.map(|(_, count)| count).sum();
        if own.class.has_effect() && saw > done {
            return Verdict::Twice(saw - done);
        }
        if saw < done && seen.failed && !own.in_loop {
            return if seen.asks {
                Verdict::Parked
            } else {
                Verdict::Missing
            };
        }
        if saw == 0 {
            Verdict::Unreached
        } else {
            Verdict::Once
        }
    }

    /// How often something may be done that is done only when something goes wrong.
    fn most_in_case(&self, at: usize, base: &Seen) -> usize {
        let own = &self.stage.places[at];
        let places = self.stage.places.iter().zip(&base.counts);
        let same = places.filter(|(place, _)| place.step == own.step && place.role == Role::Main);
        let most = same.map(|(_, count)| *count).max().unwrap_or(0);
        most.max(base.states.len())
    }

    fn keep(
        &mut self,
        number: usize,
        cell: Cell,
        verdict: Verdict,
        schedule: &Schedule,
        seen: &Seen,
    ) {
        let weight = schedule.weight();
        let rank = (std::cmp::Reverse(verdict), weight, seen.lines.len(), number);
        if self.ranks.get(&cell).is_some_and(|known| *known <= rank) {
            return;
        }
        self.ranks.insert(cell.clone(), rank);
        let ended = seen
            .states
            .iter()
            .map(|(state, why)| format!("{}: {why}", state.name()));
        let mut finding = Finding {
            step: Arc::clone(&cell.0),
            verdict,
            schedule: schedule.clone(),
            story: seen.lines.clone(),
            ended: ended.collect(),
            help: String::new(),
        };
        let base = self.baseline(schedule);
        finding.help = advice::help(self.stage, &finding, base, seen);
        self.proof.findings.insert(cell, finding);
    }

    fn verdict(&self, at: usize, base: &Seen, seen: &Seen) -> Verdict {
        if seen.stuck {
            return Verdict::Missing;
        }
        if self.stage.places[at].role == Role::Undo {
            return self.undone(at, seen);
        }
        let (due, saw) = (base.counts[at], seen.counts[at]);
        // What is done only when something goes wrong may be done once for each event.
        let most = if due == 0 {
            self.most_in_case(at, base)
        } else {
            due * seen.ticks
        };
        if saw > most {
            return Verdict::Twice(saw.div_ceil(most.max(1)) - usize::from(most > 0));
        }
        let echoes = seen.echoes[at].saturating_sub(base.echoes[at]);
        if echoes > 0 {
            return Verdict::Twice(echoes);
        }
        let least = due * seen.ticks.min(1);
        if saw >= least {
            return if saw == 0 {
                Verdict::Unreached
            } else {
                Verdict::Once
            };
        }
        if seen.asks {
            return Verdict::Parked;
        }
        if (seen.refused && seen.failed) || seen.stale > base.stale {
            return Verdict::Failed;
        }
        let step = places::find(self.stage.flow(), &self.stage.places[at].step);
        let skips = step.and_then(|step| step.on_unknown.as_ref());
        if skips.is_some_and(|rule| rule.it == OnUnknown::Skip) {
            return Verdict::Skipped;
        }
        Verdict::Missing
    }
}

/// What is kept under keys is what it is when nothing goes wrong.
fn kept(base: &Seen, seen: &Seen) -> Verdict {
    if seen.kept == base.kept {
        Verdict::Once
    } else if seen.kept.len() == base.kept.len() && !seen.asks && !seen.refused {
        let pairs = seen.kept.iter().zip(&base.kept);
        Verdict::Twice(pairs.filter(|(one, other)| one != other).count())
    } else if seen.asks {
        Verdict::Parked
    } else if seen.refused || seen.stale > base.stale {
        Verdict::Failed
    } else {
        Verdict::Missing
    }
}

/// One event starts one run.
fn runs(base: &Seen, seen: &Seen) -> Verdict {
    let late = seen.stale.saturating_sub(base.stale);
    let (due, saw) = (base.states.len(), seen.states.len() + late);
    if saw > due * seen.ticks {
        Verdict::Twice(saw - due * seen.ticks)
    } else if saw >= due * seen.ticks.min(1) && !seen.unrecorded {
        Verdict::Once
    } else if seen.refused {
        // The list could not be fetched.
        Verdict::Failed
    } else {
        Verdict::Missing
    }
}

/// Whether a repeat of it would be seen. What a model says twice is paid for, and seen by nobody.
fn is_judged(place: &Place) -> bool {
    let acts = place.role == Role::Main && place.class.has_effect();
    place.role == Role::Undo || (acts && place.kind != Kind::Ai)
}
