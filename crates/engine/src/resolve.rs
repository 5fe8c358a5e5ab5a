//! From a step in the file to a call that is ready to go.
//!
//! Owns rendering, keys, scopes and fingerprints of a step at one moment of a run. Pure.
//! The invariant: the key and the fingerprint of a step depend only on what the file names, never
//! on the moment or the attempt.

use std::sync::Arc;

use semel_act::Task;
use semel_flow::Value;
use semel_flow::expr::{EvalError, KeyFault};
use semel_flow::model::{Act, Action, Class, Flow, OnUnknown, Step};
use semel_ledger::json::{Canonical, JsonError};
use semel_ledger::{EffectId, Fingerprint, Key, KeyError, Millis, Scope};

use crate::names::RunNames;
use crate::places;

/// How long an attempt may take if the file does not say.
pub const DEFAULT_TIMEOUT: Millis = Millis::seconds(30);

/// A call that is ready to go.
#[derive(Clone, Debug)]
pub struct Call {
    /// For which step.
    pub step: Arc<str>,
    /// What is asked of the world.
    pub task: Task,
    /// The effect that the ledger keeps for it.
    pub effect: Option<Effect>,
    /// There is nobody left to ask about a lost attempt: if the ledger refuses, a person decides.
    pub by_rule: bool,
}

/// An effect that is about to be claimed.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Its name.
    pub id: EffectId,
    /// What was asked, without what changes from moment to moment.
    pub input: Canonical,
    /// The short name of that.
    pub fingerprint: Fingerprint,
    /// How long it protects; `None`: the server's default.
    pub remember: Option<Millis>,
    /// The rule for when nobody knows.
    pub on_unknown: OnUnknown,
}

/// Why a step cannot be made into a call.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// An expression has no value.
    #[error("{field}: {source}")]
    Eval {
        /// Where it stands.
        field: &'static str,
        /// Why.
        source: EvalError,
    },
    /// The key is no key.
    #[error("key: {source}")]
    Key {
        /// Why.
        source: KeyFault,
    },
    /// The default key is no key.
    #[error("key: {source}")]
    DefaultKey {
        /// Why.
        source: KeyError,
    },
    /// What is to be sent cannot be written as JSON.
    #[error("input: {source}")]
    Json {
        /// Why.
        source: JsonError,
    },
}

/// The identity of a step's effect.
///
/// # Errors
/// [`ResolveError`] if its key or scope cannot be made.
pub fn effect_id(flow: &Flow, step: &Step, names: &RunNames<'_>) -> Result<EffectId, ResolveError> {
    let key = match &step.key {
        Some(template) => template
            .key(names)
            .map_err(|source| ResolveError::Key { source })?,
        None => default_key(names, &step.id.it)?,
    };
    let scope = match &step.scope {
        Some(scope) => Scope::new(&scope.it),
        None => Scope::new(&format!("{}/{}", flow.name.it, step.id.it)),
    };
    let scope = scope.map_err(|source| ResolveError::DefaultKey { source })?;
    Ok(EffectId::new(scope, key))
}

/// The run's key and the step's id.
fn default_key(names: &RunNames<'_>, step: &str) -> Result<Key, ResolveError> {
    let fault = |source| ResolveError::DefaultKey { source };
    let run: Key = names.identity.key.parse().map_err(fault)?;
    let mut parts: Vec<String> = run.parts().collect();
    parts.push(step.to_owned());
    Key::from_parts(&parts).map_err(fault)
}

/// What expressions of a step see as `step`.
#[must_use]
pub fn step_name(step: &Step, effect: Option<&EffectId>) -> Value {
    let key = effect.map_or(Value::Null, |effect| Value::text(effect.key.as_str()));
    Value::map([("id", Value::text(&step.id.it)), ("key", key)])
}

/// One call of a step: its own act, or the `create` of an `ensure`.
///
/// # Errors
/// [`ResolveError`] if anything in it has no value.
pub fn call(
    flow: &Flow,
    step: &Step,
    act: &Arc<Act>,
    names: &RunNames<'_>,
    attempt: u32,
) -> Result<Call, ResolveError> {
    let class = step.class();
    let effect = class
        .has_effect()
        .then(|| effect_id(flow, step, names))
        .transpose()?;
    let more = [("step", step_name(step, effect.as_ref()))];
    let names = names.with(&more);
    let input = render(act, &names)?;
    let key = effect.as_ref().map(|effect| effect.key.clone());
    let scope = effect.as_ref().map(|effect| effect.scope.clone());
    let effect = effect
        .map(|id| effect_of(flow, step, act, id, &names))
        .transpose()?;
    let task = Task {
        act: Arc::clone(act),
        input,
        class,
        key,
        scope,
        attempt,
        timeout: step.timeout.as_ref().map_or(DEFAULT_TIMEOUT, |t| t.it),
    };
    let step = places::name(step);
    Ok(Call {
        step,
        task,
        effect,
        by_rule: false,
    })
}

fn render(act: &Act, names: &RunNames<'_>) -> Result<Value, ResolveError> {
    let input = act.input.render(names);
    input.map_err(|source| ResolveError::Eval {
        field: "input",
        source,
    })
}

fn effect_of(
    flow: &Flow,
    step: &Step,
    act: &Arc<Act>,
    id: EffectId,
    names: &RunNames<'_>,
) -> Result<Effect, ResolveError> {
    let stable = act.input.render_stable(names);
    let stable = stable.map_err(|source| ResolveError::Eval {
        field: "input",
        source,
    })?;
    let input = stable
        .to_canonical()
        .map_err(|source| ResolveError::Json { source })?;
    Ok(Effect {
        id,
        fingerprint: Fingerprint::of(&input),
        input,
        remember: flow.remember.as_ref().map(|remember| remember.it),
        on_unknown: step
            .on_unknown
            .as_ref()
            .map_or(OnUnknown::Ask, |rule| rule.it),
    })
}

/// A question to the destination, which changes nothing there.
///
/// # Errors
/// [`ResolveError`] if anything in it has no value.
pub fn question(
    flow: &Flow,
    step: &Step,
    act: &Arc<Act>,
    names: &RunNames<'_>,
) -> Result<Call, ResolveError> {
    let effect = step
        .class()
        .has_effect()
        .then(|| effect_id(flow, step, names))
        .transpose()?;
    let more = [("step", step_name(step, effect.as_ref()))];
    let input = render(act, &names.with(&more))?;
    // What is asked about has a name, also where only a question is asked.
    let task = Task {
        act: Arc::clone(act),
        input,
        class: Class::Read,
        key: effect.as_ref().map(|effect| effect.key.clone()),
        scope: effect.map(|effect| effect.scope),
        attempt: 1,
        timeout: step.timeout.as_ref().map_or(DEFAULT_TIMEOUT, |t| t.it),
    };
    Ok(Call {
        step: places::name(step),
        task,
        effect: None,
        by_rule: false,
    })
}

/// The call that a step makes first: its act, or what its `ensure` creates.
#[must_use]
pub fn main_act(step: &Step) -> Option<&Arc<Act>> {
    match &step.action {
        Action::Act(act) => Some(act),
        Action::Ensure(ensure) => Some(&ensure.create.act),
        _ => None,
    }
}
