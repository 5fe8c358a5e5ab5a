//! Exact canonical JSON.
//!
//! Owns a strict reader that turns any spelling of a JSON value into one: members ordered as in
//! RFC 8785, no spaces, shortest escapes, and numbers kept to the last digit (`1`, `1.0` and
//! `10e-1` are one value; 2^53 and 2^53+1 are two). What cannot be exact or is not the same for
//! every reader (a member twice, half a surrogate pair, U+0000, 1e400) is refused with its offset.
//! Does not build a tree: the canonical text is the value.

mod differ;
mod number;
mod reader;
mod sum;

pub use differ::differences;
pub use reader::{Fault, MAX_DEPTH};
pub use sum::sum;

/// A JSON value in its one canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Canonical(Box<str>);

impl Canonical {
    /// Reads one JSON value. A leading byte order mark is passed over.
    ///
    /// # Errors
    /// [`JsonError`] with the offset of the first byte that is wrong.
    pub fn read(bytes: &[u8]) -> Result<Canonical, JsonError> {
        reader::read(bytes).map(|text| Canonical(text.into()))
    }

    /// The text as an earlier [`Canonical::read`] gave it, taken back from a store.
    #[must_use]
    pub fn trusted(text: Box<str>) -> Canonical {
        Canonical(text)
    }

    /// The canonical text, given away.
    #[must_use]
    pub fn into_text(self) -> Box<str> {
        self.0
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where and why bytes are not acceptable JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at byte {offset}")]
pub struct JsonError {
    /// Offset of the first wrong byte, from 0.
    pub offset: usize,
    /// What is wrong there.
    pub fault: Fault,
}

#[cfg(test)]
mod tests;
