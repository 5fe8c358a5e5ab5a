//! Which tries are made: every fault that fits, at every point there is.
//!
//! Owns the enumeration, its bounds, and making the found ones as simple as they can be. First a try in which nothing
//! goes wrong shows the points; then each is struck. Deeper, what a stricken run passes shows where it can be struck
//! again; what has gone wrong already is not struck again, so what is found needs all that it has.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use crate::conductor::Point;
use crate::fault::What;
use crate::judge::{Baseline, Judge, Proof};
use crate::schedule::{Delivery, Family, Schedule};
use crate::sim::{Seen, SimError, try_it};
use crate::stage::Stage;

/// What is tried.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which families.
    pub families: BTreeSet<Family>,
    /// How many faults in one try.
    pub depth: usize,
    /// The most schedules; beyond, some are chosen.
    pub limit: usize,
    /// What the choice depends on.
    pub seed: u64,
    /// How many are tried at a time.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            families: Family::ALL.into(),
            depth: 1,
            limit: 100_000,
            seed: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Told how far it has come: tries made, and tries in all as far as they are known.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Tries a flow under every schedule.
///
/// # Errors
/// [`SimError`] if a try could not be made; that says nothing about the flow.
pub fn prove(
    stage: &Arc<Stage>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Proof, SimError> {
    let wants_order = options.families.contains(&Family::Order);
    let base = baseline(stage, wants_order)?;
    let mut judge = Judge::new(stage, &base);
    judge.take(0, &Schedule::PLAIN, &base.plain);
    if let Some(ordered) = &base.ordered {
        judge.take(0, &Schedule::of(Delivery::InOrder), ordered);
    }
    let mut round = first(options, stage, &base.plain);
    let mut depth = 1;
    while !round.is_empty() {
        let held = try_round(stage, options, &mut judge, round, progress)?;
        round = Vec::new();
        if depth == 1 {
            round.extend(held.iter().filter_map(|(it, _)| helping(options, it)));
        }
        if depth < options.depth {
            let again = held
                .iter()
                .map(|(it, points)| struck_again(options, stage, it, points));
            round.extend(again.flatten());
        }
        depth += 1;
    }
    shrink(stage, &mut judge)?;
    Ok(judge.proof)
}

/// Tries schedules, as many as there is room for; gives those that came through although all that goes wrong in them
/// happened, with the points that they passed.
fn try_round(
    stage: &Arc<Stage>,
    options: &Options,
    judge: &mut Judge<'_>,
    round: Vec<Schedule>,
    progress: Progress<'_>,
) -> Result<Vec<(Schedule, Vec<Point>)>, SimError> {
    let before = judge.proof.schedules;
    let all = round.len();
    let chosen = choose(round, options.limit.saturating_sub(before), options.seed);
    judge.proof.left_out += all - chosen.len();
    let mut held = Vec::new();
    try_all(stage, &chosen, options.threads, |at, seen| {
        let schedule = &chosen[at];
        if judge.take(at, schedule, &seen) && seen.fired == schedule.faults.len() {
            held.push((at, seen.points));
        }
        progress(judge.proof.schedules, before + chosen.len());
    })?;
    held.sort_by_key(|(at, _)| *at);
    let held = held
        .into_iter()
        .map(|(at, points)| (chosen[at].clone(), points));
    Ok(held.collect())
}

/// Tries one schedule again.
///
/// # Errors
/// [`SimError`] if it could not be tried.
pub fn replay(stage: &Arc<Stage>, schedule: &Schedule) -> Result<Proof, SimError> {
    let base = baseline(stage, schedule.delivery.is_ordered())?;
    let mut judge = Judge::new(stage, &base);
    let seen = try_one(stage, schedule)?;
    judge.take(0, schedule, &seen);
    Ok(judge.proof)
}

/// What is seen when nothing goes wrong.
fn baseline(stage: &Arc<Stage>, ordered: bool) -> Result<Baseline, SimError> {
    let ordered = (ordered && stage.ordered.len() > 1)
        .then(|| try_one(stage, &Schedule::of(Delivery::InOrder)))
        .transpose()?;
    Ok(Baseline {
        plain: try_one(stage, &Schedule::PLAIN)?,
        ordered,
    })
}

/// Every schedule with one thing going wrong.
fn first(options: &Options, stage: &Stage, plain: &Seen) -> Vec<Schedule> {
    let mut all: Vec<Schedule> = deliveries(stage).into_iter().map(Schedule::of).collect();
    for (at, point) in plain.points.iter().enumerate() {
        all.extend(fitting(options, stage, *point).map(|what| Schedule::PLAIN.with(at, what)));
    }
    let wanted = |family: Family| options.families.contains(&family);
    all.retain(|schedule| schedule.family().is_some_and(wanted));
    all
}

/// How things can come otherwise than they should, for this flow.
fn deliveries(stage: &Stage) -> Vec<Delivery> {
    let mut all = vec![Delivery::Rerun];
    match &stage.clockwork {
        None => all.extend([
            Delivery::Again,
            Delivery::Later,
            Delivery::Together,
            Delivery::Nodes,
        ]),
        Some(clockwork) => {
            all.extend([Delivery::Nodes, Delivery::Missed]);
            all.extend(clockwork.lists.then_some(Delivery::NextTick));
        }
    }
    let events = u8::try_from(stage.ordered.len()).unwrap_or(u8::MAX);
    for one in 1..=events {
        all.extend((one + 1..=events).map(|other| Delivery::Swapped(one, other)));
    }
    if stage.callbacks {
        all.extend([Delivery::CalledTwice, Delivery::CalledLate]);
    }
    if stage.gates {
        all.extend([
            Delivery::YesTwice,
            Delivery::YesNo,
            Delivery::No,
            Delivery::YesLate,
        ]);
    }
    all
}

fn fitting(options: &Options, stage: &Stage, point: Point) -> impl Iterator<Item = What> {
    let fits = move |what: &What| match what {
        // A day has many ticks.
        What::Resend | What::Meanwhile | What::Ahead => stage.clockwork.is_none(),
        What::CallBack => stage.callbacks,
        What::Yes => stage.gates,
        _ => true,
    };
    let all = What::ALL.into_iter().map(|(what, _)| what);
    all.filter(move |what| what.fits(point) && options.families.contains(&what.family()))
        .filter(fits)
}

/// What a person does about something that went wrong.
fn helping(options: &Options, schedule: &Schedule) -> Option<Schedule> {
    let delivery = match schedule.faults.as_slice() {
        [only] if schedule.delivery == Delivery::Once => match only.what {
            What::Refused | What::Down => Delivery::Rerun,
            What::LostAnswer | What::CrashDone { power: true } => Delivery::Retried,
            _ => return None,
        },
        _ => return None,
    };
    let faults = schedule.faults.clone();
    let wanted = options.families.contains(&Family::Person);
    wanted.then_some(Schedule { delivery, faults })
}

/// A schedule that was tried, struck once more at each later point.
fn struck_again(
    options: &Options,
    stage: &Stage,
    schedule: &Schedule,
    points: &[Point],
) -> Vec<Schedule> {
    // A clock that jumps is tried by itself: no wait, however long, is one then, and no file could be right. Nodes go by a
    // clock that does not jump while they live.
    let jumps = |what: &What| what.family() == Family::Clock;
    let last = schedule.faults.last();
    let last = last.filter(|_| schedule.delivery == Delivery::Once);
    let Some(last) = last.filter(|last| !jumps(&last.what)) else {
        return Vec::new();
    };
    let later = points.iter().enumerate().skip(last.at + 1);
    let again = later.flat_map(|(at, point)| {
        let fitting = fitting(options, stage, *point).filter(|what| !jumps(what));
        fitting.map(move |what| schedule.with(at, what))
    });
    again.collect()
}

/// All, or as many as there is room for: evenly spread, from where the seed says.
fn choose(all: Vec<Schedule>, room: usize, seed: u64) -> Vec<Schedule> {
    if all.len() <= room {
        return all;
    }
    let mut ranked: Vec<([u8; 32], Schedule)> = all
        .into_iter()
        .map(|schedule| {
            let text = format!("{seed} {schedule}");
            (*blake3::hash(text.as_bytes()).as_bytes(), schedule)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(room);
    ranked.into_iter().map(|(_, schedule)| schedule).collect()
}

/// Leaves out of each found schedule what is not needed: where only some were tried, a simpler one may do.
fn shrink(stage: &Arc<Stage>, judge: &mut Judge<'_>) -> Result<(), SimError> {
    let found = judge.proof.findings.iter();
    let found: Vec<_> = found
        .map(|(cell, it)| (cell.clone(), it.schedule.clone()))
        .collect();
    for (cell, mut schedule) in found {
        let mut at = 0;
        while schedule.faults.len() > 1 && at < schedule.faults.len() {
            let simpler = schedule.without(at);
            let seen = try_one(stage, &simpler)?;
            if judge.replace(&cell, &simpler, &seen) {
                schedule = simpler;
                at = 0;
            } else {
                at += 1;
            }
        }
    }
    Ok(())
}

/// Tries one schedule, in a thread of its own: a simulation has its own runtime.
fn try_one(stage: &Arc<Stage>, schedule: &Schedule) -> Result<Seen, SimError> {
    let tried = std::thread::scope(|scope| scope.spawn(|| try_it(stage, schedule)).join());
    tried.unwrap_or(Err(SimError::Broken))
}

/// Tries schedules, several at a time; tells of each as it was seen, by its number.
fn try_all(
    stage: &Arc<Stage>,
    schedules: &[Schedule],
    threads: usize,
    mut tell: impl FnMut(usize, Seen),
) -> Result<(), SimError> {
    let next = AtomicUsize::new(0);
    let (sender, tried) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(schedule) = schedules.get(at) else {
                        return;
                    };
                    // Whoever does not listen any more has met an error.
                    if sender.send((at, try_it(stage, schedule))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut count = 0;
        for (at, seen) in tried {
            tell(at, seen?);
            count += 1;
        }
        // One that broke off inside has told nobody.
        if count == schedules.len() {
            Ok(())
        } else {
            Err(SimError::Broken)
        }
    })
}
