//! Sources stay small and finished.

use std::path::PathBuf;

/// The longest a source may be: what can be read in one sitting.
const MOST_LINES: usize = 400;

/// Written in two parts, so that this file does not contain them.
const UNFINISHED: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("dbg", "!("),
    concat!("todo", "!("),
];

/// Everything that people write: the crates, and the page with its tests.
fn sources() -> impl Iterator<Item = PathBuf> {
    let endings = ["rs", "ts", "tsx", "mjs"].into_iter();
    endings.flat_map(crate::files)
}

#[test]
fn no_source_is_too_long() {
    let mut wrong = Vec::new();
    for path in sources() {
        let lines = crate::read(&path).lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(wrong.is_empty(), "split by concern: {wrong:#?}");
}

#[test]
fn nothing_is_left_unfinished() {
    let mut wrong = Vec::new();
    for path in sources() {
        for (number, line) in crate::read(&path).lines().enumerate() {
            if UNFINISHED.iter().any(|word| line.contains(word)) {
                wrong.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
