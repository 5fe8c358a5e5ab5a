//! What the server does although nobody asks: one file per duty, each a loop over one small step
//! that the store offers. A step that fails is logged and tried again; none of them may end.

mod clock;
pub(crate) mod counts;
mod flows;
mod live;
mod membership;
mod moves;
mod receipts;
mod rescuer;
mod revocations;
mod secrets;
mod sweeper;
mod traces;

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::app::App;

/// Starts all duties; they end when the set is dropped.
pub(crate) fn start(app: &Arc<App>) -> JoinSet<()> {
    let mut duties = JoinSet::new();
    duties.spawn(receipts::run(Arc::clone(app)));
    duties.spawn(membership::run(Arc::clone(app)));
    duties.spawn(rescuer::run(Arc::clone(app)));
    duties.spawn(sweeper::run(Arc::clone(app)));
    duties.spawn(clock::run(Arc::clone(app)));
    duties.spawn(revocations::run(Arc::clone(app)));
    duties.spawn(flows::run(Arc::clone(app)));
    duties.spawn(secrets::run(Arc::clone(app)));
    duties.spawn(moves::run(Arc::clone(app)));
    duties.spawn(counts::run(Arc::clone(app)));
    duties.spawn(live::run(Arc::clone(app)));
    duties.spawn(traces::run(Arc::clone(app)));
    duties
}
