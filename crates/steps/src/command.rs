//! Commands, as `exec` and `ssh` have them: their fields, and what their end says about the effect.
//!
//! Owns what both kinds share. A command is a list, a program and its arguments; no shell reads it.
//! Secrets may stand in its input and its environment, never in its arguments: everybody on a
//! machine can read those.

mod answer;
#[cfg(test)]
#[path = "../tests/shared/corpus.rs"]
#[allow(dead_code, reason = "databases have theirs in the same place")]
pub(crate) mod corpus;
mod fields;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use answer::{Told, ended, failed, unseen};
pub(crate) use fields::{FieldError, Read, Reader};
