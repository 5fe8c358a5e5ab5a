//! The ledger in one file: SQLite with a write-ahead log, synced at every commit.
//!
//! Owns the file, one writer thread (`writer`) and a few connections for reading, which never
//! wait for the writer. A process that serves holds the directory's lock, so there is one writer;
//! visitors (`semel once` without a server) write through SQLite's own lock, one after the other.
//!
//! The invariant: a commit is answered only after SQLite has synced it, and a file system that
//! fails to sync ends the store.

mod audit;
mod blobs;
mod checkpoint;
mod conditions;
mod connect;
mod effects;
mod failure;
mod kv;
mod lanes;
mod listeners;
mod mail;
mod migrate;
mod nodes;
mod people;
mod reads;
mod receipts;
mod recent;
mod releases;
mod row;
mod run_reads;
mod runs;
mod scopes;
mod secrets;
mod time;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::change::{Answer, Change};
use crate::error::{OpenError, StoreError};
use crate::group::{Group, group};
use crate::node::Membership;
use crate::open::Options;
use crate::store::Context;

use reads::Readers;
use recent::Recent;

pub use connect::{OLDEST_SQLITE, network_file_system};
pub use migrate::NEWEST_SCHEMA;

/// What the writer is asked to do.
#[derive(Debug)]
enum Ask {
    Changes {
        changes: Vec<Change>,
        /// Under which identity; none for a process that only passes by.
        member: Option<Membership>,
    },
    /// Drop what nothing refers to and shorten the file.
    GiveBack,
}

/// The backend.
#[derive(Debug)]
pub struct Sqlite {
    group: Mutex<Option<Group<Ask, Vec<Answer>>>>,
    readers: Arc<Readers>,
    recent: Arc<Recent>,
    writer: Mutex<Option<thread::JoinHandle<()>>>,
}

impl Sqlite {
    pub(crate) async fn open(
        path: &Path,
        options: &Options,
        context: Arc<Context>,
    ) -> Result<Sqlite, OpenError> {
        let (path, options) = (path.to_owned(), options.clone());
        let opened =
            tokio::task::spawn_blocking(move || Sqlite::open_blocking(&path, &options, context));
        opened.await.map_err(|source| OpenError::Database {
            source: source.into(),
        })?
    }

    fn open_blocking(
        path: &Path,
        options: &Options,
        context: Arc<Context>,
    ) -> Result<Sqlite, OpenError> {
        let mut connection = connect::for_writing(path, options)?;
        migrate::migrate(&mut connection)?;
        connect::check_durable(&connection, options)?;
        time::keep(&connection, &*context.clock).map_err(connect::refused)?;
        let connections = (0..options.connections.max(1))
            .map(|_| connect::for_reading(path, options).map(Mutex::new))
            .collect::<Result<_, _>>()?;
        let readers = Arc::new(Readers {
            connections,
            context: Arc::clone(&context),
        });
        let (group, requests) = group(options.queue);
        let recent = Arc::new(Recent::default());
        let writer = writer::Writer::new(connection, context, Arc::clone(&recent), options)?;
        let writer = thread::Builder::new()
            .name("semel-writer".to_owned())
            .spawn(move || writer.run(requests))
            .map_err(|source| OpenError::Database {
                source: source.into(),
            })?;
        let (group, writer) = (Mutex::new(Some(group)), Mutex::new(Some(writer)));
        Ok(Sqlite {
            group,
            readers,
            recent,
            writer,
        })
    }

    pub(crate) async fn commit(
        &self,
        changes: Vec<Change>,
        member: Option<Membership>,
    ) -> Result<Vec<Answer>, StoreError> {
        self.ask_writer(Ask::Changes { changes, member }).await
    }

    async fn ask_writer(&self, ask: Ask) -> Result<Vec<Answer>, StoreError> {
        let group = locked(&self.group).clone().ok_or(StoreError::Closed)?;
        group.ask(ask).await
    }

    pub(crate) fn queue_depth(&self) -> usize {
        locked(&self.group).as_ref().map_or(0, Group::waiting)
    }

    /// Ends the writer after what is queued, and waits for it.
    pub(crate) async fn close(&self) {
        drop(locked(&self.group).take());
        let writer = locked(&self.writer).take();
        if let Some(writer) = writer {
            // A writer that panicked has said so already, through the context.
            let _ = tokio::task::spawn_blocking(move || writer.join()).await;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
