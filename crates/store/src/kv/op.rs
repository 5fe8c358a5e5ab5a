//! What can happen to the value of a key, by what is there.

use semel_ledger::json::{Canonical, sum};
use semel_ledger::{Millis, Time};

use super::{KvEntry, KvKey, KvLimit, KvValue, shown};

/// What is to happen to the value of a key. `None` in place of a value stands for its absence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvOp {
    /// Put it there, whatever was there before.
    Set {
        /// What.
        to: Option<KvValue>,
        /// For how long; `None`: until it is changed.
        ttl: Option<Millis>,
    },
    /// Put it there if nothing is.
    SetIfAbsent {
        /// What.
        to: Option<KvValue>,
        /// For how long; `None`: until it is changed.
        ttl: Option<Millis>,
    },
    /// Put it there if exactly that is there now.
    Swap {
        /// What must be there.
        from: Option<KvValue>,
        /// What is put there.
        to: Option<KvValue>,
        /// For how long; `None`: until it is changed.
        ttl: Option<Millis>,
    },
    /// Add to the number that is there; where nothing is, to 0.
    Add {
        /// How much.
        by: Canonical,
        /// For how long the number is kept that was 0 before; one that is there ends when it would
        /// have ended.
        ttl: Option<Millis>,
    },
}

/// What an operation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvResult {
    /// What is there now.
    pub value: Option<KvValue>,
    /// What was there before.
    pub before: Option<KvValue>,
    /// Whether it was written.
    pub changed: bool,
}

impl KvResult {
    /// As JSON, with the names that expressions over the answer use.
    #[must_use]
    pub fn to_json(&self) -> Box<str> {
        let (value, before) = (shown(self.value.as_ref()), shown(self.before.as_ref()));
        let changed = self.changed;
        format!(r#"{{"before":{before},"changed":{changed},"value":{value}}}"#).into()
    }
}

/// Why an operation cannot be applied to what is there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KvFault {
    /// Only numbers can be added to.
    #[error("under `{key}` is {found}, and `add` needs a number there")]
    NoNumber {
        /// Which key.
        key: Box<str>,
        /// What kind of value is there.
        found: &'static str,
    },
    /// The sum is no number that every reader can hold.
    #[error("the sum under `{key}` would be over 1e308")]
    TooLarge {
        /// Which key.
        key: Box<str>,
    },
    /// The sum has too many digits.
    #[error(transparent)]
    Limit(#[from] KvLimit),
}

pub(super) struct Applied {
    pub(super) result: KvResult,
    pub(super) expires_at: Option<Time>,
}

impl KvOp {
    /// Applies it to what is there, which has not expired.
    pub(super) fn apply(
        self,
        key: &KvKey,
        entry: Option<&KvEntry>,
        now: Time,
    ) -> Result<Applied, KvFault> {
        let before = entry.map(|entry| entry.value.clone());
        let (value, ttl, changed) = match self {
            KvOp::Set { to: None, .. } => (None, None, before.is_some()),
            KvOp::Set { to, ttl } => (to, ttl, true),
            KvOp::SetIfAbsent { to, ttl } if before.is_none() => {
                let changed = to.is_some();
                (to, ttl, changed)
            }
            KvOp::Swap { from, to, ttl } if before == from => (to, ttl, true),
            KvOp::SetIfAbsent { .. } | KvOp::Swap { .. } => (before.clone(), None, false),
            KvOp::Add { by, ttl } => {
                let expires_at = match entry {
                    Some(entry) => entry.expires_at,
                    None => ttl.map(|ttl| now.after(ttl)),
                };
                let value = added(key, before.as_ref(), &by)?;
                return Ok(Applied {
                    result: KvResult {
                        value,
                        before,
                        changed: true,
                    },
                    expires_at,
                });
            }
        };
        Ok(Applied {
            result: KvResult {
                value,
                before,
                changed,
            },
            expires_at: ttl.map(|ttl| now.after(ttl)),
        })
    }
}

fn added(
    key: &KvKey,
    before: Option<&KvValue>,
    by: &Canonical,
) -> Result<Option<KvValue>, KvFault> {
    let zero = Canonical::trusted("0".into());
    let number = before.map_or(&zero, KvValue::canonical);
    let found = kind(number.as_str());
    if let Some(found) = found {
        let key = key.as_str().into();
        return Err(KvFault::NoNumber { key, found });
    }
    let Some(sum) = sum(number, by) else {
        let key = key.as_str().into();
        return Err(KvFault::TooLarge { key });
    };
    Ok(KvValue::new(sum)?)
}

/// What kind of value it is, if it is no number.
fn kind(json: &str) -> Option<&'static str> {
    match json.as_bytes().first() {
        Some(b'"') => Some("text"),
        Some(b'[') => Some("a list"),
        Some(b'{') => Some("an object"),
        Some(b't' | b'f') => Some("a bool"),
        _ => None,
    }
}
