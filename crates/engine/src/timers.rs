//! Takes up runs whose time has come: retries, queues, mail, and what a dead node left.
//!
//! The store is the clock and the list; nothing is kept in memory for a run that rests, so a
//! hundred thousand of them cost nothing. Looks again when told ([`Engine::look`](crate::Engine::look)),
//! when the next one is due, and once in a while in any case, for what other nodes left.

use std::sync::Arc;
use std::time::Duration;

use semel_store::{Answer, Change, StoreError};

use crate::engine::Inner;

/// The most runs that are taken at once.
const BITE: usize = 64;
/// Other nodes cannot tell this one that something is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(crate) async fn run(inner: Arc<Inner>) {
    loop {
        let pause = match take(&inner).await {
            Ok(true) => continue,
            Ok(false) => until_next(&inner).await,
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

/// Takes up what is due, as far as there is room; true if there may be more.
async fn take(inner: &Arc<Inner>) -> Result<bool, StoreError> {
    let room = inner.room.available_permits().min(BITE);
    let Some(member) = inner.store.member() else {
        return Ok(false);
    };
    if room == 0 || inner.is_stopping() || !is_due(inner).await? {
        return Ok(false);
    }
    let limit = u32::try_from(room).unwrap_or(1);
    let mut answers = inner.store.commit(vec![Change::Take { limit }]).await?;
    let Some(Answer::Taken(runs)) = answers.pop() else {
        return Ok(false);
    };
    inner.take_up(&runs, member).await?;
    Ok(runs.len() == room)
}

/// A read, so that a quiet server writes nothing.
async fn is_due(inner: &Inner) -> Result<bool, StoreError> {
    let next = inner.store.next_wake().await?;
    Ok(next.is_some_and(|at| at <= inner.store.now()))
}

async fn until_next(inner: &Inner) -> Duration {
    match inner.store.next_wake().await {
        // With room it would have been taken; without, a run that ends says so.
        Ok(Some(at)) => {
            let wait = at.since(inner.store.now()).0.max(10);
            Duration::from_millis(wait).min(LOOK_EVERY)
        }
        _ => LOOK_EVERY,
    }
}
