//! Several statements sent at once, answered together: one round trip for all of them.
//!
//! The driver sends a statement when its future is first polled, so polling them in order sends
//! them in order.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

type Sent<'c> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'c>>;

/// What one statement answered.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) rows: Vec<Row>,
    /// How many rows it changed or gave.
    pub(super) count: u64,
}

/// Where in a pipeline a statement stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

/// Statements that are to be sent together.
pub(super) struct Pipeline<'c> {
    client: &'c Client,
    statements: Vec<Sent<'c>>,
}

impl<'c> Pipeline<'c> {
    pub(super) fn new(client: &'c Client) -> Pipeline<'c> {
        Pipeline {
            client,
            statements: Vec::new(),
        }
    }

    fn push(&mut self, statement: Sent<'c>) -> Place {
        self.statements.push(statement);
        Place(self.statements.len() - 1)
    }

    /// A statement of the transaction itself, such as `BEGIN`.
    pub(super) fn control(&mut self, sql: &'static str) -> Place {
        let client = self.client;
        self.push(Box::pin(async move {
            client.batch_execute(sql).await.map(|()| Reply::default())
        }))
    }

    /// A statement whose rows are wanted.
    pub(super) fn query(
        &mut self,
        statement: &'c Statement,
        parameters: Vec<&'c (dyn ToSql + Sync)>,
    ) -> Place {
        let client = self.client;
        self.push(Box::pin(async move {
            let rows = client.query(statement, &parameters).await?;
            let count = rows.len() as u64;
            Ok(Reply { rows, count })
        }))
    }

    /// A statement of which only the number of changed rows is wanted.
    pub(super) fn execute(
        &mut self,
        statement: &'c Statement,
        parameters: Vec<&'c (dyn ToSql + Sync)>,
    ) -> Place {
        let client = self.client;
        self.push(Box::pin(async move {
            let count = client.execute(statement, &parameters).await?;
            Ok(Reply {
                rows: Vec::new(),
                count,
            })
        }))
    }

    /// Sends everything and waits for all answers; the first error in order is the one that counts,
    /// since those behind it only say that the transaction is lost.
    pub(super) async fn run(mut self) -> Result<Replies, Error> {
        let mut replies: Vec<Option<Result<Reply, Error>>> = Vec::new();
        replies.resize_with(self.statements.len(), || None);
        poll_fn(|context| {
            let mut waiting = false;
            for (statement, reply) in self.statements.iter_mut().zip(&mut replies) {
                if reply.is_some() {
                    continue;
                }
                match statement.as_mut().poll(context) {
                    Poll::Ready(ready) => *reply = Some(ready),
                    Poll::Pending => waiting = true,
                }
            }
            if waiting {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        let replies: Result<Vec<Reply>, Error> = replies.into_iter().flatten().collect();
        replies.map(Replies)
    }
}

/// The answers of a pipeline.
#[derive(Debug)]
pub(super) struct Replies(Vec<Reply>);

impl Replies {
    /// The answer of one statement; it is gone afterwards.
    pub(super) fn take(&mut self, place: Place) -> Reply {
        self.0
            .get_mut(place.0)
            .map(std::mem::take)
            .unwrap_or_default()
    }
}
