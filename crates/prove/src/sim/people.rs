//! What people and other systems do: they call back, say yes or no, click retry and re-run.
//!
//! They go the way that the server's routes go: what is said and the mail that wakes a run are one commit.

use std::collections::HashSet;
use std::sync::Arc;

use semel_engine::Engine;
use semel_engine::journal::{Happening, Note, read as read_row};
use semel_engine::state::{Phase, State};
use semel_engine::{callback, load, places};
use semel_flow::Value;
use semel_flow::model::{Action, Wait};
use semel_ledger::json::Canonical;
use semel_ledger::{Command, Decision, Digest, EffectId, Key, Scope, State as EffectState};
use semel_store::run::{Loaded, Run, RunId};
use semel_store::{Change, Content, EffectChange, StoreError};

use super::{Sim, SimError};
use crate::schedule::Delivery;

/// Who clicks and answers.
const ANN: &str = "ann";
/// What another callback posts.
const OTHER: &str = r#"{"other":true}"#;

/// What people have said.
#[derive(Debug, Default)]
pub(super) struct People {
    called: HashSet<(RunId, Arc<str>)>,
    answered: HashSet<EffectId>,
    /// What they saw and said yes to.
    pub(super) agreed: Vec<Value>,
    came_late: bool,
}

impl Sim<'_> {
    /// Whoever is waited for does what they are waited for; false if there is nobody.
    pub(super) async fn people_answer(&mut self) -> Result<bool, SimError> {
        let mut some = false;
        if self.stage.callbacks && self.delivery != Delivery::CalledLate {
            some |= self.calls(true).await?;
        }
        if self.stage.gates && self.delivery != Delivery::YesLate {
            let often = usize::from(self.delivery == Delivery::YesTwice) + 1;
            some |= self.say_yes(often).await?;
        }
        Ok(some)
    }

    /// Those who are late come when nobody waits any more; false if they came before.
    pub(super) async fn people_come_late(&mut self) -> Result<bool, SimError> {
        let late = matches!(self.delivery, Delivery::CalledLate | Delivery::YesLate);
        if !late || std::mem::replace(&mut self.people.came_late, true) {
            return Ok(false);
        }
        if self.delivery == Delivery::CalledLate {
            self.calls(false).await?;
        } else {
            self.say_yes(1).await?;
        }
        Ok(true)
    }

    /// Everybody who is ever to call back does so now.
    pub(super) async fn call_back(&mut self) -> Result<bool, SimError> {
        self.calls(false).await
    }

    /// Callbacks that have not come yet come: those that are waited for, or all.
    async fn calls(&mut self, waited_for: bool) -> Result<bool, SimError> {
        let mut due = Vec::new();
        for run in self.all_runs().await? {
            let Some((state, _)) = self.state_of(run.id).await? else {
                continue;
            };
            for step in places::own_steps(self.stage.flow(), &state) {
                let waits = matches!(state.phase(&step.id.it), Some(Phase::Waiting { .. }));
                if matches!(step.action, Action::Wait(Wait::Callback(_))) && (waits || !waited_for)
                {
                    due.push((run.id, places::name(step)));
                }
            }
        }
        due.retain(|it| self.people.called.insert(it.clone()));
        for (run, step) in &due {
            let body = self.stage.bodies.get(step).cloned().unwrap_or(Value::Null);
            let body = body.to_json();
            self.world.tell(format!("{step}: the callback comes"));
            self.insist(|engine| post(engine, *run, Arc::clone(step), body.clone()))
                .await?;
            if self.delivery == Delivery::CalledTwice {
                self.world
                    .tell(format!("{step}: the callback comes twice more"));
                self.insist(|engine| post(engine, *run, Arc::clone(step), body.clone()))
                    .await?;
                self.insist(|engine| post(engine, *run, Arc::clone(step), OTHER.to_owned()))
                    .await?;
            }
        }
        Ok(!due.is_empty())
    }

    /// Whoever is asked for leave answers, so often.
    pub(super) async fn say_yes(&mut self, often: usize) -> Result<bool, SimError> {
        let mut due = Vec::new();
        for run in self.all_runs().await? {
            let Some((state, _)) = self.state_of(run.id).await? else {
                continue;
            };
            for known in state.steps.values() {
                if let Phase::Requested(gate) = &known.phase
                    && let Some(effect) = named(&gate.grant.scope, &gate.grant.key)
                {
                    due.push((effect, gate.shown.clone()));
                }
            }
        }
        due.retain(|(effect, _)| self.people.answered.insert(effect.clone()));
        for (effect, shown) in &due {
            let word = match self.delivery {
                Delivery::No => Decision::Failed,
                _ => Decision::Happened,
            };
            if word == Decision::Happened {
                self.world.tell("a person says yes");
                self.people.agreed.push(shown.clone());
            } else {
                self.world.tell("a person says no");
                self.refused = true;
            }
            for _ in 0..often {
                self.insist(|engine| decide(engine, effect.clone(), word, ANN))
                    .await?;
            }
            if self.delivery == Delivery::YesNo {
                self.world.tell("another person says no");
                self.insist(|engine| decide(engine, effect.clone(), Decision::Failed, "bob"))
                    .await?;
            }
        }
        Ok(!due.is_empty())
    }

    /// A person clicks retry on everything that is open.
    pub(super) async fn retry(&mut self) -> Result<(), SimError> {
        self.world.tell("a person clicks retry");
        for run in self.all_runs().await? {
            if run.state.is_open() {
                let note = Note::Resume {
                    by: ANN.into(),
                    note: None,
                };
                let id = run.id;
                self.insist(|engine| {
                    let note = note.clone();
                    async move { engine.tell(id, &note).await.map(drop) }
                })
                .await?;
            }
        }
        Ok(())
    }

    /// A person clicks re-run on everything that is over, twice.
    pub(super) async fn rerun(&mut self) -> Result<(), SimError> {
        for run in self.runs(None).await? {
            if run.state.is_open() || super::ticks::is_fetch(&run) {
                continue;
            }
            self.world.tell("a person clicks re-run, twice");
            let engine = self.node.engine.clone();
            let Ok(plan) = engine.plan(run.id, None).await else {
                continue;
            };
            for _ in 0..2 {
                let again = engine.rerun(run.id, None, &plan.hash, ANN).await;
                self.reruns.extend(again.ok());
            }
        }
        self.settle().await
    }

    /// Every run, with those of items and calls.
    pub(super) async fn all_runs(&self) -> Result<Vec<Run>, SimError> {
        let mut open = self.runs(None).await?;
        let mut all = Vec::new();
        while let Some(run) = open.pop() {
            open.extend(self.runs(Some(run.id)).await?);
            all.push(run);
        }
        Ok(all)
    }

    /// Where a run stands, and what it asked people.
    pub(super) async fn state_of(
        &self,
        run: RunId,
    ) -> Result<Option<(State, Vec<(Arc<str>, Value)>)>, SimError> {
        let Some(Loaded { journal, .. }) = self.root.load_run(run).await? else {
            return Ok(None);
        };
        let rows = journal
            .iter()
            .filter_map(|row| read_row(row.at, &row.row).ok());
        let asked = rows.flatten().filter_map(|happening| match happening {
            Happening::Requested(asked) => Some((asked.step, asked.shown.value())),
            _ => None,
        });
        let asked = asked.collect();
        let folded = load::fold(&self.root, &journal).await;
        Ok(folded.ok().map(|folded| (folded.state, asked)))
    }
}

