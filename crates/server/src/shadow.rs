//! Shadows: flows that take triggers, evaluate everything and do nothing.
//!
//! Owns what stands in for the world when a shadow would act: nothing leaves, and the answer is one that the flow can
//! go on with. Where the flow says how to ask the destination, it is asked first, so that what really happened is
//! found and its true result goes on. What a shadow is, is decided in `semel_flow::shadow`; what came of it is
//! told by [`report`].
//!
//! The invariant: a task of a shadow is never handed on.

pub(crate) mod report;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use semel_act::{Answer, Outcome, Perform, Performing, Task, Trace};
use semel_flow::Value;
use semel_flow::model::Act;
use semel_prove::Stage;
use semel_store::Store;

/// How many shadows are kept ready.
const KEPT: usize = 64;
/// What the history of a shadow's step says when the destination is asked.
const LOOKED_UP: &str = "a shadow sends nothing; the destination is asked whether it was done";

/// Performs what flows ask for, and tells what their shadows would have.
pub(crate) struct Shadowing {
    perform: Arc<dyn Perform>,
    store: Arc<Store>,
    /// By the shadow's name.
    stages: Mutex<HashMap<Arc<str>, Arc<Stage>>>,
}

impl Shadowing {
    pub(crate) fn new(perform: Arc<dyn Perform>, store: &Arc<Store>) -> Shadowing {
        Shadowing {
            perform,
            store: Arc::clone(store),
            stages: Mutex::default(),
        }
    }

    async fn pretend(&self, shadow: &Arc<str>, task: &Task) -> Outcome {
        let stage = self.stage(shadow, &task.act).await;
        let can_be_asked = stage.as_ref().is_some_and(|it| it.can_be_asked(&task.act));
        if can_be_asked && task.attempt == 1 {
            return Outcome::Unknown {
                message: LOOKED_UP.to_owned(),
                evidence: None,
            };
        }
        let answer = stage.and_then(|stage| stage.believable(&task.act));
        Outcome::Done(answer.unwrap_or(Answer {
            names: Value::map::<&str>([]),
            result: Value::Null,
        }))
    }

    /// The shadow as it is deployed now, made ready once; `None` if it is not, or has no such call any more.
    async fn stage(&self, shadow: &Arc<str>, act: &Act) -> Option<Arc<Stage>> {
        let ready = self.ready(shadow);
        if let Some(stage) = ready.filter(|stage| stage.believable(act).is_some()) {
            return Some(stage);
        }
        let live = self.store.live().await.ok()?;
        let release = live.into_iter().find(|release| *release.flow == **shadow)?;
        let source = self.store.text(&release.source).await.ok()??;
        let stage = Arc::new(Stage::new(&source, Vec::new()).ok()?);
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if stages.len() >= KEPT {
            stages.clear();
        }
        stages.insert(Arc::clone(shadow), Arc::clone(&stage));
        Some(stage)
    }

    fn ready(&self, shadow: &str) -> Option<Arc<Stage>> {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        stages.get(shadow).cloned()
    }
}

impl Perform for Shadowing {
    fn perform<'a>(&'a self, task: &'a Task, trace: &'a dyn Trace) -> Performing<'a> {
        match &task.act.shadow {
            Some(shadow) => Box::pin(self.pretend(shadow, task)),
            None => self.perform.perform(task, trace),
        }
    }

    fn identity(&self, act: &Act, input: &Value) -> Result<Option<Value>, String> {
        self.perform.identity(act, input)
    }
}
