//! From the store to a run that can be worked on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use semel_flow::Value;
use semel_ledger::Time;
use semel_store::node::Membership;
use semel_store::run::{Advance, JournalRow, Loaded, Mail, Next, RunId, RunState};
use semel_store::{Change, Store, StoreError};

use crate::engine::Inner;
use crate::flows::ReleaseError;
use crate::journal::{self, Happening, Kept, Note, Opening, Origin, Unreadable};
use crate::names::{Identity, Outer};
use crate::state::{Phase, State};
use crate::worker::Active;

/// How many runs around items are kept ready.
const MAX_OUTERS: usize = 64;
/// How deep `for_each` may stand in `for_each`.
const MAX_OUTER: usize = 8;

/// Why a run cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its journal cannot be read.
    #[error("its journal cannot be read")]
    Journal {
        /// Why.
        #[from]
        source: Unreadable,
    },
    /// It does not begin with an opening.
    #[error("its journal has no opening")]
    NoOpening,
    /// Its release cannot be run.
    #[error("its release cannot be run")]
    Release {
        /// Why.
        #[from]
        source: ReleaseError,
    },
    /// A value that it refers to is gone.
    #[error("a long value that it refers to is gone")]
    BlobGone,
    /// The run around it is gone.
    #[error("the run that it belongs to is gone")]
    OuterGone,
    /// The store could not.
    #[error("the store could not be read")]
    Store {
        /// Why.
        #[from]
        source: StoreError,
    },
}

/// A journal, folded; with when its last row was written.
#[derive(Clone, Debug)]
pub struct Folded {
    /// Where the run stands.
    pub state: State,
    /// When its last row was written.
    pub last_row_at: Time,
    /// How many rows there are.
    pub rows: u32,
}

/// Folds a journal, fetching the long values that it refers to.
///
/// # Errors
/// [`LoadError`].
pub async fn fold(store: &Store, rows: &[JournalRow]) -> Result<Folded, LoadError> {
    let mut state: Option<State> = None;
    for row in rows {
        for mut happening in journal::read(row.at, &row.row)? {
            fetch(store, &mut happening).await?;
            match (&mut state, happening) {
                (None, Happening::Opened(opening)) => state = Some(State::opened(*opening)),
                (None, _) => return Err(LoadError::NoOpening),
                (Some(state), happening) => state.apply(&happening),
            }
        }
    }
    let last = rows.last().ok_or(LoadError::NoOpening)?;
    Ok(Folded {
        state: state.ok_or(LoadError::NoOpening)?,
        last_row_at: last.written_at,
        rows: last.at + 1,
    })
}

/// Puts in what expressions may need; the pieces of a list are fetched one by one when their turn comes.
async fn fetch(store: &Store, happening: &mut Happening) -> Result<(), LoadError> {
    match happening {
        Happening::Opened(opening) => fetch_opening(store, opening).await,
        Happening::Done(done) => fetch_kept(store, &mut done.result).await,
        Happening::Probed { evidence, .. } => fetch_kept(store, evidence).await,
        Happening::CameEarly { result, .. } => fetch_kept(store, result).await,
        Happening::Emitted(emitted) => fetch_kept(store, &mut emitted.data).await,
        Happening::Requested(asked) => fetch_kept(store, &mut asked.shown).await,
        _ => Ok(()),
    }
}

async fn fetch_opening(store: &Store, opening: &mut Opening) -> Result<(), LoadError> {
    fetch_kept(store, &mut opening.event).await?;
    if let Some(again) = &mut opening.again {
        for (_, result) in &mut again.reuse {
            fetch_kept(store, result).await?;
        }
    }
    Ok(())
}

pub(crate) async fn fetch_kept(store: &Store, kept: &mut Kept) -> Result<(), LoadError> {
    if let Kept::Blob(blob) = kept {
        let bytes = store.blob(blob.hash).await?.ok_or(LoadError::BlobGone)?;
        let value = Value::read(&bytes).map_err(|_| LoadError::BlobGone)?;
        *kept = Kept::Is(value);
    }
    Ok(())
}

/// A run that was just taken, ready to go on.
pub(crate) async fn active(
    inner: &Inner,
    loaded: Loaded,
    member: Membership,
) -> Result<Active, LoadError> {
    let Loaded { run, journal, mail } = loaded;
    inner.outers.forget(run.id);
    let Folded {
        mut state,
        last_row_at,
        rows,
    } = fold(&inner.store, &journal).await?;
    // It was never in anybody's hands: nothing can be under way.
    let parked_from_the_start = run.state == RunState::Parked && rows == 1;
    state.rests |= run.state == RunState::Queued || parked_from_the_start;
    // What rested until now cannot have begun anything before now.
    let last_row_at = if state.rests {
        inner.store.now()
    } else {
        last_row_at
    };
    let compiled = inner.flows.release(&inner.store, run.release).await?;
    let outer = outer(inner, &state, run.parent).await?;
    let identity = Identity {
        id: run.id.text().into(),
        key: run.key.as_str().into(),
    };
    let mut active = Active::new(
        run.id,
        compiled,
        identity,
        state,
        (member, inner.settings.links.clone()),
    );
    active.outer = outer;
    active.parent = run.parent;
    active.waits = run.waits;
    active.journal.rows = rows;
    active.journal.last_row_at = last_row_at;
    let over = children_over(inner, &active).await?;
    for step in over {
        active.note(Happening::Returned { step });
    }
    active.read(&mail);
    Ok(active)
}