fn named(scope: &str, key: &str) -> Option<EffectId> {
    let key: Key = key.parse().ok()?;
    Some(EffectId::new(Scope::new(scope).ok()?, key))
}

/// Somebody posts to the address of a callback.
async fn post(engine: Engine, run: RunId, step: Arc<str>, body: String) -> Result<(), StoreError> {
    let store = engine.store();
    let posted = Canonical::trusted(body.into());
    let remember = engine.settings().remember;
    let Ok(arrival) = callback::arrival(run, &step, &posted, remember) else {
        return Ok(());
    };
    if store.load(&arrival.effect).await?.is_some() {
        return store.step(arrival).await.map(drop);
    }
    if store.run(run).await?.is_some_and(|run| run.state.is_open()) {
        let mail = callback::mail(run, &step);
        store.commit(vec![arrival.into(), mail]).await?;
        engine.mail_came(run);
    }
    Ok(())
}

/// Somebody answers a request.
async fn decide(
    engine: Engine,
    effect: EffectId,
    decision: Decision,
    by: &str,
) -> Result<(), StoreError> {
    let store = engine.store();
    let Some(record) = store.load(&effect).await? else {
        return Ok(());
    };
    let yes = decision == Decision::Happened;
    let result = yes.then(|| format!(r#"{{"approved":true,"by":["{by}"],"note":null}}"#));
    let said = [Some(decision.name()), result.as_deref(), None, Some(by)];
    let change = EffectChange {
        effect,
        command: Command::Decide {
            decision,
            attempt: Some(record.entry.attempt),
            digest: Digest::of_decision(said),
        },
        content: Content {
            result: result.map(Into::into),
            by: Some(by.into()),
            ..Content::default()
        },
    };
    let open = matches!(
        record.state_at(store.now()),
        EffectState::Unknown | EffectState::Review
    );
    let run = record.by.as_deref().and_then(RunId::parse).filter(|_| open);
    let Some(run) = run else {
        return store.step(change).await.map(drop);
    };
    let note = Note::Resume {
        by: by.into(),
        note: None,
    };
    let note = serde_json::to_string(&note).unwrap_or_default().into();
    store
        .commit(vec![change.into(), Change::Mail { run, note }])
        .await?;
    engine.mail_came(run);
    Ok(())
}
