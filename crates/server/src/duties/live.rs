//! Finds out what changes, for those who follow everything.

use std::sync::Arc;

use crate::app::App;

pub(super) async fn run(app: Arc<App>) {
    app.live.keep_telling(&app).await;
}
