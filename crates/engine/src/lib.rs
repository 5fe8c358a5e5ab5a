//! Runs: decided purely, worked on durably, recovered honestly.
//!
//! Owns what a run does next ([`decide`]), its history ([`journal`], folded in [`state`]), carrying it
//! out (`worker`), and the duties around it: what is due (`timers`), ticks (`schedules`), what dead
//! nodes left (`rescuer`, with the flight recorder in [`flight`]). Knows no SQL, no HTTP and no kind of
//! step: those are behind [`semel_store::Store`] and [`semel_act::Perform`].
//!
//! The invariants: a run's state is its journal, folded; nothing that could be noticed is asked of the
//! world before its claim is durable; an outcome that is not known is never simply repeated.

pub mod callback;
pub mod decide;
mod engine;
pub mod flight;
pub mod flows;
pub mod gate;
mod hands;
pub mod intake;
pub mod journal;
pub mod kv;
pub mod load;
pub mod names;
pub mod observe;
pub mod places;
pub mod plan;
pub mod read;
mod rescuer;
pub mod resolve;
pub mod retry;
mod schedules;
pub mod spent;
pub mod start;
pub mod state;
mod timers;
pub mod token;
mod topics;
mod worker;

pub use engine::{Engine, Fresh, Moved, Room, Settings};
