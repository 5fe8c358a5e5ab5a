//! Watches the wall clock. Leases do not follow it when somebody sets it; people are told.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;

const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A jump of so many milliseconds is worth a word.
const WORTH_A_WORD: u64 = 5_000;

pub(super) async fn run(app: Arc<App>) {
    let mut known = app.store.clock().wall_drift();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let drift = app.store.clock().wall_drift();
        if drift.abs_diff(known) > WORTH_A_WORD {
            tracing::warn!(
                jumped_ms = drift - known,
                drift_ms = drift,
                "the wall clock was set; leases go by elapsed time and are not affected"
            );
            known = drift;
        }
    }
}
