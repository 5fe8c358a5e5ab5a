//! Notices leases that ran out and nodes that died, so that lists and counts are right although
//! nobody asks for the effects concerned.

use std::sync::Arc;
use std::time::Duration;

use semel_store::StoreError;
use semel_store::duty::BITE;

use crate::app::App;

const LAPSE_EVERY: Duration = Duration::from_secs(1);
/// Dead nodes are looked for once in so many rounds.
const NODES_EVERY: u32 = 3;

pub(super) async fn run(app: Arc<App>) {
    let mut round: u32 = 0;
    loop {
        tokio::time::sleep(LAPSE_EVERY).await;
        round = round.wrapping_add(1);
        if let Err(error) = rescue(&app, round.is_multiple_of(NODES_EVERY)).await {
            tracing::warn!(%error, "could not look for what ran out");
        }
    }
}

async fn rescue(app: &App, nodes: bool) -> Result<(), StoreError> {
    while app.store.lapse_due().await? == BITE {}
    if nodes {
        app.engine.rescue().await?;
    }
    Ok(())
}
