//! Sources stay small and finished.

use std::path::Path;

/// The longest a source may be: what can be read in one sitting.
const MOST_LINES: usize = 400;

/// Longer ones, each with how long it may be and why.
const LONGER: [(&str, usize); 1] = [
    // The vocabulary of the machine and its dispatch, under the one picture that explains both.
    ("crates/ledger/src/effect.rs", 560),
];

/// Written in two parts, so that this file does not contain them.
const UNFINISHED: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("dbg", "!("),
    concat!("todo", "!("),
];

fn most_lines(path: &Path) -> usize {
    let longer = LONGER.iter().find(|(name, _)| Path::new(name) == path);
    longer.map_or(MOST_LINES, |(_, most)| *most)
}

#[test]
fn no_source_is_too_long() {
    let mut wrong = Vec::new();
    for path in crate::files("rs") {
        let lines = crate::read(&path).lines().count();
        if lines > most_lines(&path) {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(wrong.is_empty(), "split by concern: {wrong:#?}");
}

#[test]
fn no_exception_outlives_its_reason() {
    for (name, _) in LONGER {
        let lines = crate::read(Path::new(name)).lines().count();
        assert!(lines > MOST_LINES, "{name} needs no exception any more");
    }
}

#[test]
fn nothing_is_left_unfinished() {
    let mut wrong = Vec::new();
    for path in crate::files("rs") {
        for (number, line) in crate::read(&path).lines().enumerate() {
            if UNFINISHED.iter().any(|word| line.contains(word)) {
                wrong.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
