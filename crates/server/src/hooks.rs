//! The front door: requests from outside that start runs.
//!
//! Owns who the known senders are (`senders`), how each proves that it is the one (`verify`) and
//! how what they send becomes an event (`intake`). The order is always the same: the raw bytes are
//! verified before anything in them is unpacked, parsed or believed.

pub(crate) mod intake;
pub(crate) mod senders;
pub(crate) mod verify;
