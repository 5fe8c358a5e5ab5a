//! Secrets as the store knows them: sealed. What opens them is kept elsewhere.

use semel_ledger::Time;

/// A sealed secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    /// What flows call it.
    pub name: Box<str>,
    /// Which key it was sealed with; tells nothing about the key itself.
    pub key: [u8; 8],
    /// What was sealed, as whoever sealed it wrote it.
    pub bytes: Vec<u8>,
    /// When its value was last set.
    pub changed_at: Time,
    /// Who set it.
    pub by: Option<Box<str>>,
}

impl std::fmt::Debug for Sealed {
    /// Without what was sealed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealed")
            .field("name", &self.name)
            .field("key", &self.key)
            .field("bytes", &self.bytes.len())
            .field("changed_at", &self.changed_at)
            .field("by", &self.by)
            .finish()
    }
}

/// What can happen to secrets. Each that changes anything raises their revision.
#[derive(Clone, Debug)]
pub enum SecretChange {
    /// A new value, whatever was there before; or only the first.
    Set {
        /// Which.
        name: Box<str>,
        /// Which key it is sealed with.
        key: [u8; 8],
        /// What is sealed.
        bytes: Vec<u8>,
        /// Who sets it.
        by: Option<Box<str>>,
        /// Changes nothing if there is one.
        first: bool,
    },
    /// It is gone. Changes nothing if it is not there.
    Remove {
        /// Which.
        name: Box<str>,
    },
    /// The same value under another key. Changes nothing if something else is there by now.
    Reseal {
        /// Which.
        name: Box<str>,
        /// What must be there.
        was: Vec<u8>,
        /// Which key it is sealed with from now on.
        key: [u8; 8],
        /// What is there from now on.
        becomes: Vec<u8>,
    },
}
