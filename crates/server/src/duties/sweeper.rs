//! Gives back what is no longer needed: walks over the ledger in small bites with pauses, so
//! that claims never wait for it.

use std::sync::Arc;
use std::time::Duration;

use semel_store::StoreError;
use semel_store::duty::BITE;

use crate::app::App;

/// Between two bites.
const PAUSE: Duration = Duration::from_millis(100);
/// How often space is given back after a pass.
const GIVE_BACKS: u32 = 200;
/// Between two passes over the whole ledger.
const PASS_EVERY: Duration = Duration::from_hours(1);

pub(super) async fn run(app: Arc<App>) {
    loop {
        if let Err(error) = pass(&app).await {
            tracing::warn!(%error, "a pass of the sweeper was not finished");
        }
        tokio::time::sleep(PASS_EVERY).await;
    }
}

/// One call gives only some pages back, so that claims need not wait for long.
async fn give_back(app: &App) -> Result<(), StoreError> {
    // Only a file is cut in bites; elsewhere one call does all there is to do.
    let calls = if app.store.kind() == "sqlite" {
        GIVE_BACKS
    } else {
        1
    };
    for _ in 0..calls {
        app.store.give_back().await?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Forgets runs that ended long ago.
async fn runs(app: &App) -> Result<usize, StoreError> {
    let (mut after, mut swept) = (None, 0);
    loop {
        tokio::time::sleep(PAUSE).await;
        let bite = app.store.sweep_runs_bite(after).await?;
        swept += bite.swept;
        after = bite.next;
        if after.is_none() {
            return Ok(swept);
        }
    }
}

/// Forgets values that have expired.
async fn values(app: &App) -> Result<usize, StoreError> {
    let mut swept = 0;
    loop {
        tokio::time::sleep(PAUSE).await;
        let bite = app.store.sweep_kv_bite().await?;
        swept += bite;
        if bite < BITE {
            return Ok(swept);
        }
    }
}

/// Forgets sessions and links that have ended, and old entries of the audit log.
async fn people(app: &App) -> Result<usize, StoreError> {
    let mut swept = 0;
    loop {
        tokio::time::sleep(PAUSE).await;
        let bite = app.store.sweep_people_bite().await?;
        swept += bite;
        if bite < BITE {
            return Ok(swept);
        }
    }
}

async fn pass(app: &App) -> Result<(), StoreError> {
    let (mut after, mut swept) = (0, 0);
    loop {
        tokio::time::sleep(PAUSE).await;
        let bite = app.store.sweep_bite(after).await?;
        swept += bite.swept;
        after = bite.next;
        if after == 0 {
            break;
        }
    }
    let (runs, values) = (runs(app).await?, values(app).await?);
    let deeds = people(app).await?;
    give_back(app).await?;
    tracing::debug!(swept, runs, values, deeds, "swept");
    Ok(())
}
