//! What becomes of the work of nodes that died.
//!
//! Owns reading the flight recorder after a kill: claims that were never sent are free again, those
//! whose outcome was in hand are settled from it, and only what was truly on the wire is unknown.
//! Their runs are then taken up by whoever has room.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use semel_ledger::Outcome;
use semel_store::node::NodeState;
use semel_store::planted::{self, Bug};
use semel_store::{Change, Content, Record, StoreError};

use crate::engine::{Engine, Inner, Settings};
use crate::flight::{Flight, Mark, Remains};
use crate::observe::Settlement;
use crate::worker::settle;

/// More claims a dead node cannot have had under way.
const HELD: usize = 16 * 1024;
/// What a claim that was never sent says of itself.
const NEVER_SENT: &str = r#"{"class":"never_sent","message":"the server died before it was sent"}"#;

impl Engine {
    /// Deals with what earlier lives left, and begins a flight recorder of this one. The node
    /// must have joined. With `alone`, every other node is certainly dead.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn recover(&self, alone: bool) -> Result<(), StoreError> {
        let inner = &self.inner;
        let Settings {
            directory,
            recorder,
            acts,
            ..
        } = &inner.settings;
        let boot = recorder.is_none().then(boot).flatten();
        let remains = match (recorder, directory, boot) {
            (Some(memory), ..) => memory.remains(),
            (None, Some(directory), Some(boot)) => read(directory, boot),
            _ => Remains::default(),
        };
        take_over(inner, alone, &remains).await?;
        let begun = match (recorder, directory, boot, inner.store.member()) {
            (Some(memory), _, _, Some(member)) => Ok(Flight::in_memory(memory, member.node, *acts)),
            (None, Some(directory), Some(boot), Some(member)) => {
                Flight::begin(directory, boot, member.node, *acts)
            }
            _ => return Ok(()),
        };
        match begun {
            Ok(flight) => {
                let mut held = inner.flight.lock().unwrap_or_else(PoisonError::into_inner);
                *held = Some(Arc::new(flight));
            }
            Err(error) => {
                tracing::warn!(%error, "there is no flight recorder; after a kill more is unknown");
            }
        }
        Ok(())
    }

    /// Takes over from nodes that died while this one serves.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn rescue(&self) -> Result<(), StoreError> {
        take_over(&self.inner, false, &Remains::default()).await
    }
}

fn read(directory: &Path, boot: [u8; 16]) -> Remains {
    Remains::read(directory, boot).unwrap_or_else(|error| {
        tracing::warn!(%error, "the flight recorder cannot be read; more is unknown");
        Remains::default()
    })
}

async fn take_over(inner: &Inner, alone: bool, remains: &Remains) -> Result<(), StoreError> {
    for node in inner.store.dead_nodes(alone).await? {
        if inner.store.fence(&node, alone).await? {
            settle_known(inner, &node, remains).await?;
            inner.store.bury(&node).await?;
            inner.due.notify_one();
        }
    }
    Ok(())
}

async fn settle_known(
    inner: &Inner,
    node: &NodeState,
    remains: &Remains,
) -> Result<(), StoreError> {
    if remains.node != Some(node.node) {
        return Ok(());
    }
    let held = inner.store.held_by(node.node, HELD).await?;
    let changes: Vec<Change> = held.into_iter().filter_map(|r| known(r, remains)).collect();
    if !changes.is_empty() {
        tracing::info!(claims = changes.len(), "settled from the flight recorder");
        inner.store.commit(changes).await?;
    }
    Ok(())
}

/// How a dead node's claim is settled; `None`: nobody knows.
fn known(record: Record, remains: &Remains) -> Option<Change> {
    let fence = record.entry.fence;
    let Settlement {
        outcome,
        result,
        note,
    } = match remains.mark(fence) {
        Some(Mark::Sent) if !planted::is(Bug::SentAsUnsent) => return None,
        Some(Mark::Known(settlement)) => settlement.clone(),
        _ => Settlement {
            outcome: Outcome::Failed,
            result: Some(NEVER_SENT.into()),
            note: Some("the server died before it was sent".into()),
        },
    };
    let content = Content {
        result,
        note,
        by: record.by,
        ..Content::default()
    };
    Some(settle(record.effect, fence, outcome, content))
}

/// Which boot of this machine it is; `None` where that cannot be told.
fn boot() -> Option<[u8; 16]> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let mut boot = [0; 16];
    boot.copy_from_slice(&blake3::hash(text.trim().as_bytes()).as_bytes()[..16]);
    Some(boot)
}
