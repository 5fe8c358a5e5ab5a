//! What one evaluation may cost.
//!
//! One unit for each node evaluated, each item made or compared and each 16 bytes of text made or
//! read; an evaluation that uses up [`FUEL`] ends with an error. What it makes is
//! limited apart from that, because a single value travels on into history.

use super::FUEL;
use super::fault::{Outcome, stop};

/// The longest text that an expression may make, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// The longest list or object that an expression may make.
pub const MAX_ITEMS: usize = 100_000;

/// What is left.
#[derive(Debug)]
pub(super) struct Fuel(u64);

impl Fuel {
    pub(super) fn full() -> Fuel {
        Fuel(FUEL)
    }

    /// Uses up some.
    pub(super) fn use_up(&mut self, units: usize) -> Outcome<()> {
        if let Some(left) = self.0.checked_sub(units as u64) {
            self.0 = left;
            return Ok(());
        }
        self.0 = 0;
        Err(stop(format!(
            "the expression takes more than {FUEL} steps; do less at once"
        )))
    }

    /// For reading so many bytes.
    pub(super) fn read(&mut self, bytes: usize) -> Outcome<()> {
        self.use_up(bytes / 16)
    }

    /// For making a text of so many bytes.
    pub(super) fn text(&mut self, bytes: usize) -> Outcome<()> {
        if bytes > MAX_TEXT_BYTES {
            return Err(stop(format!(
                "the text would have {bytes} bytes; the limit is {MAX_TEXT_BYTES}"
            )));
        }
        self.read(bytes)
    }

    /// For making a list or object of so many items, `new` of them now.
    pub(super) fn items(&mut self, count: usize, new: usize) -> Outcome<()> {
        if count > MAX_ITEMS {
            return Err(stop(format!(
                "the list would have {count} items; the limit is {MAX_ITEMS}"
            )));
        }
        self.use_up(new)
    }
}
