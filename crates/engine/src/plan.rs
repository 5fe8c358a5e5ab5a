//! What would happen if a run were done again, step by step, before it is.
//!
//! Owns the plan of a re-run ([`Plan`]) and starting exactly that plan. Nothing here performs anything:
//! what the plan says is what the ledger and the recorded results will lead to. The invariant: a
//! re-run is started only with the hash of a plan that is still true.

mod gates;
mod kinds;

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Action, Step};
use semel_ledger::{
    Claim, Command, EffectId, Fingerprint, Key, Millis, Owner, Scope, State as EffectState,
};
use semel_store::planted::{self, Bug};
use semel_store::run::{Run, RunId, Start, StartOutcome, Started};
use semel_store::{Content, EffectChange, Stored};

use crate::counts;
use crate::engine::{Engine, fence};
use crate::flows::Compiled;
use crate::journal::Kept;
use crate::load;
use crate::names::{Identity, RunNames};
use crate::places;
use crate::resolve::{self, ResolveError};
use crate::start::{RunOf, again_opening, started, started_run};
use crate::state::{Phase, State};

pub use kinds::{Plan, PlanError, Planned, What};

impl Engine {
    /// What would happen if a run that is over were done again, by that release or its own.
    ///
    /// # Errors
    /// [`PlanError`].
    pub async fn plan(
        &self,
        run: RunId,
        release: Option<Arc<Compiled>>,
    ) -> Result<Plan, PlanError> {
        let store = self.store();
        let loaded = store.load_run(run).await?.ok_or(PlanError::NoRun)?;
        if loaded.run.state.is_open() {
            let state = loaded.run.state.name();
            return Err(PlanError::Open { state });
        }
        if let Some(parent) = loaded.run.parent {
            let parent = parent.text();
            return Err(PlanError::Child { parent });
        }
        let folded = load::fold(store, &loaded.journal).await?;
        let before = self.flows().release(store, loaded.run.release).await?;
        let release = release.unwrap_or_else(|| Arc::clone(&before));
        let mut planner = Planner {
            engine: self,
            before: &before,
            after: &release,
            state: &folded.state,
            identity: Identity {
                id: run.text().into(),
                key: loaded.run.key.as_str().into(),
            },
            steps: Vec::new(),
            reuse: Vec::new(),
        };
        planner.block(&release.flow.steps).await?;
        let Planner { steps, reuse, .. } = planner;
        let hash = hash(&loaded.run, &release, &steps);
        Ok(Plan {
            run: loaded.run,
            release,
            steps,
            hash,
            reuse,
            own: folded.state.own,
            opening: folded.state.opening,
        })
    }

    /// Carries out the plan that has this hash, if it is still true. Gives the new run.
    ///
    /// # Errors
    /// [`PlanError`]; with [`PlanError::Changed`] nothing was started.
    pub async fn rerun(
        &self,
        run: RunId,
        release: Option<Arc<Compiled>>,
        hash: &str,
        by: &str,
    ) -> Result<RunId, PlanError> {
        let plan = self.plan(run, release).await?;
        if plan.hash != hash {
            let plan = Box::new(plan);
            return Err(PlanError::Changed { plan });
        }
        let id = self.store().new_run_id();
        let start = self.again(plan, id, by)?;
        let flow = start.run.flow.clone();
        let started = self.store().start(start).await?;
        if matches!(started.outcome, StartOutcome::Started { .. }) {
            self.inner.counts.of(&flow).add(counts::What::Runs);
            self.inner.changed.tell(id);
        }
        self.look();
        match started.outcome {
            StartOutcome::Started { .. } => Ok(id),
            _ => Err(PlanError::Again {
                run: first_run(&started),
            }),
        }
    }

    fn again(&self, plan: Plan, id: RunId, by: &str) -> Result<Start, PlanError> {
        let Plan {
            run,
            release,
            hash,
            reuse,
            opening,
            own,
            ..
        } = plan;
        let reuse = if planted::is(Bug::RerunIsAnother) {
            Vec::new()
        } else {
            reuse
        };
        let key = Key::from_parts(&["again", &run.id.text(), &hash])?;
        let claim = Claim {
            fence: fence(),
            owner: Owner::Client,
            fingerprint: None,
            on_unknown: None,
            lease: Millis(0),
            remember: self.settings().remember,
        };
        let once = EffectChange {
            effect: EffectId::new(Scope::new(&release.flow.name.it)?, key),
            command: Command::Once(claim),
            content: Content {
                result: Some(started(id)),
                by: Some(by.into()),
                ..Content::default()
            },
        };
        let now = self.store().now();
        let new = RunOf {
            compiled: &release,
            id,
            key: if planted::is(Bug::RerunIsAnother) {
                Key::from_parts(&["rerun", &id.text()])?
            } else {
                run.key
            },
            parent: None,
            lane: None,
            begin: false,
            now,
        };
        Ok(Start {
            once: Some(once),
            latest: None,
            otherwise: None,
            run: new.with(again_opening(&opening, by, run.id, reuse, &own)),
        })
    }
}

/// The run that carried the same plan out before.
fn first_run(started: &Started) -> Option<RunId> {
    let record = started.answered.as_ref()?.record.as_ref()?;
    match record.result.as_ref()? {
        Stored::Inline(text) => started_run(text),
        Stored::Blob(_) => None,
    }
}

struct Planner<'a> {
    engine: &'a Engine,
    before: &'a Compiled,
    after: &'a Compiled,
    state: &'a State,
    identity: Identity,
    steps: Vec<Planned>,
    reuse: Vec<(Arc<str>, Kept)>,
}

