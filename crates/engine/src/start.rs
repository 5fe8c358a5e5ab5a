//! Starting a run: from an event to the one change that makes it durable.
//!
//! Owns the identity of a run (its key, and the effect that stands for it), its queue and its
//! opening, the same for every kind of trigger. The invariant: whoever starts a run does it
//! together with the effect of its key, so the same event can start only one.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::expr::{EvalError, KeyFault};
use semel_flow::model::OverlapPolicy;
use semel_ledger::json::{Canonical, JsonError};
use semel_ledger::{
    Claim, Command, EffectId, Fence, Fingerprint, Key, KeyError, Millis, Owner, Scope, Time,
};
use semel_store::planted::{self, Bug};
use semel_store::run::{Lane, NewRun, RunId, RunState, Start, WhenFull};
use semel_store::{Content, EffectChange};

use crate::flows::Compiled;
use crate::journal::{self, Again, Happening, Headers, Kept, Opening, Origin, Raw, Within};
use crate::names::EventNames;

/// How long a done key protects if neither file nor server says.
pub const DEFAULT_REMEMBER: Millis = Millis::days(30);

/// Why an event cannot start a run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The flow's key has no value for this event.
    #[error("the flow's key cannot be made of this event: {source}")]
    Key {
        /// Why.
        source: KeyFault,
    },
    /// There is no key in the file, and the trigger has none of its own.
    #[error("the flow has no key and the event has no id of its own")]
    NoKey,
    /// An expression of the trigger has no value.
    #[error("{field}: {source}")]
    Eval {
        /// Which.
        field: &'static str,
        /// Why.
        source: EvalError,
    },
    /// A name is not acceptable.
    #[error(transparent)]
    Name {
        /// Why.
        #[from]
        source: KeyError,
    },
    /// The event cannot be written as JSON.
    #[error(transparent)]
    Json {
        /// Why.
        #[from]
        source: JsonError,
    },
}

/// An event on its way to become a run.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// The flow that it starts.
    pub compiled: &'a Compiled,
    /// The run's name.
    pub id: RunId,
    /// What kind of trigger.
    pub by: Origin,
    /// The event.
    pub event: Value,
    /// The event as it is compared, if it is known already.
    pub canonical: Option<Canonical>,
    /// What was received, byte for byte, if that is not the event's own text.
    pub raw: Option<Vec<u8>>,
    /// The headers of its request that the flow uses.
    pub headers: Headers,
    /// Planned or received at.
    pub at: Time,
    /// The sender's name for it, or who asked.
    pub from: Option<Box<str>>,
    /// Its identity, if that is decided already.
    pub key: Option<Key>,
    /// The trigger's own identity of the event, if the flow has no key.
    pub own_key: Option<Key>,
    /// This node has room to begin it at once.
    pub begin: bool,
    /// How long the key protects if the file does not say.
    pub remember: Millis,
    /// The present time.
    pub now: Time,
    /// Sixteen random bytes.
    pub fence: Fence,
}

impl Incoming<'_> {
    /// What expressions over the event see.
    #[must_use]
    pub fn names(&self) -> EventNames<'_> {
        EventNames {
            flow: &self.compiled.flow,
            event: &self.event,
            headers: &self.headers,
            is_item: self.by == Origin::Sync,
            at: self.at,
            now: self.now,
        }
    }

    /// The run's identity: the flow's key, or the trigger's own.
    ///
    /// # Errors
    /// [`StartError`] if there is none.
    pub fn key(&self) -> Result<Key, StartError> {
        if let Some(key) = &self.key {
            return Ok(key.clone());
        }
        match &self.compiled.flow.key {
            Some(template) => template
                .key(&self.names())
                .map_err(|source| StartError::Key { source }),
            None => self.own_key.clone().ok_or(StartError::NoKey),
        }
    }

    /// The change that starts the run, unless its key has one already.
    ///
    /// # Errors
    /// [`StartError`] if the event gives no key.
    pub fn into_start(self) -> Result<Start, StartError> {
        let (key, lane) = (self.key()?, self.lane()?);
        self.start_as(key, lane)
    }

    /// The change that files the event as a run which waits for a person, once, under that key.
    ///
    /// # Errors
    /// [`StartError`] if it cannot be written down.
    pub fn into_parked(self, key: Key, why: &str) -> Result<Start, StartError> {
        let mut start = self.start_as(key, None)?;
        start.run.state = RunState::Parked;
        start.run.why = why.into();
        start.run.wake = None;
        Ok(start)
    }

    /// What is told about it in its run's journal; what was received is left out.
    #[must_use]
    pub fn opening(&self) -> Opening {
        Opening {
            by: self.by,
            event: Kept::Is(self.event.clone()),
            at: self.at,
            from: self.from.clone(),
            raw: None,
            headers: self.headers.clone(),
            within: None,
            again: None,
        }
    }

    /// The change that starts the run under that key and in that queue, unless the key has one already.
    ///
    /// # Errors
    /// [`StartError`] if it cannot be written down.
    pub fn start_as(self, key: Key, lane: Option<Lane>) -> Result<Start, StartError> {
        let once = self.once(key.clone())?;
        Ok(self.start_once(once, key, lane))
    }

    /// The effect that stands for the key: it happens once.
    ///
    /// # Errors
    /// [`StartError`] if it cannot be written down.
    pub fn once(&self, key: Key) -> Result<EffectChange, StartError> {
        let flow = &self.compiled.flow;
        let fingerprint = match &self.canonical {
            Some(canonical) => Fingerprint::of(canonical),
            None => Fingerprint::of(&self.event.to_canonical()?),
        };
        let claim = Claim {
            fence: self.fence,
            owner: Owner::Client,
            fingerprint: Some(fingerprint),
            on_unknown: None,
            lease: Millis(0),
            remember: flow.remember.as_ref().map_or(self.remember, |r| r.it),
        };
        let content = Content {
            result: Some(started(self.id)),
            by: Some(self.id.event_text().into()),
            ..Content::default()
        };
        Ok(EffectChange {
            effect: EffectId::new(Scope::new(&flow.name.it)?, key),
            command: Command::Once(claim),
            content,
        })
    }

    /// The change that starts the run, if its effect is the first of its key.
    #[must_use]
    pub fn start_once(self, once: EffectChange, key: Key, lane: Option<Lane>) -> Start {
        let mut contents = Vec::new();
        let opening = Opening {
            by: self.by,
            event: Kept::Is(self.event),
            at: self.at,
            from: self.from,
            raw: self.raw.map(|bytes| Raw::new(bytes, &mut contents)),
            headers: self.headers,
            within: None,
            again: None,
        };
        let run = RunOf {
            compiled: self.compiled,
            id: self.id,
            key,
            parent: None,
            lane,
            begin: self.begin,
            now: self.now,
        };
        let mut run = run.with(opening);
        run.contents.extend(contents);
        Start {
            once: (!planted::is(Bug::StartWithoutKey)).then_some(once),
            latest: None,
            otherwise: None,
            run,
        }
    }

    /// The queue that its run goes through.
    ///
    /// # Errors
    /// [`StartError`] if the event does not say which.
    pub fn lane(&self) -> Result<Option<Lane>, StartError> {
        let flow = &self.compiled.flow;
        let Some(overlap) = &flow.overlap else {
            return Ok(None);
        };
        let when_full = match overlap.policy {
            OverlapPolicy::Allow => return Ok(None),
            OverlapPolicy::Queue => WhenFull::Queue,
            OverlapPolicy::Skip => WhenFull::Skip,
            OverlapPolicy::Replace => WhenFull::Replace,
        };
        let per = match &overlap.per {
            None => None,
            Some(per) => Some(
                per.key(&self.names())
                    .map_err(|source| StartError::Key { source })?,
            ),
        };
        let name = per.as_ref().map_or("", Key::as_str);
        Ok(Some(Lane {
            id: short_hash(&["overlap", &flow.name.it, name]),
            width: 1,
            when_full,
        }))
    }
}

