//! Puts the values of secrets in, at the last moment.

use std::sync::Arc;

use semel_act::{SecretSet, Secrets};
use semel_flow::Value;
use semel_flow::value::{Map, Piece};

use super::Redactor;

/// There is no secret of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no secret {name}; set it with: semel secrets set {name}")]
pub(crate) struct MissingSecret {
    name: Arc<str>,
}

/// Puts secrets in, all of one set.
pub(crate) struct Filler {
    secrets: SecretSet,
}

impl Filler {
    /// With the secrets as they are at this moment.
    pub(crate) fn new(secrets: &dyn Secrets) -> Filler {
        Filler {
            secrets: secrets.now(),
        }
    }

    /// What must not come back.
    pub(crate) fn redactor(&self) -> Redactor {
        self.secrets.redactor().clone()
    }

    /// The text that pieces stand for.
    pub(crate) fn text(&self, pieces: &[Piece]) -> Result<String, MissingSecret> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Plain(plain) => text.push_str(plain),
                Piece::Secret(name) => {
                    let value = self.secrets.get(name).ok_or_else(|| MissingSecret {
                        name: Arc::clone(name),
                    })?;
                    text.push_str(value);
                }
            }
        }
        Ok(text)
    }

    /// The value with every secret in it put in.
    pub(crate) fn value(&self, value: &Value) -> Result<Value, MissingSecret> {
        Ok(match value {
            Value::Sealed(pieces) => Value::Text(self.text(pieces)?.into()),
            Value::List(items) => {
                let filled = items.iter().map(|item| self.value(item));
                Value::list(filled.collect::<Result<_, _>>()?)
            }
            Value::Map(members) => {
                let filled = members
                    .iter()
                    .map(|(name, value)| Ok((Arc::clone(name), self.value(value)?)));
                Value::Map(Arc::new(filled.collect::<Result<Map, MissingSecret>>()?))
            }
            plain => plain.clone(),
        })
    }
}

/// Whether there is a secret anywhere in it.
pub(crate) fn is_sealed(value: &Value) -> bool {
    match value {
        Value::Sealed(_) => true,
        Value::List(items) => items.iter().any(is_sealed),
        Value::Map(members) => members.values().any(is_sealed),
        _ => false,
    }
}
