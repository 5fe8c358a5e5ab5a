//! Writes receipts behind the answers.

use std::sync::Arc;

use crate::app::App;

pub(super) async fn run(app: Arc<App>) {
    app.store.keep_writing_receipts().await;
}
