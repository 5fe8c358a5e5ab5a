//! An expression of any text, alone and inside text.
#![no_main]

#[path = "../../crates/flow/tests/survive/mod.rs"]
mod survive;

libfuzzer_sys::fuzz_target!(|source: &str| survive::expression(source));
