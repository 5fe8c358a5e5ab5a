//! A request to a hook of any preset, with any headers and any body.
#![no_main]

#[path = "../../crates/server/tests/survive/mod.rs"]
mod survive;

use std::sync::LazyLock;

static DOORS: LazyLock<survive::Doors> = LazyLock::new(survive::Doors::new);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| DOORS.knock(bytes));
