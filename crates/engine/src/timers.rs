//! Takes up runs whose time has come: retries, queues, mail, and what a dead node left.
//!
//! The store is the clock and the list; nothing is kept in memory for a run that rests, so a
//! hundred thousand of them cost nothing. Looks again when told ([`Engine::look`](crate::Engine::look)),
//! when the next one is due, and once in a while in any case, for what other nodes left.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use semel_ledger::{Millis, Time};
use semel_store::{Answer, Change, StoreError};

use crate::engine::Inner;

/// The most runs that are taken at once.
const BITE: usize = 64;
/// Other nodes cannot tell this one that something is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Before what was due a moment ago is looked for again.
const SOON: Duration = Duration::from_millis(10);

pub(crate) async fn run(inner: Arc<Inner>) {
    loop {
        let pause = match look(&inner).await {
            Ok(Some(pause)) => pause,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(%error, "could not look for runs that are due");
                LOOK_EVERY
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = inner.due.notified() => {}
        }
    }
}

/// Takes up what is due, as far as there is room. Gives when to look again; `None`: at once.
async fn look(inner: &Arc<Inner>) -> Result<Option<Duration>, StoreError> {
    let Some(room) = room(inner) else {
        return Ok(Some(LOOK_EVERY));
    };
    // A read first, so that a quiet server writes nothing.
    let Some(next) = inner.store.next_wake().await? else {
        return Ok(Some(LOOK_EVERY));
    };
    let wait = next.since(inner.store.now());
    if wait > Millis(0) {
        return Ok(Some(Duration::from_millis(wait.0).min(LOOK_EVERY)));
    }
    let Some(member) = inner.store.member() else {
        return Ok(Some(LOOK_EVERY));
    };
    let limit = u32::try_from(room).unwrap_or(1);
    let mut answers = inner.store.commit(vec![Change::Take { limit }]).await?;
    let Some(Answer::Taken(runs)) = answers.pop() else {
        return Ok(Some(LOOK_EVERY));
    };
    inner.take_up(&runs, member).await?;
    // Another node may be taking the same.
    Ok(runs.is_empty().then_some(SOON))
}

/// Waits for a time at which a run that is under way goes on with something else; for ever if there is none.
/// Looks at the clock once in a while: it may be set.
pub(crate) async fn until(inner: &Inner, wake: Option<Time>) {
    let Some(wake) = wake else {
        return std::future::pending().await;
    };
    loop {
        let left = wake.since(inner.store.now());
        if left == Millis(0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(left.0).min(LOOK_EVERY)).await;
    }
}

/// How many may be taken up now; if none, a run that ends says that there is room again.
fn room(inner: &Inner) -> Option<usize> {
    inner.crowded.store(true, Ordering::Release);
    let room = inner.room.available_permits().min(BITE);
    if room == 0 || inner.is_stopping() {
        return None;
    }
    inner.crowded.store(false, Ordering::Release);
    Some(room)
}
