//! Secrets: where they come from, where they are put in, and how they are kept from coming back.
//!
//! A task names its secrets; their values are put in when bytes are made ([`fill`]) and taken out
//! of everything that comes back ([`redact`]).

mod env;
mod fill;
mod redact;

pub use env::{EnvSecrets, SecretsError};
pub(crate) use fill::{Filler, MissingSecret, is_sealed};
pub(crate) use redact::Redactor;
