//! Runs that wait for an event: where they listen, so that it reaches them without asking every run.
//!
//! Owns what is kept of a listener ([`Listen`]) and of what is listened for ([`Topic`]). What a place stands for is
//! the engine's business: here it is sixteen bytes that are the same for whoever waits and whoever has the event.
//!
//! The invariants: only an open run begins to listen; a topic is there before the first place of it, and stays.

use crate::run::RunId;

/// A run begins to listen at a place; where the step listened before, it listens no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Which run; it must be open.
    pub run: RunId,
    /// Which step of it.
    pub step: Box<str>,
    /// Where.
    pub place: [u8; 16],
    /// Where the events come from.
    pub source: Box<str>,
    /// What of them counts.
    pub path: Box<str>,
}

/// Something that is listened for, or was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topic {
    /// Where the events come from.
    pub source: Box<str>,
    /// What of them counts.
    pub path: Box<str>,
}
