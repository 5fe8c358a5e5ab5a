//! A `kv` step as the store is asked: which key, and what is to happen to it.
//!
//! Pure. Owns reading the rendered input of such a step, its limits, and what later steps see of the
//! answer. The invariant: nothing is kept that has a secret in it.

use semel_flow::Value;
use semel_flow::model::{Act, Kind};
use semel_ledger::Millis;
use semel_ledger::json::Canonical;
use semel_store::kv::{KvKey, KvOp, KvValue};

use crate::decide::KEPT_SECRET;

/// What is asked of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which key.
    pub key: KvKey,
    /// What is to happen.
    pub what: What,
}

/// What is to happen to the value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It is read.
    Get,
    /// It is put there, or with `None` taken away, whatever is there.
    Put {
        /// What.
        to: Option<KvValue>,
        /// For how long.
        ttl: Option<Millis>,
    },
    /// What happens depends on what is there.
    Operate(KvOp),
}

/// Reads the rendered input of a `kv` step.
///
/// # Errors
/// What is wrong with it, for people.
pub fn asked(act: &Act, input: &Value) -> Result<Asked, String> {
    let form = act.kv_form().map(|(form, _)| form).unwrap_or_default();
    let key = input.get(form).and_then(Value::as_text).unwrap_or_default();
    let key = key.parse().map_err(|error| format!("kv.{form}: {error}"))?;
    let key = KvKey::new(key).map_err(|error| format!("kv.{form}: {error}"))?;
    let ttl = input.get("ttl").and_then(Value::as_text);
    let ttl = ttl.and_then(|ttl| ttl.parse().ok());
    let to = || value(input, "to");
    let what = match form {
        "get" => What::Get,
        "set" => What::Put { to: to()?, ttl },
        "delete" => What::Put {
            to: None,
            ttl: None,
        },
        "set_if_absent" => What::Operate(KvOp::SetIfAbsent { to: to()?, ttl }),
        "swap" => What::Operate(KvOp::Swap {
            from: value(input, "from")?,
            to: to()?,
            ttl,
        }),
        _ => What::Operate(KvOp::Add {
            by: number(input.get("by"))?,
            ttl,
        }),
    };
    Ok(Asked { key, what })
}

fn value(input: &Value, name: &str) -> Result<Option<KvValue>, String> {
    let Some(value) = input.get(name) else {
        return Ok(None);
    };
    if value.hides_secret() {
        return Err(format!("kv.{name}: {KEPT_SECRET}"));
    }
    let json = value.to_canonical();
    let json = json.map_err(|error| format!("kv.{name}: {error}"))?;
    KvValue::new(json).map_err(|error| format!("kv.{name}: {error}"))
}

fn number(by: Option<&Value>) -> Result<Canonical, String> {
    let by = by.unwrap_or(&Value::Int(1));
    match by {
        Value::Int(_) | Value::Decimal(_) => {
            let json = by.to_canonical();
            json.map_err(|error| format!("kv.by: {error}"))
        }
        other => Err(format!("kv.by: a number is due here, not {}", other.kind())),
    }
}

/// A value as expressions see it.
#[must_use]
pub fn seen(value: Option<&KvValue>) -> Value {
    value.map_or(Value::Null, |value| Value::of(value.canonical()))
}

/// The part of the answer that is the result, if what happens depends on what is there: then the ledger keeps the
/// answer whole.
#[must_use]
pub fn main_name(act: &Act) -> Option<&'static str> {
    match act.kv_form().filter(|_| act.kind == Kind::Kv)? {
        ("add", _) => Some("value"),
        ("set_if_absent" | "swap", _) => Some("changed"),
        _ => None,
    }
}

/// What later steps see if the file says nothing else.
#[must_use]
pub fn result(act: &Act, names: &Value) -> Value {
    let name = match act.kv_form() {
        Some(("get", _)) => Some("value"),
        _ => main_name(act),
    };
    let value = name.and_then(|name| names.get(name));
    value.cloned().unwrap_or(Value::Null)
}

/// Whether something was changed by what came of it: if not, there is nothing to take back.
#[must_use]
pub fn changed(names: &Value) -> bool {
    names.get("changed") != Some(&Value::Bool(false))
}
