//! Keeps this node alive among the others: renews well within the lease, joins again if fenced.

use std::sync::Arc;
use std::time::Duration;

use semel_store::StoreError;

use crate::app::App;

/// A third of the node's lease: two renewals may fail before anybody takes over.
const RENEW_EVERY: Duration = Duration::from_secs(5);

pub(super) async fn run(app: Arc<App>) {
    loop {
        tokio::time::sleep(RENEW_EVERY).await;
        match app.store.renew().await {
            Ok(()) => {}
            Err(StoreError::Fenced) => rejoin(&app).await,
            Err(error) => tracing::warn!(%error, "the node's lease was not renewed"),
        }
    }
}

async fn rejoin(app: &App) {
    tracing::warn!("this node was declared dead and replaced; joining again");
    if let Err(error) = app.store.join(&app.settings.node).await {
        tracing::warn!(%error, "could not join again yet");
        return;
    }
    // Its own earlier life is among those that left work behind.
    if let Err(error) = app.engine.recover(false).await {
        tracing::warn!(%error, "could not look for what was left behind; the rescuer will");
    }
}
