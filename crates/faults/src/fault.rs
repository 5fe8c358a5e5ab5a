//! Owns the plan of the faults of one disk, and the counting of operations
//! that tells when a fault is due.
//!
//! Does not own what happens then: `disk.rs` carries the verdict out.
//!
//! Invariant: every attempted operation is counted once, also the failed
//! ones, and meets at most one fault: the one that was injected first.

use rusqlite::ffi;
use std::ffi::c_int;

/// The operations among which the one that fails is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Writes to any recorded file.
    Writes,
    /// Syncs of any recorded file.
    Syncs,
    /// Writes and syncs, in one count.
    WritesAndSyncs,
    /// Truncations of any recorded file.
    Truncates,
}

/// On which side of the operation the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The operation is not performed.
    Before,
    /// The operation is performed, but its caller never learns of it.
    After,
}

/// How long an I/O error lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// Only that operation fails.
    Once,
    /// That operation and all that follow fail, until [`crate::Disk::clear`].
    FromThenOn,
}

/// A fault planned for the n-th operation of a class, the first being 1,
/// counted from the registration of the disk.
///
/// If the n-th operation is already past when the fault is injected, the next
/// one of the class takes its place: a planned fault never misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    on: On,
    nth: u64,
    effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Kill(Moment),
    IoError(Lasting),
    Full,
}

impl Fault {
    /// The process dies by SIGKILL at the n-th operation.
    #[must_use]
    pub fn kill(on: On, nth: u64, moment: Moment) -> Self {
        let effect = Effect::Kill(moment);
        Self { on, nth, effect }
    }

    /// The n-th operation is not performed, and fails with the I/O error of
    /// its kind: `SQLITE_IOERR_WRITE`, `_FSYNC` or `_TRUNCATE`.
    #[must_use]
    pub fn io_error(on: On, nth: u64, lasting: Lasting) -> Self {
        let effect = Effect::IoError(lasting);
        Self { on, nth, effect }
    }

    /// The n-th write and all that follow fail with `SQLITE_FULL`, until
    /// [`crate::Disk::clear`].
    #[must_use]
    pub fn full(nth: u64) -> Self {
        Self {
            on: On::Writes,
            nth,
            effect: Effect::Full,
        }
    }
}

/// How many operations were attempted on recorded files since registration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Writes.
    pub writes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Truncations.
    pub truncates: u64,
}

impl Counts {
    fn of(self, on: On) -> u64 {
        match on {
            On::Writes => self.writes,
            On::Syncs => self.syncs,
            On::WritesAndSyncs => self.writes + self.syncs,
            On::Truncates => self.truncates,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Write,
    Sync,
    Truncate,
}

impl Kind {
    fn is_of(self, on: On) -> bool {
        match self {
            Self::Write => matches!(on, On::Writes | On::WritesAndSyncs),
            Self::Sync => matches!(on, On::Syncs | On::WritesAndSyncs),
            Self::Truncate => on == On::Truncates,
        }
    }

    fn io_error(self) -> c_int {
        match self {
            Self::Write => ffi::SQLITE_IOERR_WRITE,
            Self::Sync => ffi::SQLITE_IOERR_FSYNC,
            Self::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
        }
    }
}

/// What is to become of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Proceed,
    Fail(c_int),
    Kill(Moment),
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pending: Vec<Fault>,
    counts: Counts,
    fired: u64,
}

impl Plan {
    pub(crate) fn inject(&mut self, fault: Fault) {
        self.pending.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.pending.clear();
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn fired(&self) -> u64 {
        self.fired
    }

    /// Counts an operation that is about to start, and judges it.
    pub(crate) fn judge(&mut self, kind: Kind) -> Verdict {
        match kind {
            Kind::Write => self.counts.writes += 1,
            Kind::Sync => self.counts.syncs += 1,
            Kind::Truncate => self.counts.truncates += 1,
        }
        let counts = self.counts;
        let is_due = |fault: &Fault| kind.is_of(fault.on) && counts.of(fault.on) >= fault.nth;
        let Some(index) = self.pending.iter().position(is_due) else {
            return Verdict::Proceed;
        };
        self.fired += 1;
        match self.pending[index].effect {
            Effect::Kill(moment) => Verdict::Kill(moment),
            Effect::IoError(Lasting::FromThenOn) => Verdict::Fail(kind.io_error()),
            Effect::IoError(Lasting::Once) => {
                self.pending.remove(index);
                Verdict::Fail(kind.io_error())
            }
            Effect::Full => Verdict::Fail(ffi::SQLITE_FULL),
        }
    }
}