/// The result of the effect that stands for a run's key.
#[must_use]
pub fn started(run: RunId) -> Box<str> {
    format!(r#"{{"run":"{}"}}"#, run.text()).into()
}

/// The run that such a result names.
#[must_use]
pub fn started_run(result: &str) -> Option<RunId> {
    // As it was written, if nobody has spelt it anew.
    let own = result.strip_prefix(r#"{"run":""#);
    if let Some(run) = own.and_then(|it| RunId::parse(it.strip_suffix(r#""}"#)?)) {
        return Some(run);
    }
    let value = Value::read(result.as_bytes()).ok()?;
    RunId::parse(value.get("run")?.as_text()?)
}

/// Sixteen bytes that stand for some names.
#[must_use]
pub fn short_hash(names: &[&str]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for name in names {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    let mut hash = [0; 16];
    hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    hash
}

/// A run to be started, apart from its opening.
#[derive(Debug)]
pub struct RunOf<'a> {
    /// Of which release.
    pub compiled: &'a Compiled,
    /// Its name.
    pub id: RunId,
    /// What it is about.
    pub key: Key,
    /// The run that waits for it.
    pub parent: Option<RunId>,
    /// Its queue.
    pub lane: Option<Lane>,
    /// This node begins it at once.
    pub begin: bool,
    /// The present time.
    pub now: Time,
}

impl RunOf<'_> {
    /// The run with its opening.
    #[must_use]
    pub fn with(self, mut opening: Opening) -> NewRun {
        let mut contents = Vec::new();
        if let Kept::Is(event) = opening.event {
            opening.event = Kept::new(event, &mut contents);
        }
        let opening = journal::write(&[Happening::Opened(Box::new(opening))]);
        NewRun {
            id: self.id,
            flow: self.compiled.flow.name.it.as_str().into(),
            release: self.compiled.id,
            key: self.key,
            parent: self.parent,
            lane: self.lane,
            wake: (!self.begin).then_some(self.now),
            state: if self.begin {
                RunState::Running
            } else {
                RunState::Queued
            },
            why: if self.begin { "running" } else { "queued" }.into(),
            opening,
            contents,
        }
    }
}

/// The opening of a child run.
#[must_use]
pub fn child_opening(by: Origin, event: Value, at: Time, within: Within) -> Opening {
    Opening {
        by,
        event: Kept::Is(event),
        at,
        from: None,
        raw: None,
        headers: Headers::new(),
        within: Some(within),
        again: None,
    }
}

/// The opening of a run that is done again.
#[must_use]
pub fn again_opening(
    before: &Opening,
    by: &str,
    of: RunId,
    reuse: Vec<(Arc<str>, Kept)>,
    own: &[Arc<str>],
) -> Opening {
    let reused = |id: &&Arc<str>| reuse.iter().any(|(step, _)| step == *id);
    let own = own.iter().filter(reused).cloned().collect();
    let earlier = before.again.iter().flat_map(|again| {
        let first = std::iter::once(&again.of);
        first.chain(&again.earlier).cloned()
    });
    let earlier = earlier.collect();
    Opening {
        by: Origin::Rerun,
        from: Some(by.into()),
        raw: None,
        again: Some(Again {
            of: of.text().into(),
            reuse,
            own,
            earlier,
        }),
        ..before.clone()
    }
}
