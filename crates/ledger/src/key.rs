//! What an effect is called: a scope (which action) and a key (which thing).
//!
//! Owns the rules for names, the text form and the 128-bit id that stores index by.
//! The invariant: two different lists of parts never share a text form or an id. The text form
//! joins the parts with `/` and escapes only `%` and `/`, so it stays readable and can be typed;
//! every other escape is refused, so no key has two spellings.

use std::fmt;
use std::str::FromStr;

/// The most bytes that a scope or one part of a key may have.
pub const MAX_NAME_BYTES: usize = 255;
/// The most parts that a key may have.
pub const MAX_PARTS: usize = 16;

/// Why a scope or key is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Nothing but spaces, or nothing at all.
    #[error("{what} is empty or blank; give the name of {meaning}")]
    Blank {
        /// Which name: `scope`, `key`, or `key part N`.
        what: String,
        /// What the name stands for.
        meaning: &'static str,
    },
    /// Over [`MAX_NAME_BYTES`].
    #[error("{what} has {bytes} bytes; the limit is {MAX_NAME_BYTES}: hash long values first")]
    TooLong {
        /// Which name.
        what: String,
        /// How long it is.
        bytes: usize,
    },
    /// A control character, such as a line break.
    #[error("{what} has the control character U+{code:04X} at byte {at}; remove it")]
    Control {
        /// Which name.
        what: String,
        /// The character.
        code: u32,
        /// Where it stands.
        at: usize,
    },
    /// Over [`MAX_PARTS`].
    #[error("key has {count} parts; the limit is {MAX_PARTS}")]
    TooManyParts {
        /// How many there are.
        count: usize,
    },
    /// A `%` that is neither `%25` nor `%2F`.
    #[error("key has a bare `%` at byte {at}; write `%25` for %, `%2F` for a / inside a part")]
    BareEscape {
        /// Where it stands.
        at: usize,
    },
}

fn check_name(
    what: impl Fn() -> String,
    meaning: &'static str,
    name: &str,
) -> Result<(), KeyError> {
    if name.trim().is_empty() {
        return Err(KeyError::Blank {
            what: what(),
            meaning,
        });
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(KeyError::TooLong {
            what: what(),
            bytes: name.len(),
        });
    }
    match name.char_indices().find(|(_, c)| c.is_control()) {
        Some((at, c)) => Err(KeyError::Control {
            what: what(),
            code: c.into(),
            at,
        }),
        None => Ok(()),
    }
}

/// Which action: `order-paid/welcome-email`. Plain text; a `/` in it has no meaning of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(Box<str>);

impl Scope {
    /// Checks the name.
    ///
    /// # Errors
    /// [`KeyError`] if it is blank, too long or has control characters.
    pub fn new(name: &str) -> Result<Scope, KeyError> {
        check_name(
            || "scope".to_owned(),
            "the action, such as welcome-email",
            name,
        )?;
        Ok(Scope(name.into()))
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which thing: a list of parts, such as `["order", "10492"]`, written `order/10492`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

impl Key {
    /// Makes a key of raw parts; nothing in them needs escaping.
    ///
    /// # Errors
    /// [`KeyError`] that names the first part that is wrong.
    pub fn from_parts<S: AsRef<str>>(parts: &[S]) -> Result<Key, KeyError> {
        if parts.len() > MAX_PARTS {
            return Err(KeyError::TooManyParts { count: parts.len() });
        }
        let mut text = String::with_capacity(parts.iter().map(|p| p.as_ref().len() + 1).sum());
        for (index, part) in parts.iter().enumerate() {
            let part = part.as_ref();
            let what = || {
                if parts.len() == 1 {
                    "key".to_owned()
                } else {
                    format!("key part {}", index + 1)
                }
            };
            check_name(what, "the thing, such as order-10492", part)?;
            if index > 0 {
                text.push('/');
            }
            escape_into(&mut text, part);
        }
        if text.is_empty() {
            return Err(KeyError::Blank {
                what: "key".to_owned(),
                meaning: "the thing, such as order-10492",
            });
        }
        Ok(Key(text.into()))
    }

    /// The text form: parts joined with `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parts, unescaped.
    pub fn parts(&self) -> impl Iterator<Item = String> {
        self.0
            .split('/')
            .map(|part| part.replace("%2F", "/").replace("%25", "%"))
    }
}

fn escape_into(text: &mut String, part: &str) {
    for c in part.chars() {
        match c {
            '%' => text.push_str("%25"),
            '/' => text.push_str("%2F"),
            c => text.push(c),
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads the text form.
    fn from_str(text: &str) -> Result<Key, KeyError> {
        for (at, _) in text.match_indices('%') {
            if !text[at..].starts_with("%25") && !text[at..].starts_with("%2F") {
                return Err(KeyError::BareEscape { at });
            }
        }
        let parts: Vec<String> = Key(text.into()).parts().collect();
        Key::from_parts(&parts)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The full name of one intended change to the world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId {
    /// Which action.
    pub scope: Scope,
    /// Which thing.
    pub key: Key,
    hash: [u8; 16],
}

impl EffectId {
    /// Names an effect.
    #[must_use]
    pub fn new(scope: Scope, key: Key) -> EffectId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(scope.0.len() as u64).to_le_bytes());
        hasher.update(scope.0.as_bytes());
        hasher.update(key.0.as_bytes());
        let mut hash = [0; 16];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        EffectId { scope, key, hash }
    }

    /// The 128-bit name that stores index by: a hash of the scope's length, the scope and the key.
    /// Made once with the name, as every step of its way asks for it.
    #[must_use]
    pub fn hash(&self) -> [u8; 16] {
        self.hash
    }
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.scope, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(scope: &str, parts: &[&str]) -> EffectId {
        let scope = Scope::new(scope).expect("scope");
        EffectId::new(scope, Key::from_parts(parts).expect("key"))
    }

    #[test]
    fn parts_never_run_into_each_other() {
        let keys: [&[&str]; 6] = [
            &["a:b", "c"],
            &["a", "b:c"],
            &["a/b", "c"],
            &["a", "b/c"],
            &["a", "b", "c"],
            &["a%2Fb", "c"],
        ];
        for (i, a) in keys.iter().enumerate() {
            for b in &keys[i + 1..] {
                assert_ne!(effect("s", a).key, effect("s", b).key);
                assert_ne!(effect("s", a).hash(), effect("s", b).hash());
            }
        }
        assert_ne!(effect("sa", &["b"]).hash(), effect("s", &["ab"]).hash());
    }

    #[test]
    fn composed_and_decomposed_letters_are_different_keys() {
        assert_ne!(
            effect("s", &["\u{e9}"]).hash(),
            effect("s", &["e\u{301}"]).hash()
        );
    }

    #[test]
    fn wrong_names_are_refused_with_the_reason() {
        let long = "x".repeat(256);
        for (text, message) in [
            ("", "key is empty or blank"),
            ("   ", "key is empty or blank"),
            ("a//b", "key part 2 is empty or blank"),
            ("a\r\nb", "U+000D at byte 1"),
            ("a\u{85}", "U+0085"),
            ("100%", "bare `%` at byte 3"),
            ("a%41", "bare `%` at byte 1"),
            ("a%2fb", "bare `%` at byte 1"),
            (long.as_str(), "256 bytes; the limit is 255"),
            (
                "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
                "17 parts; the limit is 16",
            ),
        ] {
            let error = text.parse::<Key>().expect_err(text).to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
        assert!(Scope::new("\t").is_err());
        assert!(Scope::new(&"x".repeat(255)).is_ok());
    }
}
