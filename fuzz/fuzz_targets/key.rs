//! A key of any text.
#![no_main]

#[path = "../../crates/ledger/tests/survive/mod.rs"]
mod survive;

libfuzzer_sys::fuzz_target!(|text: &str| survive::key(text));
