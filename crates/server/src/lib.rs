//! Semel over HTTP.
//!
//! Owns the guard, once, ledger, receipts, blobs and tokens endpoints, who may call them, how a
//! request is read and how a mistake is explained, the accept loop and when the background
//! duties run. Leaves what a claim means to `semel-ledger` and its durability to `semel-store`;
//! knows no SQL.
//!
//! The invariants: nothing is acknowledged before the store has it; a 4xx changed nothing; every
//! error has a stable code with a page; the store's errors become HTTP in one place
//! (`problem`).

mod app;
mod auth;
mod blobs;
mod body;
mod budget;
mod claiming;
mod code;
mod connection;
mod decide;
mod duties;
mod encoding;
mod fields;
mod guard;
mod health;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the route that calls these is not there yet")
)]
mod hooks;
mod import;
mod ledger;
mod metrics;
mod once;
mod out;
mod path;
mod patient;
mod problem;
mod query;
mod receipts;
mod refusal;
mod router;
mod serve;
mod settle;
mod suggest;
mod target;
mod timestamp;
pub mod tokens;
mod view;
mod watched;

pub use app::{App, Settings};
pub use code::Code;
pub use health::OPENAPI;
pub use router::{Access, ROUTES, Route, router};
pub use serve::{ServeError, serve};
