//! What can go wrong with a store, told apart by what the caller may do about it.
//! A lost race is not among them: that is an answer.

use std::error::Error;
use std::path::PathBuf;

/// The driver's own error, kept whole.
pub type Source = Box<dyn Error + Send + Sync + 'static>;

/// The store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The queue is full. Nothing was written; come back later.
    #[error("the store's queue of {limit} changes is full")]
    Overloaded {
        /// How many changes may wait.
        limit: usize,
    },
    /// The store cannot be reached or is contended. Nothing was written; come back later.
    #[error("the store cannot be reached")]
    Unavailable {
        /// Why.
        source: Source,
    },
    /// The connection went away while committing. It may or may not be written.
    #[error("the answer to a commit was lost")]
    AnswerLost {
        /// Why.
        source: Source,
    },
    /// No space is left. Nothing was written; reads go on.
    #[error("the store has no space left")]
    Full {
        /// Why.
        source: Source,
    },
    /// Another node took over from this one. Nothing was written; join again.
    #[error("this node was declared dead and replaced; it must join again")]
    Fenced,
    /// The store can no longer promise durability: the process must stop and recover on start.
    #[error("the store failed and must be reopened")]
    Failed {
        /// Why.
        source: Source,
    },
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Whether it is certain that nothing was written, so that the same can be tried again.
    #[must_use]
    pub fn wrote_nothing(&self) -> bool {
        matches!(
            self,
            StoreError::Overloaded { .. }
                | StoreError::Unavailable { .. }
                | StoreError::Full { .. }
                | StoreError::Fenced
        )
    }

    /// The same news for one more caller; the source is told in words, as it cannot be shared.
    #[must_use]
    pub fn again(&self) -> StoreError {
        let told = |source: &Source| {
            let mut text = source.to_string();
            let mut cause = source.source();
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            Source::from(text)
        };
        match self {
            StoreError::Overloaded { limit } => StoreError::Overloaded { limit: *limit },
            StoreError::Unavailable { source } => StoreError::Unavailable {
                source: told(source),
            },
            StoreError::AnswerLost { source } => StoreError::AnswerLost {
                source: told(source),
            },
            StoreError::Full { source } => StoreError::Full {
                source: told(source),
            },
            StoreError::Failed { source } => StoreError::Failed {
                source: told(source),
            },
            StoreError::Fenced => StoreError::Fenced,
            StoreError::Closed => StoreError::Closed,
        }
    }
}

/// A store that is not opened, and why.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address is not one that Semel knows.
    #[error("store address {address:?} is not known; write sqlite:PATH, postgres://… or memory:")]
    Address {
        /// What was given.
        address: String,
    },
    /// Another process serves this data directory.
    #[error("{path} is in use by another semel process{holder}")]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// Who, if known: ` (process 123)`.
        holder: String,
    },
    /// The schema is from a later version.
    #[error("the database has schema {found}, this semel knows up to {known}: use a newer semel")]
    Newer {
        /// What the database has.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// Locks and syncs cannot be trusted there.
    #[error("{path} is on a network file system ({kind}); use a local disk or PostgreSQL")]
    NetworkFileSystem {
        /// The data directory.
        path: PathBuf,
        /// Its kind.
        kind: &'static str,
    },
    /// A setting of the database would let an acknowledged change be lost.
    #[error("{setting} is {found} but must be {needed}, or acknowledged work could be lost")]
    NotDurable {
        /// Which setting.
        setting: &'static str,
        /// What it is.
        found: String,
        /// What it must be.
        needed: &'static str,
    },
    /// The database software is too old.
    #[error("{software} {found} is too old; {needed} or later is needed")]
    TooOld {
        /// `SQLite` or `PostgreSQL`.
        software: &'static str,
        /// Its version.
        found: String,
        /// The oldest that will do.
        needed: &'static str,
    },
    /// A file or directory could not be used.
    #[error("cannot use {path}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The database said no.
    #[error("cannot open the store")]
    Database {
        /// Why.
        source: Source,
    },
}
