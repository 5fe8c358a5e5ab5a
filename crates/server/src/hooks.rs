//! The front door: requests from outside that start runs.
//!
//! Owns who the known senders are (`senders`), how each proves that it is the one (`verify`, kept
//! ready in `door`), how what they send becomes an event (`intake`), and what is answered
//! (`receive`). The order is always the same: the raw bytes are verified before anything in them is
//! unpacked, parsed or believed.

pub(crate) mod door;
pub(crate) mod intake;
pub(crate) mod receive;
pub(crate) mod senders;
pub(crate) mod verify;
