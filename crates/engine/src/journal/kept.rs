//! Values as the journal keeps them.

use semel_flow::Value;
use semel_store::blob::{BlobRef, INLINE_BYTES};
use serde::{Deserialize, Serialize};

use super::text;

/// A value as the journal keeps it: in the row, or a long one as the name of its blob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// In the row.
    Is(#[serde(with = "text::value")] Value),
    /// In the blob store.
    Blob(#[serde(with = "text::blob")] BlobRef),
    /// On its way into the blob store: written as the name of its blob, and still at hand.
    #[serde(rename = "blob", serialize_with = "text::blob_of", skip_deserializing)]
    Long(Box<(BlobRef, Value)>),
}

impl Kept {
    /// Keeps a value, giving a long one's text to `contents`.
    #[must_use]
    pub fn new(value: Value, contents: &mut Vec<Vec<u8>>) -> Kept {
        if text::at_most(&value, INLINE_BYTES) {
            return Kept::Is(value);
        }
        Kept::Long(Box::new((put(&value, contents), value)))
    }

    /// Keeps a value as a blob, however short: for what is not needed whenever the journal is read.
    #[must_use]
    pub fn apart(value: &Value, contents: &mut Vec<Vec<u8>>) -> Kept {
        Kept::Blob(put(value, contents))
    }

    /// The value. What is in the blob store is put in before a journal is folded; see
    /// [`crate::load`].
    #[must_use]
    pub fn value(&self) -> Value {
        match self {
            Kept::Is(value) => value.clone(),
            Kept::Long(long) => long.1.clone(),
            Kept::Blob(_) => Value::Null,
        }
    }
}

fn put(value: &Value, contents: &mut Vec<Vec<u8>>) -> BlobRef {
    let text = value.to_json();
    let blob = BlobRef::of(text.as_bytes());
    contents.push(text.into_bytes());
    blob
}
