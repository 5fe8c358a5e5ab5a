//! What may be kept, and under which names.

use semel_ledger::Key;
use semel_ledger::json::Canonical;

/// The most bytes of a value, as canonical JSON.
pub const MAX_VALUE_BYTES: usize = 64 * 1024;
/// The most bytes of a key's text.
pub const MAX_KEY_BYTES: usize = 1024;

/// Why something cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KvLimit {
    /// Over [`MAX_KEY_BYTES`].
    #[error("the key has {bytes} bytes; the limit is {MAX_KEY_BYTES}: hash long values first")]
    Key {
        /// How many it has.
        bytes: usize,
    },
    /// Over [`MAX_VALUE_BYTES`].
    #[error(
        "the value has {bytes} bytes of JSON; the limit is {MAX_VALUE_BYTES}: keep large things elsewhere, and their name here"
    )]
    Value {
        /// How many it has.
        bytes: usize,
    },
}

/// The name of a value: parts, as a key's, but short enough to be sorted by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KvKey(Key);

impl KvKey {
    /// Takes a key.
    ///
    /// # Errors
    /// [`KvLimit::Key`] if it is too long.
    pub fn new(key: Key) -> Result<KvKey, KvLimit> {
        let bytes = key.as_str().len();
        if bytes > MAX_KEY_BYTES {
            return Err(KvLimit::Key { bytes });
        }
        Ok(KvKey(key))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Its parts.
    pub fn parts(&self) -> impl Iterator<Item = String> {
        self.0.parts()
    }
}

/// Any JSON but `null`, exactly, and not too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvValue(Canonical);

impl KvValue {
    /// Takes a value; `null` is none.
    ///
    /// # Errors
    /// [`KvLimit::Value`] if it is too long.
    pub fn new(value: Canonical) -> Result<Option<KvValue>, KvLimit> {
        let bytes = value.as_str().len();
        if bytes > MAX_VALUE_BYTES {
            return Err(KvLimit::Value { bytes });
        }
        Ok((value.as_str() != "null").then_some(KvValue(value)))
    }

    pub(super) fn trusted(value: Canonical) -> KvValue {
        KvValue(value)
    }

    /// The JSON.
    #[must_use]
    pub fn canonical(&self) -> &Canonical {
        &self.0
    }

    /// The JSON's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}
