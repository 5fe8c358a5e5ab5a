//! What a claim costs as the ledger grows, and whether memory stays flat.

use std::sync::Arc;

use semel_ledger::{Command, EffectId, Key, Millis, Scope};
use semel_store::{Change, EffectChange, Store};
use serde::Serialize;

use super::ledger::{Work, measure};
use super::load::{Bounds, Measured};

/// The ledger at one size.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Grown {
    pub(super) entries: u64,
    #[serde(flatten)]
    pub(super) claim: Measured,
}

const FILL_BATCH: u64 = 500;

/// Fills the ledger with done effects up to `entries`, from `have` on.
pub(super) async fn fill(store: &Store, have: u64, entries: u64) -> anyhow::Result<()> {
    let scope = Scope::new("bench/growth")?;
    let mut next = have;
    while next < entries {
        let until = entries.min(next + FILL_BATCH);
        let mut changes: Vec<Change> = Vec::new();
        for number in next..until {
            let key = Key::from_parts(&[super::ledger::key(number)])?;
            let effect = EffectId::new(scope.clone(), key);
            let command = Command::Import {
                at: store.now(),
                remember: Millis::days(30),
            };
            changes.push(EffectChange::bare(effect, command).into());
        }
        store.commit(changes).await?;
        next = until;
    }
    Ok(())
}

/// Measures claims with the ledger at this size.
pub(super) async fn at_size(
    store: &Arc<Store>,
    entries: u64,
    callers: usize,
    bounds: Bounds,
    first: u64,
) -> anyhow::Result<Grown> {
    let claim = measure(store, Work::Claim, callers, bounds, (first, 0)).await?;
    Ok(Grown { entries, claim })
}
