//! Signs of life: while the command runs, its claim is extended.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Job;
use super::claim::send_now;
use crate::client::{Call, guard};

/// A claim that is being held.
#[derive(Debug)]
pub(super) struct Hold {
    stop: oneshot::Sender<()>,
    task: JoinHandle<bool>,
}

impl Hold {
    pub(super) fn start(job: Arc<Job>) -> Hold {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(beat(job, stopped));
        Hold { stop, task }
    }

    /// Ends with the command. Tells whether the claim was lost. A sign of life that is under way
    /// is waited for: a store must not be left in the middle of a commit.
    pub(super) async fn stop(self) -> bool {
        let _ = self.stop.send(());
        self.task.await.unwrap_or(false)
    }
}

async fn beat(job: Arc<Job>, mut stopped: oneshot::Receiver<()>) -> bool {
    let third = Duration::from_millis(job.lease.0 / 3);
    let soon = (third / 4).clamp(Duration::from_millis(100), Duration::from_secs(10));
    let mut pause = third;
    loop {
        tokio::select! {
            _ = &mut stopped => return false,
            () = tokio::time::sleep(pause) => {}
        }
        let body = serde_json::json!({"token": job.token, "lease": job.lease.to_string()});
        let call = Call::json(Method::POST, guard(&job.effect, "/heartbeat"), &body);
        pause = match send_now(&job, &call).await {
            Ok(answer) if answer.status.is_success() => third,
            Ok(answer) if matches!(answer.status.as_u16(), 404 | 409) => {
                say!(
                    "semel: the claim has run out; the command goes on, but its outcome will be called unknown"
                );
                return true;
            }
            // The server may be restarting; the lease leaves time to try again.
            Ok(_) | Err(_) => soon,
        };
    }
}
