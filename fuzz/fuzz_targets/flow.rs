//! A flow file of any text.
#![no_main]

#[path = "../../crates/flow/tests/survive/mod.rs"]
mod survive;

libfuzzer_sys::fuzz_target!(|source: &str| survive::flow(source));
