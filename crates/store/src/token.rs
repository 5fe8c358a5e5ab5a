//! API tokens: only their hashes are kept.

use semel_ledger::Time;

use crate::access::Scopes;

/// A token as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is called in lists and when it is revoked: `tok_…`.
    pub id: String,
    /// What its maker called it.
    pub name: String,
    /// BLAKE3 of the clear text.
    pub hash: [u8; 32],
    /// What whoever has it may do.
    pub scopes: Scopes,
    /// When it was made.
    pub created_at: Time,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Time>,
}

/// What can happen to tokens.
#[derive(Clone, Debug)]
pub enum TokenChange {
    /// A new one. Changes nothing if the id is taken.
    Add(Token),
    /// It is no longer accepted. Changes nothing if it is not there or was revoked before.
    Revoke {
        /// Which.
        id: String,
    },
}
