//! From a step in the file to a call that is ready to go.
//!
//! Owns rendering, keys, scopes and fingerprints of a step at one moment of a run. Pure.
//! The invariant: the key and the fingerprint of a step depend only on what the file names, never
//! on the moment or the attempt.

use std::sync::Arc;

use semel_act::{Perform, Task};
use semel_flow::Value;
use semel_flow::expr::{EvalError, KeyFault, Template};
use semel_flow::model::{Act, Action, Class, Flow, Kind, OnUnknown, Step};
use semel_ledger::json::{Canonical, JsonError};
use semel_ledger::{EffectId, Fingerprint, Key, KeyError, Millis, Scope};
use semel_store::planted::{self, Bug};

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
    /// Whoever performs it says that it cannot be.
    #[error("{message}")]
    Identity {
        /// Why.
        message: String,
    },
    /// What is to be sent cannot be written as JSON.
    #[error("input: {source}")]
    Json {
        /// Why.
        source: JsonError,
    },
    /// The key of a value is no key.
    #[error("kv.{form}: {source}")]
    KvKey {
        /// Where it stands.
        form: &'static str,
        /// Why.
        source: KeyFault,
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
        None => default_key(names, step.takes_back().unwrap_or(&step.id.it))?,
    };
    let scope = Scope::new(&step.scope_name(flow));
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
    let id = step.takes_back().unwrap_or(&step.id.it);
    Value::map([("id", Value::text(id)), ("key", key)])
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
    made(flow, step, act, names, (attempt, step.class().has_effect()))
}

/// The call that a step made, or may have made, with the effect that the ledger is told of it,
/// whatever its class.
///
/// # Errors
/// [`ResolveError`] if anything in it has no value.
pub fn filed(
    flow: &Flow,
    step: &Step,
    act: &Arc<Act>,
    names: &RunNames<'_>,
    attempt: u32,
) -> Result<Call, ResolveError> {
    made(flow, step, act, names, (attempt, true))
}

fn made(
    flow: &Flow,
    step: &Step,
    act: &Arc<Act>,
    names: &RunNames<'_>,
    (attempt, has_effect): (u32, bool),
) -> Result<Call, ResolveError> {
    let class = step.class();
    // An undo names what it takes back, even if the ledger keeps nothing of the undo itself.
    let id = (has_effect || step.takes_back().is_some())
        .then(|| effect_id(flow, step, names))
        .transpose()?;
    let more = [("step", step_name(step, id.as_ref()))];
    let names = names.with(&more);
    let input = render(act, &names)?;
    let effect = id.filter(|_| has_effect);
    let key = effect.as_ref().map(|effect| sent_key(step, &effect.key));
    let key = if planted::is(Bug::KeyPerAttempt) {
        key.and_then(|key| Key::from_parts(&[key.as_str(), &attempt.to_string()]).ok())
    } else {
        key
    };
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
        timeout: step.time_limit(),
    };
    let step = places::name(step);
    Ok(Call {
        step,
        task,
        effect,
        by_rule: false,
    })
}

/// The key that the destination is told. A destination that dedupes must not take an undo for
/// what it takes back.
fn sent_key(step: &Step, key: &Key) -> Key {
    if step.takes_back().is_none() {
        return key.clone();
    }
    let mut parts: Vec<String> = key.parts().collect();
    parts.push("undo".to_owned());
    let hash = blake3::hash(key.as_str().as_bytes()).to_hex();
    let short = || Key::from_parts(&[&hash[..32], "undo"]);
    Key::from_parts(&parts)
        .or_else(|_| short())
        .unwrap_or_else(|_| key.clone())
}

/// How many digits of the hash of what is asked stand in a key; all of it is in the fingerprint.
const HASH_DIGITS: usize = 32;

