//! A flow under every duplicate, crash and lost answer that matters, before customers do it.
//!
//! Owns the simulated world ([`world`](mod@world)), the points at which something can go wrong (`conductor`), one try
//! (`sim`), which tries are made ([`explore`]) and what they show ([`judge`]). Runs the real engine; knows no
//! server and no network.
//!
//! The invariant: what is judged is what the world saw, never what the ledger says.

mod advice;
mod answers;
mod clock;
mod conductor;
mod events;
pub mod examples;
pub mod explore;
mod family;
mod fault;
pub mod judge;
mod node;
mod preset;
pub mod report;
pub mod schedule;
mod shape;
mod sim;
pub mod stage;
mod told;
pub mod world;

pub use examples::Event;
pub use explore::{Options, Progress, prove};
pub use judge::{Finding, Proof, Verdict};
pub use report::Report;
pub use schedule::{Family, Schedule};
pub use sim::SimError;
pub use stage::Stage;
