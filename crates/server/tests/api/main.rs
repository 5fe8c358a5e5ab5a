//! The API as its callers meet it. One binary, one file per concern.
#![allow(
    clippy::unwrap_used,
    reason = "in a test it is the shortest way to fail"
)]

mod access;
mod bad_bodies;
mod bad_fields;
mod bad_keys;
mod claims;
mod common;
mod connection;
mod guard;
mod ledger;
mod openapi;
