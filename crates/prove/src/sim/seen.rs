//! What came of a try.

use std::collections::BTreeMap;

use semel_engine::state::Phase;
use semel_flow::Value;
use semel_flow::model::Action;
use semel_store::kv::KvFilter;
use semel_store::run::{Run, RunFilter, RunId, RunState};

use super::{Sim, SimError, ticks};
use crate::conductor::Point;
use crate::node::Node;
use crate::stage;
use crate::world::Line;

/// The most runs that are looked at.
const RUNS: usize = 1_000;

/// What came of a try.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Seen {
    /// How often each place was seen to do something.
    pub(crate) counts: Vec<usize>,
    /// How often each place did, word for word, what another had done.
    pub(crate) echoes: Vec<usize>,
    /// What stands in the end where repeats are harmless.
    pub(crate) stands: BTreeMap<String, (usize, String)>,
    /// Where the runs stand, without those of items and those that a person started anew.
    pub(crate) states: Vec<(RunState, Box<str>)>,
    /// What is kept under keys.
    pub(crate) kept: Vec<(String, String)>,
    /// A destination or a person said no, or nobody said anything in time.
    pub(crate) refused: bool,
    /// A person is asked, about one of the runs or of their items.
    pub(crate) asks: bool,
    /// A run has failed, or has gone back.
    pub(crate) failed: bool,
    /// How many events came after something newer.
    pub(crate) stale: usize,
    /// How many times more than a plain try it is to be done; ticks that were missed.
    pub(crate) ticks: usize,
    /// An event came again, and nothing tells of it.
    pub(crate) unrecorded: bool,
    /// Steps that went on as if a person had said yes to exactly that.
    pub(crate) unasked: Vec<String>,
    pub(crate) points: Vec<Point>,
    pub(crate) fired: usize,
    pub(crate) lines: Vec<Line>,
    /// Something was still going on when nothing should.
    pub(crate) stuck: bool,
}

impl Sim<'_> {
    /// The runs inside of one, or those that are in none.
    pub(super) async fn runs(&self, parent: Option<RunId>) -> Result<Vec<Run>, SimError> {
        let filter = RunFilter {
            parent,
            limit: RUNS,
            ..RunFilter::default()
        };
        Ok(self.root.runs(&filter).await?.items)
    }

    pub(super) async fn end(mut self) -> Result<Seen, SimError> {
        let runs = self.runs(None).await?;
        let mut asks = false;
        let mut open = runs.clone();
        while let Some(run) = open.pop() {
            asks |= matches!(run.state, RunState::Parked | RunState::Unknown);
            open.extend(self.runs(Some(run.id)).await?);
        }
        let unasked = self.unasked().await?;
        let filter = KvFilter {
            limit: RUNS,
            ..KvFilter::default()
        };
        let kept = self.root.kv_list(&filter).await?.items.into_iter();
        let kept = kept.map(|it| (it.key.as_str().to_owned(), it.value.as_str().to_owned()));
        self.node.kill();
        self.other.iter_mut().for_each(Node::kill);
        self.woken.iter_mut().for_each(Node::kill);
        let over = |run: &Run| matches!(run.state, RunState::Failed | RunState::Undone);
        let last = runs
            .iter()
            .filter(|run| self.reruns.is_empty() || self.reruns.contains(&run.id));
        let failed = last.clone().any(over);
        let own = runs
            .iter()
            .filter(|run| !self.reruns.contains(&run.id) && !ticks::is_fetch(run));
        let timed_out = failed && self.jumped;
        Ok(Seen {
            counts: self.world.counts(),
            echoes: self.world.echoes(),
            stands: self.world.stands(),
            states: own.map(|run| (run.state, run.why.clone())).collect(),
            kept: kept.collect(),
            asks,
            failed,
            stale: self.stale,
            ticks: self.ticks_due,
            unasked,
            unrecorded: self.unrecorded,
            refused: self.refused || timed_out,
            points: self.conductor.points(),
            fired: self.conductor.fired(),
            lines: self.world.lines(),
            stuck: self.stuck,
        })
    }

    /// Gates that were passed although nobody said yes to what they show.
    async fn unasked(&self) -> Result<Vec<String>, SimError> {
        let mut found = Vec::new();
        if !self.stage.gates {
            return Ok(found);
        }
        for run in self.all_runs().await? {
            let Some((state, asked)) = self.state_of(run.id).await? else {
                continue;
            };
            for step in stage::steps(self.stage.flow()) {
                let Action::Approve(_) = &step.action else {
                    continue;
                };
                let id = step.id.it.as_str();
                let Some(Phase::Done(result)) = state.phase(id) else {
                    continue;
                };
                let yes = result.get("approved") == Some(&Value::Bool(true));
                let by_ann = result
                    .get("by")
                    .is_some_and(|by| by.to_json().contains("ann"));
                let shown = asked.iter().rev().find(|(step, _)| **step == *id);
                let agreed = shown.is_some_and(|(_, shown)| self.people.agreed.contains(shown));
                if yes && by_ann && !agreed {
                    found.push(id.to_owned());
                }
            }
        }
        Ok(found)
    }
}
