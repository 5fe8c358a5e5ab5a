//! What runs wait for, as whoever has an event needs to know it: which member of it counts.
//!
//! Owns reading the short list of topics and where in the store somebody listens. Why no event is missed: a run
//! that begins to wait writes its topic and its place down and only then looks at the events that are on record;
//! whoever has an event puts it on record and only then reads the topics. Whichever is second sees the other.
//!
//! The invariant: [`Topics::fresh`] gives what was read after it was asked for. Many who ask at once share a read.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use semel_flow::Value;
use semel_flow::expr::{Expr, Names};
use semel_flow::model::{Heard, INCOMING};
use semel_ledger::Time;
use semel_store::{Store, StoreError};
use tokio::sync::Mutex;

use crate::start::short_hash;

/// The paths in events that somebody may wait for, by where the events come from.
pub(crate) type Paths = HashMap<Box<str>, Vec<Box<str>>>;

/// The list as it was last read.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    asked: AtomicU64,
    last: Mutex<Read>,
}

#[derive(Debug, Default)]
struct Read {
    /// All that were asked up to this one are answered by it.
    covers: u64,
    paths: Arc<Paths>,
}

impl Topics {
    /// The list, read after this was asked.
    pub(crate) async fn fresh(&self, store: &Store) -> Result<Arc<Paths>, StoreError> {
        let own = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut last = self.last.lock().await;
        if last.covers < own {
            let covers = self.asked.load(Ordering::SeqCst);
            let mut paths = Paths::new();
            for topic in store.topics().await? {
                paths.entry(topic.source).or_default().push(topic.path);
            }
            *last = Read {
                covers,
                paths: Arc::new(paths),
            };
        }
        Ok(Arc::clone(&last.paths))
    }
}

/// Where events come from, as topics spell it.
pub(crate) fn source_of(heard: &Heard) -> Box<str> {
    match heard {
        Heard::Flow(flow) => of_flow(&flow.it),
        Heard::Event(event) => of_event(&event.it),
    }
}

/// Events that a flow takes in.
pub(crate) fn of_flow(flow: &str) -> Box<str> {
    format!("flow/{flow}").into()
}

/// Events that are emitted under a name.
pub(crate) fn of_event(event: &str) -> Box<str> {
    format!("event/{event}").into()
}

/// Where somebody listens who waits for events with this value at that path; `None` if it cannot be written down.
pub(crate) fn place(source: &str, path: &str, value: &Value) -> Option<[u8; 16]> {
    let value = value.to_canonical().ok()?;
    Some(short_hash(&["listen", source, path, value.as_str()]))
}

/// Where those listen whom this event may concern.
pub(crate) fn places(paths: &Paths, source: &str, event: &Value) -> Vec<[u8; 16]> {
    let paths = paths.get(source).map(Vec::as_slice).unwrap_or_default();
    let of = |path: &Box<str>| {
        let expr = Expr::parse(path, semel_flow::diagnostic::Span::default()).ok()?;
        // An event without that member concerns nobody who waits for it.
        let value = expr.eval(&Incoming(event)).ok()?;
        place(source, path, &value)
    };
    paths.iter().filter_map(of).collect()
}

/// Only the event.
struct Incoming<'a>(&'a Value);

impl Names for Incoming<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        (name == INCOMING).then(|| self.0.clone())
    }

    fn now(&self) -> Time {
        Time(0)
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }
}
