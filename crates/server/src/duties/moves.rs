//! Counts what becomes of runs on this node.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;

use crate::app::App;

pub(super) async fn run(app: Arc<App>) {
    let mut followed = app.engine.follow();
    loop {
        match followed.recv().await {
            Ok(moved) => app.metrics.moved(moved.state),
            Err(RecvError::Lagged(missed)) => tracing::debug!(missed, "moves were not counted"),
            // The engine lives as long as the app does.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
