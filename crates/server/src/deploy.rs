//! Deploying a flow: read and check it, keep its text as a release, let it take triggers.
//!
//! Owns what must hold before a text goes live: no errors, a path of its own for every hook, and no
//! done keys left behind unnoticed. A release is named by the hash of its text, so the same text
//! twice is one release. The invariant: what is refused changed nothing.

use semel_engine::flows::Live;
use semel_flow::check::hands_out_links;
use semel_flow::model::Trigger;
use semel_flow::shadow;
use semel_flow::{Diagnostic, Flow, Level};
use semel_ledger::{KeyError, Scope};
use semel_store::run::{ReleaseChange, ReleaseId};
use semel_store::{Answer, Change, Store, StoreError};

use crate::app::App;
use crate::examine::{self, Examined};
use crate::vault::VaultError;

/// How a deploy is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeployOptions {
    /// Keep the text, but let it take no triggers.
    pub draft: bool,
    /// Done keys of the live release may be left behind.
    pub abandon: bool,
    /// Let it take triggers beside what is live, and do nothing.
    pub shadow: bool,
}

/// What became of a deploy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeployStatus {
    /// It takes triggers now.
    Live,
    /// It is kept, and takes none.
    Draft,
    /// It takes triggers beside what is live, and does nothing.
    Shadow,
    /// It was so already.
    Unchanged,
}

impl DeployStatus {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DeployStatus::Live => "live",
            DeployStatus::Draft => "draft",
            DeployStatus::Shadow => "shadow",
            DeployStatus::Unchanged => "unchanged",
        }
    }
}

/// A flow that was deployed.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// Its name.
    pub flow: String,
    /// The release.
    pub release: ReleaseId,
    /// What became of it.
    pub status: DeployStatus,
    /// Warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The names of secrets that it uses and that are not there.
    pub missing_secrets: Vec<String>,
}

/// Done keys that would no longer be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedKeys {
    /// The scope they are kept under.
    pub scope: String,
    /// The step they are of; `None`: the flow's own.
    pub step: Option<String>,
    /// How many they are.
    pub keys: u64,
    /// Why they would not be found.
    pub why: String,
    /// What to write to keep them.
    pub keep: String,
}

/// Why a flow was not deployed.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// It cannot be run.
    #[error("the flow has errors")]
    Invalid {
        /// Everything that was found.
        diagnostics: Vec<Diagnostic>,
    },
    /// A path of a hook is another flow's.
    #[error("the path {path} belongs to the flow {flow}")]
    PathTaken {
        /// Which path.
        path: String,
        /// Whose.
        flow: String,
    },
    /// What is done would no longer be found.
    #[error("done keys of {} scopes would no longer be found", abandoned.len())]
    Abandoned {
        /// Which.
        abandoned: Vec<AbandonedKeys>,
    },
    /// What is live changed meanwhile.
    #[error("another deploy of the flow came in between")]
    Raced,
    /// A name is not acceptable.
    #[error(transparent)]
    Name {
        /// Why.
        #[from]
        source: KeyError,
    },
    /// The store could not.
    #[error("the store could not")]
    Store {
        /// Why.
        #[from]
        source: StoreError,
    },
    /// Its runs hand out links, and none could be made.
    #[error("the flow hands out links, and there is no key to sign them with")]
    Links {
        /// Why.
        #[from]
        source: VaultError,
    },
}

/// The name of a text's release.
#[must_use]
pub fn release_of(source: &str) -> ReleaseId {
    ReleaseId(*blake3::hash(source.as_bytes()).as_bytes())
}

/// The name of a text's release as a shadow: another than its own, so that both can take triggers.
fn shadow_of(source: &str) -> ReleaseId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"shadow\n").update(source.as_bytes());
    ReleaseId(*hasher.finalize().as_bytes())
}

/// Deploys a flow file for `by`.
///
/// # Errors
/// [`DeployError`]; nothing was changed then.
pub async fn deploy(
    app: &App,
    source: &str,
    options: DeployOptions,
    by: &str,
) -> Result<Deployed, DeployError> {
    let Examined { flow, diagnostics } = examine::examine(source);
    let errors = diagnostics.iter().any(|it| it.level == Level::Error);
    let Some(flow) = flow.filter(|_| !errors) else {
        return Err(DeployError::Invalid { diagnostics });
    };
    let name = if options.shadow {
        shadow::name_of(&flow.name.it)
    } else {
        flow.name.it.clone()
    };
    let release = if options.shadow {
        shadow_of(source)
    } else {
        release_of(source)
    };
    let missing_secrets = missing_secrets(app, &flow).await?;
    let deployed = |status| Deployed {
        flow: name.clone(),
        release,
        status,
        diagnostics: diagnostics.clone(),
        missing_secrets: missing_secrets.clone(),
    };
    let _deploying = app.deploying.lock().await;
    let known = app.store.release(release).await?;
    if known.is_some_and(|known| options.draft || known.live) {
        return Ok(deployed(DeployStatus::Unchanged));
    }
    if !options.draft && !options.shadow {
        check_live(app, &flow, options.abandon).await?;
    }
    ready_links(app, &flow).await?;
    let change = ReleaseChange::Deploy {
        id: release,
        flow: name.as_str().into(),
        source: source.into(),
        by: Some(by.into()),
        live: !options.draft,
    };
    let status = match (commit(app, change).await?, options.draft) {
        (false, _) => DeployStatus::Unchanged,
        (true, true) => DeployStatus::Draft,
        (true, false) if options.shadow => DeployStatus::Shadow,
        (true, false) => DeployStatus::Live,
    };
    Ok(deployed(status))
}

