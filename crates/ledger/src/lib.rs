//! The pure heart of Semel: claim → act → settle as data and functions.
//!
//! Owns keys ([`key`]), exact canonical JSON ([`json`]), fingerprints ([`fingerprint`]), time as
//! a value ([`time`]) and the machine every effect lives in ([`effect`]).
//! Knows nothing of clocks, threads, files, SQL or HTTP: the caller brings the time, the
//! randomness and the stored entry, and writes down what the machine answers.
//!
//! The invariant of the crate: the same `(entry, command, now)` always gives the same answer, so
//! every store, simulator and picture agrees about what happened.

pub mod effect;
pub mod fingerprint;
pub mod json;
pub mod key;
pub mod time;

pub use effect::{
    After, Cause, Claim, Command, Decision, Entry, Fence, OnUnknown, Outcome, Owner, Process,
    Request, State, Step, Transition, Verdict, apply,
};
pub use fingerprint::{Digest, Fingerprint};
pub use key::{EffectId, Key, KeyError, Scope};
pub use time::{Millis, Time};
