//! What a flow came to under all its events: for people, for programs and for pages.
//!
//! Owns what is said about a proof and its words, the same on the terminal, in JSON, in a page and on a server. Leaves how it
//! looks to whoever shows it. The invariant: of several events the worst counts.

mod document;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use semel_engine::flows::ReleaseError;
use semel_flow::Flow;
use semel_flow::model::Class;

use crate::examples::Event;
use crate::explore::{Options, Progress, prove, replay};
use crate::judge::{Finding, Proof, Verdict};
use crate::schedule::{Family, Schedule};
use crate::sim::SimError;
use crate::stage::Stage;

pub use words::Told;

/// A flow with all that was tried on it.
#[derive(Debug)]
pub struct Report {
    /// Each event with what came of it; at least one.
    tried: Vec<Tried>,
    /// How long it took.
    pub took: Duration,
}

/// One event, and what came of it.
#[derive(Debug)]
pub struct Tried {
    /// The event.
    pub event: Event,
    /// What was found out.
    pub proof: Proof,
    stage: Arc<Stage>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The flow cannot be read.
    #[error(transparent)]
    Flow(#[from] ReleaseError),
    /// There is nothing to start it with.
    #[error("there is no event to start the flow with")]
    NoEvent,
    /// A try could not be made.
    #[error("with {event}: {source}")]
    Sim {
        /// With which event.
        event: String,
        /// Why.
        source: SimError,
    },
}

/// One thing that did not come through.
#[derive(Clone, Copy, Debug)]
pub struct Found<'r> {
    /// The event that it happened with.
    pub event: &'r Event,
    /// Which trouble led to it.
    pub family: Family,
    /// What.
    pub finding: &'r Finding,
}

/// One cause, and how it shows.
#[derive(Clone, Debug)]
pub struct Story<'r> {
    /// The shortest of the worst.
    pub told: Found<'r>,
    /// What leads to the same.
    pub also: Vec<Found<'r>>,
}

/// The worse, and of those the shorter, goes first.
fn rank(finding: &Finding) -> (Verdict, std::cmp::Reverse<usize>) {
    (finding.verdict, std::cmp::Reverse(finding.story.len()))
}

/// What is tried with each event.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Everything that these say.
    All(Options),
    /// One schedule again.
    One(Schedule),
}

impl Report {
    /// Tries a flow with each of these events by itself.
    ///
    /// # Errors
    /// [`ReportError`] if it could not be tried; that says nothing about the flow.
    pub fn of(
        source: &str,
        events: Vec<Event>,
        plan: &Plan,
        progress: Progress<'_>,
    ) -> Result<Report, ReportError> {
        let began = Instant::now();
        let mut tried: Vec<Tried> = Vec::new();
        let (mut before, mut left) = (0, events.len());
        for event in events {
            let stage = Arc::new(Stage::on(source, event.clone())?);
            // Later events have about as many schedules; how many is known when they come.
            let tell = |done: usize, all: usize| progress(before + done, before + all * left);
            let proof = match plan {
                Plan::All(options) => prove(&stage, options, &tell),
                Plan::One(schedule) => replay(&stage, schedule),
            };
            let proof = proof.map_err(|source| ReportError::Sim {
                event: event.name.clone(),
                source,
            })?;
            before += proof.schedules;
            left -= 1;
            tried.push(Tried {
                event,
                proof,
                stage,
            });
        }
        if tried.is_empty() {
            return Err(ReportError::NoEvent);
        }
        Ok(Report {
            tried,
            took: began.elapsed(),
        })
    }

    /// The flow.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        self.tried[0].stage.flow()
    }

    /// Each event with what came of it.
    #[must_use]
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }

    fn proofs(&self) -> impl Iterator<Item = &Proof> {
        self.tried.iter().map(|it| &it.proof)
    }

    /// Whether every effect was seen once or, where no better is possible, at most once with a
    /// person asked.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.proofs().all(Proof::holds)
    }

    /// What has an effect, in the order of the file, with its class.
    #[must_use]
    pub fn steps(&self) -> Vec<(Arc<str>, Class)> {
        let longest = self.proofs().max_by_key(|proof| proof.steps.len());
        longest.map_or(Vec::new(), |proof| proof.steps.clone())
    }

    /// The worst verdict of each step in each family, and how many tries were made.
    #[must_use]
    pub fn cells(&self) -> BTreeMap<(Arc<str>, Family), (Verdict, usize)> {
        let mut all: BTreeMap<_, (Verdict, usize)> = BTreeMap::new();
        for proof in self.proofs() {
            for (cell, (verdict, tries)) in &proof.cells {
                let (worst, sum) = all.entry(cell.clone()).or_insert((*verdict, 0));
                *worst = (*worst).max(*verdict);
                *sum += tries;
            }
        }
        all
    }

    /// The families that were tried, in the order of the report.
    #[must_use]
    pub fn families(&self) -> Vec<Family> {
        let cells = self.cells();
        let tried = |family: &Family| cells.keys().any(|(_, it)| it == family);
        Family::ALL.into_iter().filter(tried).collect()
    }

    /// What did not come through, in the order of the file; of several events the worst and shortest.
    #[must_use]
    pub fn found(&self) -> Vec<Found<'_>> {
        let mut all: BTreeMap<(usize, Family), Found<'_>> = BTreeMap::new();
        let steps = self.steps();
        for tried in &self.tried {
            for ((step, family), finding) in &tried.proof.findings {
                let at = steps.iter().position(|(it, _)| it == step);
                let known = all.get(&(at.unwrap_or(steps.len()), *family));
                let better = known.is_none_or(|known| rank(finding) > rank(known.finding));
                if better {
                    let found = Found {
                        event: &tried.event,
                        family: *family,
                        finding,
                    };
                    all.insert((at.unwrap_or(steps.len()), *family), found);
                }
            }
        }
        all.into_values().collect()
    }

    /// What did not come through, told once for each cause: other troubles that lead to the same stand beside it.
    #[must_use]
    pub fn stories(&self) -> Vec<Story<'_>> {
        let mut stories: Vec<Story<'_>> = Vec::new();
        for found in self.found() {
            let same = |it: &&mut Story<'_>| {
                let (one, other) = (it.told.finding, found.finding);
                one.step == other.step && one.help == other.help
            };
            match stories.iter_mut().find(same) {
                None => stories.push(Story {
                    told: found,
                    also: Vec::new(),
                }),
                Some(story) if rank(found.finding) > rank(story.told.finding) => {
                    story.also.push(std::mem::replace(&mut story.told, found));
                }
                Some(story) => story.also.push(found),
            }
        }
        stories
    }

    /// Steps that no event leads to.
    #[must_use]
    pub fn unreached(&self) -> Vec<Arc<str>> {
        let all = self.tried[0].proof.unreached.iter();
        all.filter(|step| self.proofs().all(|proof| proof.unreached.contains(step)))
            .cloned()
            .collect()
    }

    /// How many schedules were tried.
    #[must_use]
    pub fn schedules(&self) -> usize {
        self.proofs().map(|proof| proof.schedules).sum()
    }

    /// How many were not, because there were more than the limit.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.proofs().map(|proof| proof.left_out).sum()
    }

    /// How many faults really happened.
    #[must_use]
    pub fn fired(&self) -> usize {
        self.proofs().map(|proof| proof.fired).sum()
    }

    /// How many crashes really happened.
    #[must_use]
    pub fn crashes(&self) -> usize {
        self.proofs().map(|proof| proof.crashes).sum()
    }
}
