//! Asking people for leave: what they see, and the effect in the ledger that their answer belongs to.
//!
//! Owns the request as a document and its identity. The key has in it what is asked of whom, so an approval counts
//! for exactly that: whoever asks the same again finds it, and whoever asks for anything else does not. Pure.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Approve, Flow, Step, Tree};
use semel_ledger::json::Canonical;
use semel_ledger::{EffectId, Fingerprint, Key, Time};
use semel_store::planted::{self, Bug};

use crate::decide::KEPT_SECRET;
use crate::names::RunNames;
use crate::places;
use crate::resolve::{self, ResolveError};

/// A request that is about to be asked.
#[derive(Clone, Debug)]
pub struct Asking {
    /// For which step.
    pub step: Arc<str>,
    /// Which round, counted from 1.
    pub round: u32,
    /// Its identity.
    pub effect: EffectId,
    /// What an answer counts for.
    pub fingerprint: Fingerprint,
    /// The whole request, for whoever shows it.
    pub input: Canonical,
    /// Until when it may be answered.
    pub until: Time,
    /// `ask` and `show` as people see them.
    pub shown: Value,
    /// Stands for that, apart from what depends on the moment.
    pub hash: Box<str>,
}

/// What people will see, rendered once.
#[derive(Clone, Debug)]
pub struct Shown {
    /// `ask` and `show`.
    pub value: Value,
    /// Stands for that, apart from what depends on the moment.
    pub hash: Box<str>,
}

/// Why people cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The file does not resolve.
    #[error(transparent)]
    Resolve {
        /// Why.
        #[from]
        source: ResolveError,
    },
    /// A secret would be shown.
    #[error("approve: {}", KEPT_SECRET)]
    Secret,
}

/// Renders what people will see.
///
/// # Errors
/// [`AskError`] if it has no value, or shows a secret.
pub fn shown(approve: &Approve, names: &RunNames<'_>) -> Result<Shown, AskError> {
    let eval = |field| move |source| ResolveError::Eval { field, source };
    let ask = Tree::Text(approve.ask.clone());
    let show = approve.show.as_ref().unwrap_or(&Tree::Null);
    let seen = ask.render(names).map_err(eval("ask"))?;
    let beside = show.render(names).map_err(eval("show"))?;
    if seen.hides_secret() || beside.hides_secret() {
        return Err(AskError::Secret);
    }
    let seen = Value::text(&seen.shown());
    let stable = Value::map([
        ("ask", ask.render_stable(names).map_err(eval("ask"))?),
        ("show", show.render_stable(names).map_err(eval("show"))?),
    ]);
    Ok(Shown {
        value: Value::map([("ask", seen), ("show", beside)]),
        hash: hex(Fingerprint::of(&canonical(&stable)?)),
    })
}

/// Everything around a request.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// The step.
    pub step: &'a Step,
    /// What it says.
    pub approve: &'a Approve,
    /// The run's id.
    pub run: &'a str,
    /// Who started it by hand.
    pub maker: Option<&'a str>,
    /// The present time.
    pub now: Time,
}

impl Around<'_> {
    /// The request of a round, under the step's own effect; `None`: there is no such round.
    ///
    /// # Errors
    /// [`AskError`] if its key cannot be made.
    pub fn asking(
        &self,
        round: u32,
        own: &EffectId,
        shown: &Shown,
    ) -> Result<Option<Asking>, AskError> {
        let Some(asked) = self.approve.round(round) else {
            return Ok(None);
        };
        let by = Value::list(asked.by.iter().map(|one| Value::text(&one.it)).collect());
        let needed = Value::Int(self.approve.needed.into());
        let asked_for = if planted::is(Bug::AnyApproval) {
            "anything"
        } else {
            &*shown.hash
        };
        let counts_for = Value::map([
            ("asked", Value::text(asked_for)),
            ("by", by.clone()),
            ("needed", needed.clone()),
        ]);
        let fingerprint = Fingerprint::of(&canonical(&counts_for)?);
        let until = self.now.after(asked.timeout);
        let member = |name| shown.value.get(name).cloned().unwrap_or(Value::Null);
        let request = Value::map([
            ("ask", member("ask")),
            ("show", member("show")),
            ("by", by),
            ("needed", needed),
            ("maker", self.maker.map_or(Value::Null, Value::text)),
            ("allow_maker", Value::Bool(self.approve.allow_maker)),
            ("run", Value::text(self.run)),
            ("step", Value::text(&self.step.id.it)),
            ("flow", Value::text(&self.flow.name.it)),
            ("until", Value::Int(until.0)),
            ("round", Value::Int(round.into())),
        ]);
        Ok(Some(Asking {
            step: places::name(self.step),
            round,
            effect: under(own, fingerprint, round)?,
            fingerprint,
            input: canonical(&Value::map([("approve", request)]))?,
            until,
            shown: shown.value.clone(),
            hash: shown.hash.clone(),
        }))
    }
}

/// The effect of a request: its step's, and what is asked.
fn under(own: &EffectId, fingerprint: Fingerprint, round: u32) -> Result<EffectId, AskError> {
    let mut parts: Vec<String> = own.key.parts().collect();
    parts.push(hex(fingerprint)[..16].to_owned());
    if round > 1 {
        parts.push(round.to_string());
    }
    let key = Key::from_parts(&parts).map_err(|source| ResolveError::DefaultKey { source })?;
    Ok(EffectId::new(own.scope.clone(), key))
}

/// The effect of the step that a request was asked for.
#[must_use]
pub fn own_effect(asked: &EffectId, round: u32) -> Option<EffectId> {
    let mut parts: Vec<String> = asked.key.parts().collect();
    let added = if round > 1 { 2 } else { 1 };
    parts.truncate(parts.len().checked_sub(added)?);
    let key = Key::from_parts(&parts).ok()?;
    Some(EffectId::new(asked.scope.clone(), key))
}

/// The requests of a step as they would be asked now: of the first round, and of the one after it.
///
/// # Errors
/// [`AskError`].
pub fn rounds(around: &Around<'_>, names: &RunNames<'_>) -> Result<Vec<Asking>, AskError> {
    let shown = shown(around.approve, names)?;
    let own = resolve::effect_id(around.flow, around.step, names)?;
    let mut rounds = Vec::new();
    for round in 1..=2 {
        rounds.extend(around.asking(round, &own, &shown)?);
    }
    Ok(rounds)
}

fn canonical(value: &Value) -> Result<Canonical, AskError> {
    let json = value.to_canonical();
    Ok(json.map_err(|source| ResolveError::Json { source })?)
}

fn hex(Fingerprint(bytes): Fingerprint) -> Box<str> {
    blake3::Hash::from_bytes(bytes).to_hex().as_str().into()
}
