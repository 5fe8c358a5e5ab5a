//! Reads the tokens again, so that one revoked on another node stops working here.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;

const READ_EVERY: Duration = Duration::from_secs(3);

pub(super) async fn run(app: Arc<App>) {
    loop {
        tokio::time::sleep(READ_EVERY).await;
        if let Err(error) = app.registry.refresh(&app.store).await {
            tracing::warn!(%error, "tokens could not be read again");
        }
    }
}
