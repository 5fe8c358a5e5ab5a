//! Short names for long things: what an input was, and what an outcome was.
//!
//! Both are hashes over exact canonical JSON, so spelling does not matter and values do.

use crate::json::Canonical;

/// What a claim's input was. Two claims under one key with different fingerprints conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Of a whole input.
    #[must_use]
    pub fn of(input: &Canonical) -> Fingerprint {
        Fingerprint(*blake3::hash(input.as_str().as_bytes()).as_bytes())
    }
}

/// What a settlement or decision said, so that the same words again are recognised as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// Of what the holder of a grant says.
    #[must_use]
    pub fn of_settlement<'a>(fields: impl IntoIterator<Item = Option<&'a str>>) -> Digest {
        Digest::of(0, fields)
    }

    /// Of what a person says: never the same as a settlement in the same words.
    #[must_use]
    pub fn of_decision<'a>(fields: impl IntoIterator<Item = Option<&'a str>>) -> Digest {
        Digest::of(1, fields)
    }

    /// Each field is told apart from its neighbour and from nothing.
    fn of<'a>(kind: u8, fields: impl IntoIterator<Item = Option<&'a str>>) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[kind]);
        for field in fields {
            // A length no text can have stands for "not given".
            let length = field.map_or(u64::MAX, |text| text.len() as u64);
            hasher.update(&length.to_le_bytes());
            hasher.update(field.unwrap_or_default().as_bytes());
        }
        let mut digest = [0; 16];
        digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Digest(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart() {
        let digests = [
            Digest::of_settlement([Some("a"), Some("b")]),
            Digest::of_settlement([Some("ab"), Some("")]),
            Digest::of_settlement([Some("ab"), None]),
            Digest::of_settlement([None, Some("ab")]),
            Digest::of_decision([Some("ab"), None]),
        ];
        for (i, a) in digests.iter().enumerate() {
            assert!(digests[i + 1..].iter().all(|b| a != b));
        }
    }
}
