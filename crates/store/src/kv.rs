//! Small values under names, shared by all flows of a server.
//!
//! Owns what may be kept ([`KvKey`], [`KvValue`]), what can happen to it ([`KvOp`]) and what comes of that
//! ([`KvDone`]). Every backend asks `plan` inside the transaction that writes, so they cannot
//! disagree about meaning. Who is asked, and when, is for the callers.
//!
//! The invariants: nothing is kept that is absent (`null` stands for that everywhere); what has
//! expired counts as absent from that moment on, swept or not; an operation that comes with an effect
//! is applied in the transaction that records the effect, and only by whoever is first.

mod limit;
mod op;

use semel_ledger::json::Canonical;
use semel_ledger::{After, Millis, Time, apply};

use crate::change::{Answered, EffectChange};
use crate::record::Record;

pub use limit::{KvKey, KvLimit, KvValue, MAX_KEY_BYTES, MAX_VALUE_BYTES};
pub use op::{KvFault, KvOp, KvResult};

/// A value as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvEntry {
    /// Its name.
    pub key: KvKey,
    /// What is there.
    pub value: KvValue,
    /// From when on it counts as absent.
    pub expires_at: Option<Time>,
    /// When it was last written.
    pub changed_at: Time,
    /// By whom: a run, or a person's token.
    pub by: Option<Box<str>>,
}

impl KvEntry {
    /// Whether it is there at that time.
    #[must_use]
    pub fn is_alive(&self, now: Time) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }
}

/// Puts a value there, whatever was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvPut {
    /// Its name.
    pub key: KvKey,
    /// What is put there; `None` takes it away.
    pub to: Option<KvValue>,
    /// For how long; `None`: until it is changed.
    pub ttl: Option<Millis>,
    /// Who does it.
    pub by: Option<Box<str>>,
}

impl KvPut {
    pub(crate) fn entry(&self, now: Time) -> Option<KvEntry> {
        Some(KvEntry {
            key: self.key.clone(),
            value: self.to.clone()?,
            expires_at: self.ttl.map(|ttl| now.after(ttl)),
            changed_at: now,
            by: self.by.clone(),
        })
    }
}

/// One operation on one key, together with the effect that stands for it.
#[derive(Clone, Debug)]
pub struct KvChange {
    /// The effect (a `Once`); its result will be that of the operation. Without one the operation is
    /// applied in any case.
    pub once: Option<EffectChange>,
    /// Which key.
    pub key: KvKey,
    /// What is to happen.
    pub op: KvOp,
    /// Who does it.
    pub by: Option<Box<str>>,
}

/// What became of a [`KvChange`].
#[derive(Clone, Debug)]
pub struct KvDone {
    /// What the effect answered, if it was asked.
    pub answered: Option<Answered>,
    /// What became of the operation.
    pub outcome: KvOutcome,
}

/// What became of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvOutcome {
    /// It was applied now.
    Applied(KvResult),
    /// The effect was there before, and nothing was applied: its verdict and its record tell.
    Known,
    /// It cannot be applied to what is there. Nothing is written, of the effect neither.
    Impossible(KvFault),
}

/// Which keys are asked for.
#[derive(Clone, Debug, Default)]
pub struct KvFilter {
    /// Whose text begins so.
    pub prefix: String,
    /// Behind this one: where the page before ended.
    pub after: Option<String>,
    /// At most so many.
    pub limit: usize,
}

impl KvFilter {
    /// The first text that no longer begins with the prefix; `None` if all others do.
    pub(crate) fn end(&self) -> Option<String> {
        let mut end = self.prefix.clone();
        while let Some(last) = end.pop() {
            // The range passes over what no text can have.
            if let Some(next) = (last..=char::MAX).nth(1) {
                end.push(next);
                return Some(end);
            }
        }
        None
    }
}

/// What a backend does for a [`KvChange`].
pub(crate) struct Planned {
    /// Moves the effect, with the operation's result in it.
    pub(crate) once: Option<EffectChange>,
    pub(crate) write: Write,
    pub(crate) outcome: KvOutcome,
}

/// What is written under the key.
pub(crate) enum Write {
    Nothing,
    Put(KvEntry),
    Remove,
}

/// Decides about an operation by what stands in the ledger and under the key.
pub(crate) fn plan(
    change: KvChange,
    record: Option<&Record>,
    entry: Option<&KvEntry>,
    now: Time,
) -> Planned {
    let KvChange {
        mut once,
        key,
        op,
        by,
    } = change;
    if once
        .as_ref()
        .is_some_and(|once| !is_first(once, record, now))
    {
        return Planned {
            once,
            write: Write::Nothing,
            outcome: KvOutcome::Known,
        };
    }
    let entry = entry.filter(|entry| entry.is_alive(now));
    let applied = match op.apply(&key, entry, now) {
        Ok(applied) => applied,
        Err(fault) => {
            return Planned {
                once: None,
                write: Write::Nothing,
                outcome: KvOutcome::Impossible(fault),
            };
        }
    };
    if let Some(once) = &mut once {
        once.content.result = Some(applied.result.to_json());
    }
    let write = match (applied.result.changed, &applied.result.value) {
        (false, _) => Write::Nothing,
        (true, None) => Write::Remove,
        (true, Some(value)) => Write::Put(KvEntry {
            key,
            value: value.clone(),
            expires_at: applied.expires_at,
            changed_at: now,
            by,
        }),
    };
    Planned {
        once,
        write,
        outcome: KvOutcome::Applied(applied.result),
    }
}

/// Whether the effect lets it happen now; not if this very question was answered before.
fn is_first(once: &EffectChange, record: Option<&Record>, now: Time) -> bool {
    let step = apply(record.map(|record| &record.entry), &once.command, now);
    step.verdict.is_grant() && step.after != After::Same
}

/// A value as JSON text; `null` if there is none.
fn shown(value: Option<&KvValue>) -> &str {
    value.map_or("null", |value| value.canonical().as_str())
}

/// A value as it stands in a store.
pub(crate) fn value_of(text: Box<str>) -> KvValue {
    KvValue::trusted(Canonical::trusted(text))
}

#[cfg(test)]
mod tests;
