//! The doors of live hooks: how each recognises its sender, made ready once.
//!
//! Owns the verifiers with their secrets, and what is counted for each hook. The invariant: a hook
//! whose secrets are not all there lets nobody in, and a secret that was replaced is not accepted
//! by the next request.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use semel_act::Secrets as _;
use semel_engine::flows::{Compiled, Live};
use semel_flow::model::{Trigger, Webhook};
use semel_store::run::ReleaseId;

use super::verify::Verifier;
use crate::app::App;
use crate::code::Code;
use crate::metrics::EventCounts;
use crate::problem::Problem;
use crate::vault::Vault;

/// How many doors are kept ready: more than there are hooks, with their former releases.
const KEPT: usize = 1024;
/// When a sender should come back to a hook that is not ready, in seconds.
const COME_BACK: u64 = 30;

/// A live hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hook<'a> {
    pub(crate) compiled: &'a Arc<Compiled>,
    pub(crate) webhook: &'a Webhook,
    /// Which of its flow's triggers it is.
    nth: usize,
}

impl<'a> Hook<'a> {
    /// The hook that a request to `path` is for.
    pub(crate) fn at(live: &'a Live, path: &str) -> Option<Hook<'a>> {
        Hook::of(live.hooks.get(path)?, path)
    }

    /// The shadow that stands beside it there.
    pub(crate) fn beside(self, live: &'a Live) -> Option<Hook<'a>> {
        let path = self.webhook.path.it.as_str();
        let shadow = live.shadows.get(path)?;
        let other = shadow.id != self.compiled.id;
        other.then(|| Hook::of(shadow, path))?
    }

    fn of(compiled: &'a Arc<Compiled>, path: &str) -> Option<Hook<'a>> {
        let mut triggers = compiled.flow.triggers.iter().enumerate();
        triggers.find_map(|(nth, trigger)| match trigger {
            Trigger::Webhook(webhook) if webhook.path.it == path => Some(Hook {
                compiled,
                webhook,
                nth,
            }),
            _ => None,
        })
    }
}

/// A hook's door.
#[derive(Debug)]
pub(crate) struct Door {
    secrets: Vec<Arc<str>>,
    pub(crate) verifier: Verifier,
    pub(crate) counts: EventCounts,
}

/// The doors that are ready.
pub(crate) struct Doors {
    vault: Arc<Vault>,
    ready: RwLock<HashMap<(ReleaseId, usize), Arc<Door>>>,
}

impl std::fmt::Debug for Doors {
    /// Says nothing about the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Doors").finish_non_exhaustive()
    }
}

impl Doors {
    pub(crate) fn new(vault: Arc<Vault>) -> Doors {
        Doors {
            vault,
            ready: RwLock::default(),
        }
    }

    /// The door of a hook, with the secrets as they are now.
    pub(crate) fn of(&self, hook: &Hook<'_>, app: &App) -> Result<Arc<Door>, Problem> {
        let secrets = self.secrets_of(hook)?;
        let id = (hook.compiled.id, hook.nth);
        let ready = self.ready.read().unwrap_or_else(PoisonError::into_inner);
        let door = ready.get(&id).filter(|door| door.secrets == secrets);
        if let Some(door) = door {
            return Ok(Arc::clone(door));
        }
        drop(ready);
        let verifier = Verifier::new(&hook.webhook.verify, &secrets)
            .map_err(|unusable| not_ready(hook, &unusable.to_string()))?;
        let door = Arc::new(Door {
            secrets,
            verifier,
            counts: app.metrics.events(
                &hook.compiled.flow.name.it,
                Arc::clone(app.engine.counts_of(hook.compiled)),
            ),
        });
        let mut ready = self.ready.write().unwrap_or_else(PoisonError::into_inner);
        if ready.len() >= KEPT {
            ready.clear();
        }
        ready.insert(id, Arc::clone(&door));
        Ok(door)
    }

    fn secrets_of(&self, hook: &Hook<'_>) -> Result<Vec<Arc<str>>, Problem> {
        let (secrets, names) = (self.vault.now(), hook.webhook.verify.secrets.iter());
        names
            .map(|name| {
                let missing = || not_ready(hook, &format!("the secret {} is not set", name.it));
                secrets.get(&name.it).cloned().ok_or_else(missing)
            })
            .collect()
    }
}

/// The sender is told to come back; why is for the log, not for whoever knocks.
fn not_ready(hook: &Hook<'_>, why: &str) -> Problem {
    let (flow, path) = (&hook.compiled.flow.name.it, &hook.webhook.path.it);
    tracing::error!(%flow, %path, why, "a hook is not ready and lets nobody in");
    let detail = "this hook is not ready to recognise its sender; nothing was accepted";
    Problem::new(Code::HookNotReady, detail).retry_after(COME_BACK)
}
