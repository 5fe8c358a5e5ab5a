//! Adds what was counted to the store, behind the answers.

use std::sync::Arc;
use std::time::Duration;

use semel_store::{Change, StoreError};

use crate::app::App;

/// How long counts wait to share a commit; a kill loses as much.
const PAUSE: Duration = Duration::from_secs(2);

pub(super) async fn run(app: Arc<App>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        if let Err(error) = write(&app).await {
            tracing::debug!(%error, "counts were not written yet");
        }
    }
}

/// Writes what was counted so far.
pub(crate) async fn write(app: &App) -> Result<(), StoreError> {
    // Whoever adds up sees a count either here or in the store.
    let _turn = app.counting.write().await;
    let counts = app.engine.counts().take(app.store.now());
    if counts.is_empty() {
        return Ok(());
    }
    let written = app.store.commit(vec![Change::Counts(counts.clone())]).await;
    // What may have been written is not written twice.
    if let Err(error) = &written
        && error.wrote_nothing()
    {
        app.engine.counts().put_back(&counts);
    }
    written.map(drop)
}