/// Steps that wait for runs of which none is left: the mail about it may have been lost with a node
/// that died between two commits.
async fn children_over(inner: &Inner, active: &Active) -> Result<Vec<Arc<str>>, LoadError> {
    let waiting = |phase: &Phase| matches!(phase, Phase::Spawned(spawned) if spawned.waits);
    let steps: Vec<Arc<str>> = active
        .state
        .steps
        .iter()
        .filter(|(_, step)| waiting(&step.phase))
        .map(|(id, _)| Arc::clone(id))
        .collect();
    if steps.is_empty() {
        return Ok(steps);
    }
    let children = inner.store.children(active.id).await?;
    let open = children
        .iter()
        .any(|(state, count)| state.is_open() && *count > 0);
    Ok(if open { Vec::new() } else { steps })
}

/// The runs around an item's. They wait for it, so what they know does not change meanwhile: many
/// items share one.
async fn outer(
    inner: &Inner,
    state: &State,
    parent: Option<RunId>,
) -> Result<Option<Arc<Outer>>, LoadError> {
    if state.opening.by != Origin::Item {
        return Ok(None);
    }
    let id = parent.ok_or(LoadError::OuterGone)?;
    if let Some(outer) = inner.outers.get(id) {
        return Ok(Some(outer));
    }
    let outer = load_outer(&inner.store, id).await?;
    if let Some(outer) = &outer {
        inner.outers.put(id, Arc::clone(outer));
    }
    Ok(outer)
}

async fn load_outer(store: &Store, id: RunId) -> Result<Option<Arc<Outer>>, LoadError> {
    let mut chain = Vec::new();
    let mut next = Some(id);
    while let Some(id) = next.filter(|_| chain.len() < MAX_OUTER) {
        let loaded = store.load_run(id).await?.ok_or(LoadError::OuterGone)?;
        let state = fold(store, &loaded.journal).await?.state;
        next = loaded
            .run
            .parent
            .filter(|_| state.opening.by == Origin::Item);
        let identity = Identity {
            id: id.text().into(),
            key: loaded.run.key.as_str().into(),
        };
        chain.push((identity, state));
    }
    let around = |outer: Option<Arc<Outer>>, (identity, state)| {
        Some(Arc::new(Outer {
            identity,
            state,
            outer,
        }))
    };
    Ok(chain.into_iter().rev().fold(None, around))
}

/// The runs around items that are being worked on.
#[derive(Debug, Default)]
pub(crate) struct Outers(Mutex<HashMap<RunId, Arc<Outer>>>);

impl Outers {
    fn get(&self, run: RunId) -> Option<Arc<Outer>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&run).cloned()
    }

    fn put(&self, run: RunId, outer: Arc<Outer>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_OUTERS {
            kept.clear();
        }
        kept.insert(run, outer);
    }

    /// A run that goes on may know more than it did.
    pub(crate) fn forget(&self, run: RunId) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(&run);
    }
}

/// What mail says.
pub(crate) fn notes(mail: &[Mail]) -> impl Iterator<Item = Note> {
    mail.iter().filter_map(|mail| {
        let note = serde_json::from_str(&mail.note);
        if note.is_err() {
            tracing::warn!(
                seq = mail.seq,
                "mail to a run cannot be read and is passed over"
            );
        }
        note.ok()
    })
}

/// A run that cannot be worked on is parked, so that it is neither lost nor tried for ever.
pub(crate) async fn set_aside(inner: &Inner, run: RunId, error: &LoadError) {
    tracing::error!(run = %run.text(), error = %chain(error), "a run cannot be worked on");
    let advance = Advance {
        run,
        at: 0,
        row: None,
        contents: Vec::new(),
        puts: Vec::new(),
        read_mail: None,
        next: Next::Rest {
            state: RunState::Parked,
            why: chain(error).into(),
            wake: None,
            yields: false,
        },
    };
    if let Err(error) = inner
        .store
        .commit(vec![Change::Advance(Box::new(advance))])
        .await
    {
        tracing::warn!(%error, "the run could not be set aside");
    }
}

/// An error with its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
