//! Group commit: many callers, one transaction, one fsync.
//!
//! Owns the bounded queue between callers and a writer. While the writer waits for the disk the
//! next callers gather; it then takes all of them at once. Knows nothing of what is written.
//!
//! The invariant: a caller is answered only after the writer has said that its work is durable,
//! and each caller gets its own answer.

use tokio::sync::{mpsc, oneshot};

use crate::error::StoreError;

/// One caller's question with the place for its answer.
#[derive(Debug)]
pub struct Request<Q, A> {
    /// What to do.
    pub ask: Q,
    /// Where the answer goes.
    pub reply: oneshot::Sender<Result<A, StoreError>>,
}

/// The callers' end.
#[derive(Debug)]
pub struct Group<Q, A> {
    queue: mpsc::Sender<Request<Q, A>>,
    limit: usize,
}

impl<Q, A> Clone for Group<Q, A> {
    fn clone(&self) -> Group<Q, A> {
        Group {
            queue: self.queue.clone(),
            limit: self.limit,
        }
    }
}

/// The writer's end.
pub type Requests<Q, A> = mpsc::Receiver<Request<Q, A>>;

/// Makes a queue for at most `limit` waiting callers.
#[must_use]
pub fn group<Q, A>(limit: usize) -> (Group<Q, A>, Requests<Q, A>) {
    let (queue, requests) = mpsc::channel(limit);
    (Group { queue, limit }, requests)
}

impl<Q, A> Group<Q, A> {
    /// Hands work to the writer and waits until it is durable.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] at once if the queue is full, [`StoreError::Closed`] if the writer
    /// has ended, or what the writer says.
    pub async fn ask(&self, ask: Q) -> Result<A, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.queue
            .try_send(Request { ask, reply })
            .map_err(|refused| match refused {
                mpsc::error::TrySendError::Full(_) => StoreError::Overloaded { limit: self.limit },
                mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
            })?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// How many calls wait right now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.limit.saturating_sub(self.queue.capacity())
    }
}
