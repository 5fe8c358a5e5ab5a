//! What a run waits for has come, or has not: mail is looked into, patience ends.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Action, OnTimeout, Step, Wait};
use semel_store::run::RunId;
use semel_store::{Answer, Change, Record, StoreError};

use super::Active;
use super::book::{Gone, patiently};
use crate::callback;
use crate::decide::{on_timeout, patience};
use crate::engine::Inner;
use crate::journal::{Done, Happening, How, Kept, Note, WaitsFor};
use crate::places;
use crate::state::Phase;

impl Active {
    /// Looks into mail that only points at something.
    pub(super) async fn open_post(&mut self, inner: &Arc<Inner>) -> Result<(), Gone> {
        for note in std::mem::take(&mut self.post) {
            match note {
                Note::Callback { step } => self.called_back(inner, &step).await?,
                Note::Heard { run, emit } => {
                    if let Some(run) = RunId::parse(&run) {
                        self.heard(inner, run, emit.as_deref()).await?;
                    }
                }
                Note::Cancel { .. } | Note::Resume { .. } | Note::Child { .. } => {}
            }
        }
        Ok(())
    }

    /// A callback is on record: it is used, or kept until its turn comes.
    async fn called_back(&mut self, inner: &Inner, step: &Arc<str>) -> Result<(), Gone> {
        let phase = self.state.phase(step);
        let over = matches!(phase, Some(Phase::Done(_) | Phase::Skipped | Phase::GaveUp));
        let waits = matches!(
            phase,
            Some(Phase::Waiting {
                what: WaitsFor::Callback,
                ..
            })
        );
        if over || self.state.early.contains_key(step) {
            return Ok(());
        }
        let Ok(effect) = callback::effect(self.id, step) else {
            return Ok(());
        };
        let record = patiently(|| inner.store.load(&effect)).await?;
        let Some(record) = record.filter(|record| !callback::is_expired(record)) else {
            return Ok(());
        };
        let posted = posted(inner, &record).await?;
        if waits {
            self.arrived(step, posted, Some(&record));
            return Ok(());
        }
        let result = Kept::new(posted, &mut self.journal.contents);
        let step = Arc::clone(step);
        self.note(Happening::CameEarly { step, result });
        Ok(())
    }

    /// What a step waited for has come.
    pub(super) fn arrived(&mut self, step: &Arc<str>, result: Value, record: Option<&Record>) {
        let effect = record.map(|record| {
            let effect = &record.effect;
            (effect.scope.as_str().into(), effect.key.as_str().into())
        });
        let result = Kept::new(result, &mut self.journal.contents);
        self.note(Happening::Done(Box::new(Done {
            how: How::Arrived,
            effect,
            ..Done::plain(Arc::clone(step), result)
        })));
    }

    /// Patience has ended. Of a callback the ledger knows whether it came at the last moment.
    pub(super) async fn expire(&mut self, inner: &Arc<Inner>, step: &Arc<str>) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let Some(found) = places::find(&compiled.flow, step) else {
            return Ok(());
        };
        if matches!(found.action, Action::Wait(Wait::ForEvent(_))) {
            self.hush(step);
            self.timed_out(found);
            return Ok(());
        }
        let remember = inner.settings.remember;
        let Ok(once) = callback::expiry(self.id, step, "nobody called back in time", remember)
        else {
            return Ok(());
        };
        let at = self.journal.changes.len();
        self.journal.changes.push(once.into());
        let answers = self.flush(inner).await?;
        let record = match answers.into_iter().nth(at) {
            Some(Answer::Effect(answered)) => answered.record,
            _ => None,
        };
        match record.filter(|record| !callback::is_expired(record)) {
            Some(first) => {
                let posted = posted(inner, &first).await?;
                self.arrived(step, posted, Some(&first));
            }
            None => self.timed_out(found),
        }
        Ok(())
    }

    fn timed_out(&mut self, step: &Step) {
        let name = places::name(step);
        match on_timeout(step) {
            OnTimeout::Fail => {
                let within = patience(step).map(|patience| patience.timeout);
                let within = within.map_or_else(String::new, |within| format!(" within {within}"));
                let what = match &step.action {
                    Action::Wait(Wait::Callback(_)) => "no callback came",
                    _ => "no event that matches came",
                };
                self.give_up(&name, format!("{what}{within}"));
            }
            OnTimeout::GoOn => self.note(Happening::Done(Box::new(Done {
                how: How::TimedOut,
                ..Done::plain(name, Kept::Is(Value::Null))
            }))),
        }
    }

    /// The run ends: callbacks that were not used can come no more, and it listens no more.
    pub(super) fn stop_waiting(&mut self, inner: &Inner) {
        let compiled = Arc::clone(&self.compiled);
        let mut changes: Vec<Change> = Vec::new();
        for step in places::own_steps(&compiled.flow, &self.state) {
            let Action::Wait(wait) = &step.action else {
                continue;
            };
            let phase = self.state.phase(&step.id.it);
            let waiting = matches!(phase, Some(Phase::Waiting { .. }));
            let unused = waiting || matches!(phase, None | Some(Phase::Skipped));
            match wait {
                Wait::Callback(_) if unused && !self.state.early.contains_key(&*step.id.it) => {
                    let remember = inner.settings.remember;
                    let why = "the run ended";
                    let once = callback::expiry(self.id, &step.id.it, why, remember);
                    changes.extend(once.ok().map(Change::from));
                }
                Wait::ForEvent(_) if waiting => changes.push(Change::Hush {
                    run: self.id,
                    step: step.id.it.as_str().into(),
                }),
                _ => {}
            }
        }
        self.journal.changes.extend(changes);
    }

    /// A step listens no more.
    pub(super) fn hush(&mut self, step: &Arc<str>) {
        self.journal.changes.push(Change::Hush {
            run: self.id,
            step: step.as_ref().into(),
        });
    }
}

/// What was posted first.
async fn posted(inner: &Inner, record: &Record) -> Result<Value, StoreError> {
    let text = match &record.result {
        Some(result) => patiently(|| inner.store.text(result)).await?,
        None => None,
    };
    let value = text.and_then(|text| Value::read(text.as_bytes()).ok());
    Ok(value.unwrap_or(Value::Null))
}
