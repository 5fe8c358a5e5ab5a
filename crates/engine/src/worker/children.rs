//! Runs that a run starts: one for each item, one for a call, one for each receiver of an event.

mod calls;
mod items;

use std::sync::Arc;

use semel_flow::model::Action;
use semel_ledger::Verdict;
use semel_store::run::{RunId, StartOutcome, Started};

use super::Active;
use super::book::Gone;
use crate::engine::Inner;
use crate::journal::Happening;
use crate::places;
use crate::state::Phase;

impl Active {
    pub(super) async fn spawn(&mut self, inner: &Arc<Inner>, step: &Arc<str>) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let Some(found) = places::find(&compiled.flow, step) else {
            return Ok(());
        };
        match &found.action {
            Action::ForEach(each) => self.spawn_items(inner, found, each).await,
            Action::Call { flow, input } => self.spawn_call(inner, found, &flow.it, input).await,
            Action::Emit { event, data } => self.emit(inner, found, &event.it, data).await,
            _ => Ok(()),
        }
    }

    /// The runs that a step waited for are over.
    pub(super) async fn collect(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
    ) -> Result<(), Gone> {
        let Some(Phase::Returned(spawned)) = self.state.phase(step).cloned() else {
            return Ok(());
        };
        match spawned.run.as_deref().map(RunId::parse) {
            None => self.collect_items(inner, step, &spawned).await,
            Some(run) => self.collect_call(inner, step, run).await,
        }
    }

    pub(super) fn give_up(&mut self, step: &Arc<str>, message: String) {
        self.note(Happening::GaveUp {
            step: Arc::clone(step),
            message: message.into(),
        });
    }
}

enum Became {
    Started,
    Done,
    Elsewhere,
}

fn what_became(started: &Started) -> Became {
    let verdict = started.answered.as_ref().map(|answered| answered.verdict);
    match (started.outcome, verdict) {
        // Granted and not started: it was written before, and that answer was lost.
        (StartOutcome::Started { .. }, _) | (_, Some(Verdict::Granted | Verdict::First)) => {
            Became::Started
        }
        (_, Some(Verdict::Done)) => Became::Done,
        _ => Became::Elsewhere,
    }
}
