//! Texts of flows that were deployed, and saved positions.

use semel_ledger::Time;

use super::ReleaseId;
use crate::blob::Stored;

/// A text of a flow that was deployed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its name.
    pub id: ReleaseId,
    /// Of which flow.
    pub flow: Box<str>,
    /// The file.
    pub source: Stored,
    /// When it was first deployed.
    pub created_at: Time,
    /// By whom.
    pub by: Option<Box<str>>,
    /// It takes triggers.
    pub live: bool,
    /// Since when, or until when it last did; `None`: it never did.
    pub live_at: Option<Time>,
}

/// What can happen to releases.
#[derive(Clone, Debug)]
pub enum ReleaseChange {
    /// Keep a text; with `live`, make it the one that takes triggers.
    Deploy {
        /// The hash of the source.
        id: ReleaseId,
        /// Of which flow.
        flow: Box<str>,
        /// The file.
        source: Box<str>,
        /// By whom.
        by: Option<Box<str>>,
        /// It takes triggers from now on.
        live: bool,
    },
    /// Make a kept text the one that takes triggers, if `was` still is.
    GoLive {
        /// Of which flow.
        flow: Box<str>,
        /// Which one.
        id: ReleaseId,
        /// Which one is live now.
        was: Option<ReleaseId>,
    },
    /// Let no text of the flow take triggers any more.
    Retire {
        /// Which flow.
        flow: Box<str>,
    },
}

/// A saved position, such as the last tick of a schedule or a fetch's cursor.
#[derive(Clone, Debug)]
pub struct CursorChange {
    /// Of what.
    pub name: Box<str>,
    /// What it must be now; `None`: there must be none.
    pub was: Option<Box<str>>,
    /// What it becomes.
    pub becomes: Box<str>,
}
