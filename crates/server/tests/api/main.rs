//! The API as its callers meet it. One binary, one file per concern.
#![allow(
    clippy::unwrap_used,
    reason = "in a test it is the shortest way to fail"
)]

mod access;
mod access_docs;
mod again;
mod any_bytes;
mod audited;
mod bad_bodies;
mod bad_fields;
mod bad_keys;
mod bad_runs;
mod browser;
mod callbacks;
mod claims;
mod common;
mod connection;
mod deploying;
mod described;
mod gates;
mod guard;
mod hooks;
mod hooks_bad;
mod hooks_headers;
mod hooks_keys;
mod hooks_signed;
mod inbox;
mod inbox_bulk;
mod inbox_decide;
mod inbox_flow;
mod inbox_page;
mod inbox_page_bad;
mod inbox_votes;
mod kv;
mod ledger;
mod openapi;
mod outside;
mod overlap;
mod people;
mod proofs;
mod runs;
mod secrets;
mod trigger;
mod watching;
mod working;
