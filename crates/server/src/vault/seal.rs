//! Sealing one value: XChaCha20-Poly1305 with the secret's name as associated data.
//!
//! What is sealed is a fresh nonce of 24 bytes, then the ciphertext with its tag. The invariant: it
//! opens only under the key and the name that it was sealed with, whole and unchanged.

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use semel_store::blob::{hex, unhex};
use semel_store::store::random_bytes;

const NONCE_BYTES: usize = 24;
/// Stands before the name, so that what was sealed is good for nothing else.
const LEAD: &str = "semel secret 1\n";
/// What the name of a key is derived for.
const NAMING: &str = "semel 2026 name of a key that secrets are sealed with";

/// What seals and opens.
#[derive(Clone)]
pub(crate) struct Key {
    bytes: [u8; 32],
}

impl std::fmt::Debug for Key {
    /// By its name only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", hex(&self.id()))
    }
}

impl Key {
    /// A new one.
    pub(crate) fn made() -> Key {
        Key {
            bytes: random_bytes(),
        }
    }

    /// The key that 64 hexadecimal digits stand for.
    pub(crate) fn read(text: &str) -> Option<Key> {
        let bytes = unhex(&text.to_ascii_lowercase())?;
        Some(Key { bytes })
    }

    /// As [`Key::read`] takes it.
    pub(crate) fn text(&self) -> String {
        hex(&self.bytes)
    }

    /// What it is called beside what it sealed; tells nothing about the key itself.
    pub(crate) fn id(&self) -> [u8; 8] {
        let mut id = [0; 8];
        id.copy_from_slice(&blake3::derive_key(NAMING, &self.bytes)[..8]);
        id
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.bytes.into())
    }

    /// Seals a value; `None` only if it is longer than memory is.
    pub(crate) fn seal(&self, name: &str, value: &str) -> Option<Vec<u8>> {
        let nonce: [u8; NONCE_BYTES] = random_bytes();
        let (msg, aad) = (value.as_bytes(), &associated(name)[..]);
        let sealed = self
            .cipher()
            .encrypt(&XNonce::from(nonce), Payload { msg, aad });
        Some([&nonce[..], &sealed.ok()?].concat())
    }

    /// The value, if it was sealed with this key under this name and is unchanged.
    pub(crate) fn open(&self, name: &str, sealed: &[u8]) -> Option<String> {
        let (nonce, msg) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let aad = &associated(name)[..];
        let opened = self
            .cipher()
            .decrypt(&XNonce::from(*nonce), Payload { msg, aad });
        String::from_utf8(opened.ok()?).ok()
    }
}

fn associated(name: &str) -> Vec<u8> {
    [LEAD, name].concat().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens() {
        let key = Key::made();
        for value in ["x", "a longer one, with ö", &"k".repeat(16 * 1024)] {
            let sealed = key.seal("A", value).unwrap();
            assert_eq!(key.open("A", &sealed).as_deref(), Some(value));
            let bytes = value.as_bytes();
            let shows = sealed.windows(bytes.len().max(4)).any(|it| it == bytes);
            assert!(!shows, "it can be read without the key");
            assert_ne!(
                key.seal("A", value).unwrap(),
                sealed,
                "a nonce is used twice"
            );
        }
    }

    #[test]
    fn nothing_else_opens() {
        let (key, other) = (Key::made(), Key::made());
        let sealed = key.seal("A", "a value").unwrap();
        assert_eq!(other.open("A", &sealed), None, "another key");
        assert_eq!(key.open("B", &sealed), None, "another name");
        for end in 0..sealed.len() {
            assert_eq!(key.open("A", &sealed[..end]), None, "cut at {end}");
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(key.open("A", &changed), None, "changed at {at}");
        }
        assert_eq!(key.open("A", &[&sealed[..], b"x"].concat()), None, "longer");
    }

    /// A value that an earlier version sealed, so that a change of the format is noticed.
    #[test]
    fn what_an_earlier_version_sealed_opens() {
        let key = Key::read(&"0b".repeat(32)).unwrap();
        assert_eq!(hex(&key.id()), FIXED_ID);
        let sealed: [u8; 45] = unhex(FIXED).unwrap();
        assert_eq!(key.open("OLD", &sealed).as_deref(), Some("value"));
    }

    const FIXED_ID: &str = "98e221bff8df6a29";
    const FIXED: &str = "cf75bb2f613d24f8d62f47704cc4d99cf56ce8f230a1ce2f52bd2c2b183642a823f084a9f022e123cf5dbd7995";

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key = Key::made();
        let again = Key::read(&key.text().to_uppercase()).unwrap();
        assert_eq!(again.id(), key.id());
        for wrong in ["", "ab", &"g".repeat(64), &"a".repeat(65)] {
            assert!(Key::read(wrong).is_none(), "{wrong}");
        }
        assert!(!format!("{key:?}").contains(&key.text()[..16]));
    }
}
