//! The binary as a user meets it: every test runs `semel` itself and looks at what it prints, how
//! it exits, and what the destination saw.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it must be"
)]
#![allow(clippy::similar_names, reason = "server and served, token and taken")]

mod backup;
mod canary;
mod check;
mod config;
mod demo;
mod flows;
mod folder;
mod help;
mod hostile;
mod inbox;
mod killed;
mod kinds;
mod kv;
mod ledger;
mod models;
mod once;
mod overlap;
mod people;
mod prove;
mod proxy;
mod readme;
mod runs;
mod secrets;
mod seeing;
mod serve;
mod shadow;
mod sink;
mod start;
mod streams;
mod support;
mod through;
mod undo;
