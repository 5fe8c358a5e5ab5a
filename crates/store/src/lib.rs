//! Where the ledger is durable.
//!
//! Owns the vocabulary of everything that can be written ([`Change`] in, [`Answer`] out), the
//! group commit that lets many callers share one fsync, three backends behind one [`Store`]
//! ([`memory`], [`sqlite`], [`postgres`]), receipts, blobs and migrations.
//! Leaves to `semel-ledger` what a change means, and to its callers when to ask.
//!
//! The invariants: an answered change is durable; a change's precondition is checked in the
//! transaction that writes it; a lost race is an answer and never an error; one caller's failed
//! precondition never fails its neighbours.

pub mod access;
pub mod audit;
pub mod blob;
pub mod change;
pub mod clock;
pub mod duty;
pub mod error;
pub mod gate;
pub mod group;
pub mod kv;
pub mod listen;
pub mod lock;
pub mod memory;
pub mod node;
pub mod open;
pub mod person;
pub mod planted;
pub mod postgres;
pub mod query;
pub mod receipt;
pub mod record;
pub mod run;
pub mod secret;
mod seen;
pub mod sqlite;
pub mod store;
pub mod token;

pub use blob::{BlobRef, Stored};
pub use change::{Answer, Answered, Change, Content, EffectChange};
pub use clock::{Clock, ManualClock, SteadyClock};
pub use error::{OpenError, StoreError};
pub use open::{Location, Options};
pub use query::{Filter, Page, ReceiptFilter, Tally};
pub use receipt::{Receipt, ReceiptId};
pub use record::{Record, Turn};
pub use store::Store;
pub use token::Token;
