//! The flight recorder: how far each act had come when the process died.
//!
//! Owns a small preallocated file of slots, one for each act that may be under way. Before the
//! first byte of an act leaves, and again when its outcome is in hand, the act's slot is marked by one
//! plain write without a sync: the kernel keeps it when the process is killed.
//!
//! The invariants: a claim of the same boot that has no mark was never sent; one with an intact
//! second mark is known; anything else is unknown. After another boot the file is not believed.

mod memory;
mod slots;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use semel_act::Trace;
use semel_ledger::Fence;

use crate::observe::Settlement;

pub use memory::Memory;

/// The file's name in the data directory.
pub const FILE: &str = "flight";
/// Where outcomes go that are too long for a slot.
const LONG: &str = "flight.long";
/// Bytes of the header.
const HEADER: u64 = 4096;

/// What the file said of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// Bytes may have left.
    Sent,
    /// The outcome was in hand.
    Known(Settlement),
}

/// What an earlier life of a node left behind.
#[derive(Debug, Default)]
pub struct Remains {
    /// Which node, if the file is of this boot.
    pub node: Option<u64>,
    marks: HashMap<[u8; 16], Mark>,
}

impl Remains {
    /// How far the act under that claim had come; `None`: nothing was sent.
    #[must_use]
    pub fn mark(&self, fence: Fence) -> Option<&Mark> {
        self.marks.get(&fence.0)
    }

    /// Reads the file in `directory`; nothing of it is believed after another boot.
    ///
    /// # Errors
    /// What reading met; a file that is not there is no error.
    pub fn read(directory: &Path, boot: [u8; 16]) -> io::Result<Remains> {
        let bytes = match std::fs::read(directory.join(FILE)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Remains::default()),
            Err(error) => return Err(error),
        };
        let Some(node) = slots::header_node(&bytes, boot) else {
            return Ok(Remains::default());
        };
        let mut marks = HashMap::new();
        let slots = bytes
            .get(usize::try_from(HEADER).unwrap_or(0)..)
            .unwrap_or(&[]);
        for slot in slots.chunks(slots::BYTES) {
            if let Some((fence, mark)) = slots::read(slot, &directory.join(LONG)) {
                marks.insert(fence, mark);
            }
        }
        Ok(Remains {
            node: Some(node),
            marks,
        })
    }
}

/// The file of this life of a node.
#[derive(Debug)]
pub struct Flight {
    tape: Tape,
    free: Mutex<Vec<u32>>,
}

/// Where marks are written.
#[derive(Debug)]
enum Tape {
    File { file: File, long: PathBuf },
    Memory(Arc<Memory>),
}

impl Flight {
    /// Begins a new file for `node`. What an earlier life left must have been dealt with.
    ///
    /// # Errors
    /// What making it met.
    pub fn begin(directory: &Path, boot: [u8; 16], node: u64, slots: u32) -> io::Result<Flight> {
        let long = directory.join(LONG);
        match std::fs::remove_dir_all(&long) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => std::fs::create_dir(&long)?,
        }
        // A new file under a new name: until it is whole, the old one stands.
        let fresh = directory.join(format!("{FILE}.new"));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&fresh)?;
        file.set_len(HEADER + u64::from(slots) * slots::BYTES as u64)?;
        file.write_all_at(&slots::header(boot, node), 0)?;
        std::fs::rename(&fresh, directory.join(FILE))?;
        let free = Mutex::new((0..slots).rev().collect());
        let tape = Tape::File { file, long };
        Ok(Flight { tape, free })
    }

    /// Begins a new recording for `node` in memory.
    #[must_use]
    pub fn in_memory(memory: &Arc<Memory>, node: u64, slots: u32) -> Flight {
        memory.begin(node);
        Flight {
            tape: Tape::Memory(Arc::clone(memory)),
            free: Mutex::new((0..slots).rev().collect()),
        }
    }

    /// A slot for one act; `None` if all are taken.
    pub fn slot(self: &Arc<Flight>, fence: Fence) -> Option<Slot> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let number = free.pop()?;
        Some(Slot {
            flight: Arc::clone(self),
            number,
            fence,
        })
    }

    fn offset(number: u32) -> u64 {
        HEADER + u64::from(number) * slots::BYTES as u64
    }
}

/// The slot of one act. Dropped when the settlement is durable, which frees it.
#[derive(Debug)]
pub struct Slot {
    flight: Arc<Flight>,
    number: u32,
    fence: Fence,
}

impl Trace for Slot {
    fn sent(&self) {
        let file = match &self.flight.tape {
            Tape::File { file, .. } => file,
            Tape::Memory(memory) => return memory.mark(self.fence, Mark::Sent),
        };
        let mark = slots::sent(self.fence.0);
        let at = Flight::offset(self.number);
        // Without the mark a kill would look like "never sent", which could repeat the act.
        if let Err(error) = file.write_all_at(&mark, at) {
            tracing::error!(%error, "the flight recorder cannot be written; the process ends rather than act unrecorded");
            std::process::abort();
        }
    }
}

impl Slot {
    /// The outcome is in hand.
    pub fn known(&self, settlement: &Settlement) {
        let (file, long) = match &self.flight.tape {
            Tape::File { file, long } => (file, long),
            Tape::Memory(memory) => {
                return memory.mark(self.fence, Mark::Known(settlement.clone()));
            }
        };
        let at = Flight::offset(self.number);
        let written = slots::known(self.fence.0, settlement, long)
            .and_then(|mark| file.write_all_at(&mark, at));
        // Then a kill leaves it unknown, which is safe.
        if let Err(error) = written {
            tracing::warn!(%error, "an outcome was not noted in the flight recorder");
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut free = self.flight.free.lock();
        let free = match &mut free {
            Ok(free) => free,
            Err(poisoned) => poisoned.get_mut(),
        };
        free.push(self.number);
    }
}

#[cfg(test)]
mod tests;