/// The call under the name of what it asks for in full, where its kind has one: what was asked is
/// then a part of its key, so that the same question finds its answer and another one never does.
/// An answer that is shared has no other name.
///
/// # Errors
/// [`ResolveError`] if it cannot be performed.
pub fn identified(mut call: Call, steps: &dyn Perform) -> Result<Call, ResolveError> {
    let (task, Some(effect)) = (&mut call.task, &mut call.effect) else {
        return Ok(call);
    };
    let shared = task.act.shared_for();
    let asked = match shared {
        // Others ask at other moments: everything counts.
        Some(_) => task.input.clone(),
        None => Value::of(&effect.input),
    };
    let request = steps.identity(&task.act, &asked);
    let request = request.map_err(|message| ResolveError::Identity { message })?;
    let Some(request) = request else {
        return Ok(call);
    };
    let input = request.to_canonical();
    let input = input.map_err(|source| ResolveError::Json { source })?;
    let fingerprint = Fingerprint::of(&input);
    let mut parts: Vec<String> = match shared {
        Some(_) => Vec::new(),
        None => effect.id.key.parts().collect(),
    };
    let hash = blake3::Hash::from_bytes(fingerprint.0).to_hex();
    parts.push(hash[..HASH_DIGITS].to_owned());
    let key = Key::from_parts(&parts).map_err(|source| ResolveError::DefaultKey { source })?;
    effect.id = EffectId::new(effect.id.scope.clone(), key.clone());
    effect.input = input;
    effect.fingerprint = fingerprint;
    effect.remember = shared.or(effect.remember);
    task.key = Some(key);
    Ok(call)
}

fn render(act: &Act, names: &RunNames<'_>) -> Result<Value, ResolveError> {
    let key = kv_key(act, names)?;
    let input = act.input.render(names);
    let input = input.map_err(|source| ResolveError::Eval {
        field: "input",
        source,
    })?;
    Ok(with_key(input, key))
}

/// The key of a `kv`, made like any other: what is put into it is escaped.
fn kv_key(act: &Act, names: &RunNames<'_>) -> Result<Option<(&'static str, Key)>, ResolveError> {
    let Some((form, template)) = act.kv_form().filter(|_| act.kind == Kind::Kv) else {
        return Ok(None);
    };
    let key = template.key(names);
    let key = key.map_err(|source| ResolveError::KvKey { form, source })?;
    Ok(Some((form, key)))
}

fn with_key(input: Value, key: Option<(&'static str, Key)>) -> Value {
    match (input, key) {
        (Value::Map(mut members), Some((form, key))) => {
            Arc::make_mut(&mut members).insert(form.into(), Value::text(key.as_str()));
            Value::Map(members)
        }
        (input, _) => input,
    }
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
    let moving = |(_, key): (_, &Template)| key.exprs().any(|expr| expr.volatile);
    let stable = if act.kv_form().is_some_and(moving) {
        stable
    } else {
        with_key(stable, kv_key(act, names)?)
    };
    let input = stable
        .to_canonical()
        .map_err(|source| ResolveError::Json { source })?;
    Ok(Effect {
        id,
        fingerprint: Fingerprint::of(&input),
        input,
        remember: flow.remember.as_ref().map(|remember| remember.it),
        on_unknown: step.rule(),
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
    // A question that fails is an attempt of its step, or there would be no end to asking.
    let known = names.state.steps.get(&places::name(step));
    let attempt = known.map_or(0, |known| known.attempts) + 1;
    // What is asked about has a name, also where only a question is asked.
    let task = Task {
        act: Arc::clone(act),
        input,
        class: Class::Read,
        key: effect.as_ref().map(|effect| effect.key.clone()),
        scope: effect.map(|effect| effect.scope),
        attempt,
        timeout: step.timeout.as_ref().map_or(DEFAULT_TIMEOUT, |t| t.it),
    };
    Ok(Call {
        step: places::name(step),
        task,
        effect: None,
        by_rule: false,
    })
}

/// Whether what a step does stays in our own store, where the ledger always knows what came of it.
#[must_use]
pub fn is_kv(step: &Step) -> bool {
    main_act(step).is_some_and(|act| act.kind == Kind::Kv)
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
