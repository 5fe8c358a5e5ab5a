//! Notices secrets that other nodes changed, and keys that were brought back.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) async fn run(app: Arc<App>) {
    let mut told = None;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let trouble = app.vault.refresh(&app.store).await.err();
        let trouble = trouble.map(|error| error.to_string());
        // Once, not every second.
        if let Some(error) = trouble.as_ref().filter(|_| trouble != told) {
            tracing::error!(%error, "a secret cannot be opened; what was known of it stays in force");
        }
        told = trouble;
    }
}
