//! Which tries are made: every fault that fits, at every point there is.
//!
//! Owns the enumeration and its bounds. First a try in which nothing goes wrong shows the points; then each is
//! struck. Deeper, what a stricken run passes shows where it can be struck again.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::judge::{Judge, Proof};
use crate::schedule::{Delivery, Family, Schedule, What};
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
    let plain = try_one(stage, &Schedule::PLAIN)?;
    let mut judge = Judge::new(stage, &plain);
    judge.take(&Schedule::PLAIN, &plain);
    let mut next = first(options, &plain);
    for depth in 1..=options.depth {
        let chosen = choose(next, options);
        let tried = try_all(stage, &chosen, options.threads, progress)?;
        next = Vec::new();
        for (schedule, seen) in chosen.iter().zip(&tried) {
            judge.take(schedule, seen);
            if depth < options.depth && seen.fired == schedule.faults.len() {
                next.extend(struck_again(options, schedule, seen));
            }
        }
    }
    Ok(judge.proof)
}

/// Tries one schedule again.
///
/// # Errors
/// [`SimError`] if it could not be tried.
pub fn replay(stage: &Arc<Stage>, schedule: &Schedule) -> Result<Proof, SimError> {
    let plain = try_one(stage, &Schedule::PLAIN)?;
    let mut judge = Judge::new(stage, &plain);
    let seen = try_one(stage, schedule)?;
    judge.take(schedule, &seen);
    Ok(judge.proof)
}

/// Every schedule with one thing going wrong.
fn first(options: &Options, plain: &Seen) -> Vec<Schedule> {
    let mut all = Vec::new();
    if options.families.contains(&Family::Twice) {
        all.extend(
            [Delivery::Again, Delivery::Together].map(|delivery| Schedule {
                delivery,
                faults: Vec::new(),
            }),
        );
    }
    for (at, point) in plain.points.iter().enumerate() {
        all.extend(fitting(options, *point).map(|what| Schedule::PLAIN.with(at, what)));
    }
    all
}

fn fitting(options: &Options, point: crate::conductor::Point) -> impl Iterator<Item = What> {
    What::at(point).filter(|what| options.families.contains(&what.family()))
}

/// A schedule that was tried, struck once more at each later point.
fn struck_again(options: &Options, schedule: &Schedule, seen: &Seen) -> Vec<Schedule> {
    let Some(last) = schedule.faults.last() else {
        return Vec::new();
    };
    let later = seen.points.iter().enumerate().skip(last.at + 1);
    later
        .flat_map(|(at, point)| fitting(options, *point).map(move |what| schedule.with(at, what)))
        .collect()
}

/// All, or as many as the limit allows: evenly spread, from where the seed says.
fn choose(all: Vec<Schedule>, options: &Options) -> Vec<Schedule> {
    if all.len() <= options.limit {
        return all;
    }
    let mut ranked: Vec<([u8; 32], Schedule)> = all
        .into_iter()
        .map(|schedule| {
            let text = format!("{} {schedule}", options.seed);
            (*blake3::hash(text.as_bytes()).as_bytes(), schedule)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(options.limit);
    ranked.into_iter().map(|(_, schedule)| schedule).collect()
}

/// Tries one schedule, in a thread of its own: a simulation has its own runtime.
fn try_one(stage: &Arc<Stage>, schedule: &Schedule) -> Result<Seen, SimError> {
    let home = tempfile::tempdir()?;
    let tried = std::thread::scope(|scope| {
        let trying = scope.spawn(|| try_it(stage, schedule, home.path()));
        trying.join()
    });
    tried.unwrap_or(Err(SimError::Broken))
}

/// Tries schedules, several at a time; gives what was seen in their order.
fn try_all(
    stage: &Arc<Stage>,
    schedules: &[Schedule],
    threads: usize,
    progress: Progress<'_>,
) -> Result<Vec<Seen>, SimError> {
    let next = AtomicUsize::new(0);
    let seen: Mutex<Vec<(usize, Result<Seen, SimError>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let Ok(home) = tempfile::tempdir() else {
                    return;
                };
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(schedule) = schedules.get(at) else {
                        return;
                    };
                    let tried = try_it(stage, schedule, home.path());
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.push((at, tried));
                    progress(seen.len(), schedules.len());
                }
            });
        }
    });
    let mut seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    seen.sort_by_key(|(at, _)| *at);
    seen.into_iter().map(|(_, tried)| tried).collect()
}
