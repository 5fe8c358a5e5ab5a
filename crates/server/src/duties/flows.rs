//! Notices what other nodes deployed.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::deploy;

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) async fn run(app: Arc<App>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        match app.engine.flows().refresh(&app.store).await {
            Ok(false) => {}
            Ok(true) => deploy::ready_live(&app).await,
            Err(error) => tracing::warn!(%error, "could not look at what is live"),
        }
    }
}
