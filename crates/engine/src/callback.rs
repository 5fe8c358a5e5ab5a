//! Callbacks in the ledger: which came first, what was posted or the end of patience.
//!
//! Owns the effect that stands for the callback of one step of one run. Its arrival and its expiry are both the
//! first step of that effect, so whoever is second is told who won. Leaves tokens to [`crate::token`], and what
//! becomes of the run to its worker, which is told by mail in the same commit.
//!
//! The invariant: what was posted has a fingerprint, an expiry has none; so they can be told apart for as long as
//! anything is kept.

use semel_ledger::json::Canonical;
use semel_ledger::{Claim, Command, EffectId, Fingerprint, Key, KeyError, Millis, Owner, Scope};
use semel_store::run::RunId;
use semel_store::{Change, Content, EffectChange, Record};

use crate::engine::fence;
use crate::journal::Note;

/// The scope of every callback; its key is the run and the step.
const SCOPE: &str = "callback";

/// The effect that stands for a callback.
///
/// # Errors
/// [`KeyError`] if the step cannot be named.
pub fn effect(run: RunId, step: &str) -> Result<EffectId, KeyError> {
    let key = Key::from_parts(&[&run.text(), step])?;
    Ok(EffectId::new(Scope::new(SCOPE)?, key))
}

/// The callback came with this.
///
/// # Errors
/// [`KeyError`] if the step cannot be named.
pub fn arrival(
    run: RunId,
    step: &str,
    posted: &Canonical,
    remember: Millis,
) -> Result<EffectChange, KeyError> {
    let content = Content {
        result: Some(posted.as_str().into()),
        by: Some("callback".into()),
        ..Content::default()
    };
    once(run, step, Some(Fingerprint::of(posted)), remember, content)
}

/// Nobody may call back any more.
///
/// # Errors
/// [`KeyError`] if the step cannot be named.
pub(crate) fn expiry(
    run: RunId,
    step: &str,
    why: &str,
    remember: Millis,
) -> Result<EffectChange, KeyError> {
    let content = Content {
        note: Some(why.into()),
        by: Some(run.text().into()),
        ..Content::default()
    };
    once(run, step, None, remember, content)
}

/// Whether the effect says that nobody called back while it counted.
#[must_use]
pub fn is_expired(record: &Record) -> bool {
    record.entry.fingerprint.is_none()
}

/// The mail that belongs into the commit of an arrival.
#[must_use]
pub fn mail(run: RunId, step: &str) -> Change {
    let note = Note::Callback { step: step.into() };
    Change::Mail {
        run,
        // Two short texts: there is nothing that could fail.
        note: serde_json::to_string(&note).unwrap_or_default().into(),
    }
}

fn once(
    run: RunId,
    step: &str,
    fingerprint: Option<Fingerprint>,
    remember: Millis,
    content: Content,
) -> Result<EffectChange, KeyError> {
    let claim = Claim {
        fence: fence(),
        owner: Owner::Client,
        fingerprint,
        on_unknown: None,
        lease: Millis(0),
        remember,
    };
    Ok(EffectChange {
        effect: effect(run, step)?,
        command: Command::Once(claim),
        content,
    })
}