/// Lets a release that is kept take triggers, in place of the one that does.
///
/// # Errors
/// [`DeployError`]; nothing was changed then.
pub(crate) async fn go_live(
    app: &App,
    flow: &Flow,
    release: ReleaseId,
    abandon: bool,
) -> Result<DeployStatus, DeployError> {
    let _deploying = app.deploying.lock().await;
    check_live(app, flow, abandon).await?;
    ready_links(app, flow).await?;
    let live = app.engine.flows().live();
    let was = live.flows.get(flow.name.it.as_str()).map(|live| live.id);
    if was == Some(release) {
        return Ok(DeployStatus::Unchanged);
    }
    let change = ReleaseChange::GoLive {
        flow: flow.name.it.as_str().into(),
        id: release,
        was,
    };
    if commit(app, change).await? {
        Ok(DeployStatus::Live)
    } else {
        Err(DeployError::Raced)
    }
}

/// Sees to it that this node has the key for the links that runs of live flows hand out.
pub(crate) async fn ready_live(app: &App) {
    for live in app.engine.flows().live().flows.values() {
        if let Err(error) = ready_links(app, &live.flow).await {
            let flow = live.flow.name.it.as_str();
            tracing::warn!(flow, %error, "there is no key to sign the links of its runs with");
        }
    }
}

/// Sees to it that there is a key for the links that runs of the flow hand out, if they do.
pub(crate) async fn ready_links(app: &App, flow: &Flow) -> Result<(), VaultError> {
    if hands_out_links(flow) {
        app.vault.ready_links(&app.store).await?;
    }
    Ok(())
}

/// Lets no release of a flow take triggers; gives whether one did.
pub(crate) async fn retire(app: &App, flow: &str) -> Result<bool, DeployError> {
    let _deploying = app.deploying.lock().await;
    commit(app, ReleaseChange::Retire { flow: flow.into() }).await
}

async fn commit(app: &App, change: ReleaseChange) -> Result<bool, DeployError> {
    let mut answers = app.store.commit(vec![Change::Release(change)]).await?;
    app.engine.flows().refresh(&app.store).await?;
    Ok(matches!(answers.pop(), Some(Answer::Released(true))))
}

/// Whether a flow may take triggers beside and in place of what does.
async fn check_live(app: &App, flow: &Flow, abandon: bool) -> Result<(), DeployError> {
    app.engine.flows().refresh(&app.store).await?;
    let live = app.engine.flows().live();
    check_paths(&live, flow)?;
    let before = live.flows.get(flow.name.it.as_str());
    let Some(before) = before.filter(|_| !abandon) else {
        return Ok(());
    };
    let abandoned = abandoned(&app.store, &before.flow, flow).await?;
    if abandoned.is_empty() {
        Ok(())
    } else {
        Err(DeployError::Abandoned { abandoned })
    }
}

fn check_paths(live: &Live, flow: &Flow) -> Result<(), DeployError> {
    for trigger in &flow.triggers {
        let Trigger::Webhook(webhook) = trigger else {
            continue;
        };
        let path = webhook.path.it.as_str();
        let holder = live.hooks.get(path).map(|it| &it.flow.name.it);
        let is_other = |holder: &&String| **holder != flow.name.it;
        let holder = holder.filter(is_other);
        // A shadow makes room.
        if let Some(holder) = holder.filter(|holder| shadow::cast_by(holder).is_none()) {
            return Err(DeployError::PathTaken {
                path: path.to_owned(),
                flow: holder.clone(),
            });
        }
    }
    Ok(())
}

/// The names of secrets that a flow uses and that are not here. Where no server runs nothing is
/// missing yet: the environment that counts is that of the server to come.
pub(crate) async fn missing_secrets(app: &App, flow: &Flow) -> Result<Vec<String>, StoreError> {
    if app.settings.trusted {
        return Ok(Vec::new());
    }
    let (sealed, environment) = (app.store.secrets().await?, app.vault.environment());
    let is_there = |name: &String| {
        environment.get(name).is_some() || sealed.iter().any(|it| *it.name == **name)
    };
    let needed = semel_flow::check::secrets(flow).into_iter();
    Ok(needed.filter(|name| !is_there(name)).collect())
}

/// What is done by the live release and would not be found by the new one.
pub(crate) async fn abandoned(
    store: &Store,
    live: &Flow,
    new: &Flow,
) -> Result<Vec<AbandonedKeys>, DeployError> {
    let mut all = Vec::new();
    for lost in examine::abandoned(live, new) {
        let keys = store.done_keys(&Scope::new(&lost.scope)?).await?;
        if keys > 0 {
            all.push(AbandonedKeys { keys, ..lost });
        }
    }
    Ok(all)
}
