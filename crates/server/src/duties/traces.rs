//! Sends traces of runs that have ended.

use std::sync::Arc;

use crate::app::App;
use crate::traces;

pub(super) async fn run(app: Arc<App>) {
    traces::keep_sending(&app).await;
}
