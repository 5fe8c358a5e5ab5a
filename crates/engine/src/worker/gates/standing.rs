//! What the ledger says of a request, and what a run says there itself.
//!
//! The invariant: only what is a request by its own words counts as one. Whoever may claim effects can put anything
//! under any key, but nothing that reads as a request and has its fingerprint.

use semel_flow::Value;
use semel_ledger::{Command, Decision, Digest, EffectId, State as EffectState, Time};
use semel_store::{Content, EffectChange, Record, StoreError};

use crate::engine::Inner;
use crate::gate::Asking;

/// Who decides when nobody answered in time.
pub(super) const TIMEOUT: &str = "timeout";
/// Why what stands there is no answer.
pub(super) const NOT_A_REQUEST: &str =
    "its key stands in the ledger for something that is no request";
const TOO_OLD: &str = "it was answered so long ago that who did is no longer on record";

/// Where a request stands.
pub(super) enum Standing {
    /// It is not there.
    Nothing,
    /// People may answer until then.
    Open(Box<Record>, Time),
    /// They said yes.
    Approved(Box<Record>),
    /// They said no.
    Rejected(Box<Record>),
    /// It is asked no more; because of their silence, or not.
    Closed {
        /// Their time was over.
        silence: bool,
    },
    /// It counts for nothing.
    Wrong(&'static str),
}

/// Reads where a request stands.
pub(super) async fn standing(inner: &Inner, effect: &EffectId) -> Result<Standing, StoreError> {
    let Some(record) = inner.store.load(effect).await? else {
        return Ok(Standing::Nothing);
    };
    let state = record.state_at(inner.store.now());
    let until = until_of(inner, &record).await?;
    let record = Box::new(record);
    Ok(match (state, until) {
        (EffectState::Failed, _) => Standing::Rejected(record),
        (EffectState::Released, _) => {
            let silence = said(inner, &record).await?.is_silence();
            Standing::Closed { silence }
        }
        (EffectState::Undone, _) => Standing::Wrong("the approval was taken back"),
        (_, None) if record.entry.tombstone => Standing::Wrong(TOO_OLD),
        (EffectState::Review, Some(until)) => Standing::Open(record, until),
        (EffectState::Done, Some(_)) => Standing::Approved(record),
        _ => Standing::Wrong(NOT_A_REQUEST),
    })
}

/// Until when a request may be answered; `None`: it is none.
async fn until_of(inner: &Inner, record: &Record) -> Result<Option<Time>, StoreError> {
    let text = match &record.input {
        Some(input) => inner.store.text(input).await?,
        None => None,
    };
    let request = text.and_then(|text| Value::read(text.as_bytes()).ok());
    let until = request.and_then(|it| it.get("approve")?.get("until").cloned());
    Ok(match until {
        Some(Value::Int(millis)) => Some(Time(millis)),
        _ => None,
    })
}

/// Whether exactly this was approved already.
pub(super) async fn is_approved(inner: &Inner, asking: &Asking) -> Result<bool, StoreError> {
    Ok(match standing(inner, &asking.effect).await? {
        Standing::Approved(record) => record.entry.fingerprint == Some(asking.fingerprint),
        _ => false,
    })
}

/// What was said to a request, as the ledger has it.
pub(super) struct Said {
    pub(super) by: Vec<Box<str>>,
    pub(super) note: Option<Box<str>>,
}

impl Said {
    fn is_silence(&self) -> bool {
        matches!(self.by.as_slice(), [by] if &**by == TIMEOUT)
    }

    pub(super) fn names(&self) -> String {
        self.by.join(" and ")
    }

    /// What later steps see.
    pub(super) fn result(&self, approved: bool) -> Value {
        let by = self.by.iter().map(|name| Value::text(name)).collect();
        let note = self.note.as_deref();
        Value::map([
            ("approved", Value::Bool(approved)),
            ("by", Value::list(by)),
            ("note", note.map_or(Value::Null, Value::text)),
        ])
    }
}

/// Who said what: all who said yes are in the result, whoever said anything is in the effect's life.
pub(super) async fn said(inner: &Inner, record: &Record) -> Result<Said, StoreError> {
    let text = match &record.result {
        Some(result) => inner.store.text(result).await?,
        None => None,
    };
    let result = text.and_then(|text| Value::read(text.as_bytes()).ok());
    let listed = result.as_ref().and_then(|result| match result.get("by")? {
        Value::List(names) => {
            let names = names.iter().filter_map(Value::as_text);
            Some(names.map(Into::into).collect::<Vec<Box<str>>>())
        }
        _ => None,
    });
    let by = if let Some(by) = listed {
        by
    } else {
        let turns = inner.store.turns(record).await?;
        let last = turns.into_iter().next_back().and_then(|turn| turn.by);
        // How they proved who they are is said behind their name.
        let name = |by: Box<str>| by.split(" (").next().unwrap_or_default().into();
        last.map(name).into_iter().collect()
    };
    let note = record.note.clone();
    Ok(Said { by, note })
}

/// A decision about exactly the attempt that was seen.
pub(super) fn decided(
    record: &Record,
    decision: Decision,
    by: &str,
    note: Option<Box<str>>,
    result: Option<String>,
) -> EffectChange {
    let said = [
        Some(decision.name()),
        result.as_deref(),
        note.as_deref(),
        Some(by),
    ];
    EffectChange {
        effect: record.effect.clone(),
        command: Command::Decide {
            decision,
            attempt: Some(record.entry.attempt),
            digest: Digest::of_decision(said),
        },
        content: Content {
            result: result.map(Into::into),
            note,
            by: Some(by.into()),
            ..Content::default()
        },
    }
}
