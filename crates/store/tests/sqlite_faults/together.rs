//! Who shares the file at the same time: visitors, readers beside the writer, callers in a queue.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rusqlite::Connection;
use semel_ledger::Verdict;
use semel_store::{Filter, Options, ReceiptFilter, StoreError};
use tokio::task::JoinSet;

use crate::shared::{claim, effect, fence, once};
use crate::{database, open, options};

/// Long enough for the slowest machine; reached only if something waits that must not.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_visitors_of_one_file_are_granted_once() {
    let (_directory, path) = database();
    // Opened at the same moment too: both find no schema yet.
    let (one, two) = tokio::join!(open(&path, options()), open(&path, options()));
    let mut visits = JoinSet::new();
    for n in 0..400_u64 {
        let store = Arc::clone([&one, &two][usize::from(n % 2 == 0)]);
        visits.spawn(async move {
            let key = format!("k{}", n / 8);
            let answered = store.step(claim(&key, n)).await.expect("an answer");
            (key, n, answered.verdict)
        });
    }
    let answers = visits.join_all().await;
    let granted = answers.iter().filter(|(.., it)| *it == Verdict::Granted);
    let granted: Vec<_> = granted.collect();
    assert_eq!(granted.len(), 50);
    for (key, n, _) in granted {
        let record = two.load(&effect(key)).await.expect("a read");
        assert_eq!(record.expect("a record").entry.fence, fence(*n), "{key}");
    }
}

/// Holds the file's write lock, as a writer in the middle of a commit does.
fn hold(path: &std::path::Path) -> Connection {
    let connection = Connection::open(path).expect("it opens");
    connection
        .execute_batch("BEGIN IMMEDIATE; UPDATE effects SET note = 'not yet'")
        .expect("nobody else writes");
    connection
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_do_not_wait_for_the_writer() {
    let (_directory, path) = database();
    let store = open(&path, options()).await;
    store.step(once("done", 1)).await.expect("an answer");
    let writer = hold(&path);
    let mut waiting = pin!(store.step(claim("new", 2)));
    assert!(poll_once(waiting.as_mut()).await.is_none());
    let reads = async {
        let record = store.load(&effect("done")).await.expect("a read");
        assert_eq!(record.expect("a record").note, None);
        let page = store.list(&Filter::default()).await.expect("a page");
        assert_eq!(page.items.len(), 1);
        let receipts = store.receipts(&ReceiptFilter::default()).await;
        assert!(receipts.expect("a page").items.is_empty());
        let refused = store.step(claim("done", 3)).await.expect("an answer");
        assert_eq!(refused.verdict, Verdict::Done);
    };
    let read = tokio::time::timeout(PATIENCE, reads).await;
    read.expect("the reads did not wait");
    assert!(
        poll_once(waiting.as_mut()).await.is_none(),
        "it cannot write"
    );
    writer.execute_batch("ROLLBACK").expect("it lets go");
    let granted = waiting.await.expect("an answer");
    assert_eq!(granted.verdict, Verdict::Granted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_at_once() {
    let (_directory, path) = database();
    let queue = 3;
    let store = open(
        &path,
        Options {
            queue,
            batch: 1,
            ..options()
        },
    )
    .await;
    let writer = hold(&path);
    let mut first = pin!(store.step(claim("k0", 0)));
    assert!(poll_once(first.as_mut()).await.is_none());
    // The writer has it in hand and waits for the lock; now the queue fills.
    while store.queue_depth() > 0 {
        tokio::task::yield_now().await;
    }
    let mut waiting: Vec<_> = (1..=3)
        .map(|n| Box::pin(store.step(claim(&format!("k{n}"), n))))
        .collect();
    for call in &mut waiting {
        assert!(poll_once(call.as_mut()).await.is_none());
    }
    assert_eq!(store.queue_depth(), 3);
    let refused = poll_once(pin!(store.step(claim("k9", 9)))).await;
    let overloaded = matches!(refused, Some(Err(StoreError::Overloaded { limit: 3 })));
    assert!(overloaded, "{refused:?}");

    writer.execute_batch("ROLLBACK").expect("it lets go");
    drop(writer);
    assert_eq!(first.await.expect("an answer").verdict, Verdict::Granted);
    for call in waiting {
        assert_eq!(call.await.expect("an answer").verdict, Verdict::Granted);
    }
    assert_eq!(store.load(&effect("k9")).await.expect("a read"), None);
}

/// The answer, if it is there without waiting.
async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        })
    })
    .await
}