impl Planner<'_> {
    async fn block(&mut self, block: &[Step]) -> Result<(), PlanError> {
        let mut open: Vec<&Step> = block.iter().rev().collect();
        while let Some(step) = open.pop() {
            let inside = self.step(step).await?;
            if inside {
                let inner: Vec<&Step> = places::inner(step).flatten().collect();
                open.extend(inner.into_iter().rev());
            }
        }
        Ok(())
    }

    /// Plans one step; true if the steps inside it are planned too.
    async fn step(&mut self, step: &Step) -> Result<bool, PlanError> {
        let id = step.id.it.as_str();
        let was = places::find(&self.before.flow, id);
        let same = was.is_some_and(|was| self.before.written(was) == self.after.written(step));
        let is_effect = step.class().has_effect();
        let undone = was.is_some_and(|was| is_undone(was, self.state));
        let is_gate = matches!(step.action, Action::Approve(_));
        let (what, why, effect) = match self.state.phase(id) {
            // Whether it was approved is the ledger's to say, not the run's before.
            _ if is_gate => self.gate(step).await?,
            Some(Phase::Done(_)) if same && !undone => {
                (What::Reuse, "done in the run before".to_owned(), None)
            }
            _ if is_effect => self.effect(step).await?,
            Some(Phase::Done(_)) if undone => (What::Execute, "it was taken back".to_owned(), None),
            Some(Phase::Done(_)) => {
                let why = "the step has changed, and a repeat is harmless".to_owned();
                (What::Execute, why, None)
            }
            Some(Phase::Skipped) if same => (
                What::Execute,
                "skipped before; its `if` is asked again".to_owned(),
                None,
            ),
            _ if matches!(step.action, Action::ForEach(_)) => {
                let why = "items that are done are not done again".to_owned();
                (What::Execute, why, None)
            }
            _ => (What::Execute, "not done yet".to_owned(), None),
        };
        if what == What::Reuse && !is_gate {
            self.take_over(step);
        }
        self.steps.push(Planned {
            step: id.into(),
            class: step.class(),
            what,
            why,
            effect,
        });
        let enters = !matches!(step.action, Action::ForEach(_));
        Ok(enters && what != What::Reuse)
    }

    /// The recorded result stands, with those of the steps inside.
    fn take_over(&mut self, step: &Step) {
        if let Some(result) = self.state.result(&step.id.it) {
            let result = Kept::Is(result.clone());
            self.reuse.push((places::name(step), result));
        }
        if !matches!(step.action, Action::ForEach(_)) {
            for inner in places::inner(step).flatten() {
                self.take_over(inner);
            }
        }
    }

    /// What the ledger knows of a step's effect.
    async fn effect(&self, step: &Step) -> Result<(What, String, Option<EffectId>), PlanError> {
        let resolved = {
            let more = [];
            let names = self.names(&more);
            resolve::main_act(step).map(|act| {
                let call = resolve::call(&self.after.flow, step, act, &names, 1)?;
                resolve::identified(call, self.engine.steps())
            })
        };
        let call = match resolved {
            Some(Ok(call)) => call,
            Some(Err(ResolveError::Identity { message })) => {
                return Ok((What::Blocked, message, None));
            }
            _ => {
                let why = "its key or input needs what earlier steps will give".to_owned();
                return Ok((What::Execute, why, None));
            }
        };
        let Some(effect) = call.effect else {
            return Ok((What::Execute, "not done yet".to_owned(), None));
        };
        let record = self.engine.store().load(&effect.id).await?;
        let (what, why) = judge(record.as_ref(), effect.fingerprint, self.engine);
        Ok((what, why, Some(effect.id)))
    }

    fn names<'n>(&'n self, more: &'n [(&'n str, Value)]) -> RunNames<'n> {
        RunNames {
            flow: &self.after.flow,
            identity: &self.identity,
            state: self.state,
            outer: None,
            now: self.engine.store().now(),
            seed: [0; 16],
            more,
            links: &self.engine.settings().links,
            drawn: Cell::new(0),
        }
    }
}

/// Whether a step that was done, or one inside it, was taken back.
fn is_undone(step: &Step, state: &State) -> bool {
    let mut undo = step.undo.iter();
    undo.any(|undo| state.result(&undo.id.it).is_some())
        || places::inner(step)
            .flatten()
            .any(|inner| is_undone(inner, state))
}

fn judge(
    record: Option<&semel_store::Record>,
    mine: Fingerprint,
    engine: &Engine,
) -> (What, String) {
    let Some(record) = record else {
        return (What::Execute, "never done under this key".to_owned());
    };
    let by = record.by.as_deref().unwrap_or("an earlier claim");
    let other = record.entry.fingerprint.is_some_and(|first| first != mine);
    match record.state_at(engine.store().now()) {
        EffectState::Failed => (
            What::Execute,
            "it failed before: nothing happened".to_owned(),
        ),
        EffectState::Released => (
            What::Execute,
            "a resend was approved, or nothing was sent".to_owned(),
        ),
        EffectState::Done | EffectState::Undone if other => (
            What::Blocked,
            format!("done by {by} with another input under the same key"),
        ),
        EffectState::Done => (What::Reuse, format!("done by {by}")),
        EffectState::Undone => (
            What::Blocked,
            format!(
                "done by {by} and taken back: this key is used up; to do it again on purpose, give the step another key"
            ),
        ),
        EffectState::Claimed => (What::Blocked, format!("{by} is at it")),
        EffectState::Unknown | EffectState::Review => {
            (What::Ask, format!("nobody knows whether {by} did it"))
        }
    }
}

fn hash(run: &Run, release: &Compiled, steps: &[Planned]) -> String {
    let mut text = String::new();
    let _ = write!(text, "{} {:?}", run.id.text(), release.id);
    for planned in steps {
        let _ = write!(
            text,
            "\n{} {} {}",
            planned.step,
            planned.what.name(),
            planned.why
        );
    }
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}
