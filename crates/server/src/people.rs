//! People: accounts, logging in, sessions, and the links with which a password is chosen.
//!
//! Owns passwords (hashed with Argon2id, never kept or logged), what a browser holds (a random secret, kept as a hash),
//! and how often somebody may try. Leaves to the store that a session begins only with the password of now and ends
//! with it, and to the gate (`crate::router`) what a person may do.
//!
//! The invariants: nothing can be learnt from a refusal about which names there are, neither by its text nor by its
//! time; whatever a browser sends by itself is not enough to change anything.

pub(crate) mod api;
pub(crate) mod cookie;
pub(crate) mod invite;
pub(crate) mod limit;
pub(crate) mod login;
pub(crate) mod name;
pub(crate) mod pages;
pub(crate) mod password;
pub(crate) mod session;
pub(crate) mod setup;

use limit::Attempts;
use password::Hashers;

pub use invite::{SetupLink, setup_link};

/// What all logins share.
#[derive(Debug, Default)]
pub(crate) struct Logins {
    pub(crate) hashers: Hashers,
    pub(crate) attempts: Attempts,
}
