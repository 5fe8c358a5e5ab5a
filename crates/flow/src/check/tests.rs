//! Flows in, messages out: every word that the check says is a snapshot.

mod examples;
mod flows;
mod gates;
mod keys;
mod policy;
mod references;
mod releases;
mod said;
mod tables;
mod waits;

use crate::diagnostic::Level;
use crate::render::{Style, render};
use crate::{Diagnostic, Flow};

/// A flow that can be read without a word.
fn flow(source: &str) -> Flow {
    let reading = crate::read(source);
    let said = drawn(source, &reading.diagnostics);
    assert_eq!(said, "", "{source}");
    reading.flow.expect("a flow")
}

/// What the check says, as a terminal shows it.
fn said(source: &str) -> String {
    drawn(source, &super::check(&flow(source)))
}

fn drawn(source: &str, found: &[Diagnostic]) -> String {
    let style = Style {
        file: "flow.yaml",
        colours: false,
        width: None,
    };
    render(source, found, style)
}

/// The codes of what the check finds, with a mark for what is not an error.
fn codes(flow: &Flow) -> Vec<String> {
    let mark = |found: Diagnostic| match found.level {
        Level::Error => found.code.to_owned(),
        Level::Warning => format!("{}?", found.code),
        Level::Note => format!("{}.", found.code),
    };
    super::check(flow).into_iter().map(mark).collect()
}

/// Holds what is said against the snapshot of that name.
fn snapshot(name: &str, source: &str, said: &str) {
    insta::with_settings!({
        omit_expression => true,
        prepend_module_to_snapshot => false,
        snapshot_path => "snapshots",
        description => source,
    }, {
        insta::assert_snapshot!(name, said);
    });
}

/// A step that a flow may end with.
const SAY: &str = "  - id: say\n    http: {post: https://chat.example/api}\n";

#[test]
fn the_flows_of_the_examples_are_as_they_should_be() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(root).expect("examples") {
        let path = entry.expect("an entry").path();
        let source = std::fs::read_to_string(&path).expect("text");
        assert_eq!(said(&source), "", "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 5, "{seen} examples");
}

#[test]
fn messages_come_in_the_order_of_the_file() {
    let source = "name: f\non: {schedule: {every: 1h}}\nkey: ${{ now() }}\nsteps:\n  - id: a\n    if: nothing\n    set: {x: \"${{ steps.b.result }}\"}\n  - id: b\n    key: ${{ uuid() }}\n    http: {post: https://a.example}\n";
    assert_eq!(codes(&flow(source)), ["K001", "C001", "C003", "K002"]);
}

/// What a message says in a line, its page says at length, with the message as it is drawn.
#[test]
fn every_code_of_the_check_has_its_page() {
    let ours = |code: &&crate::codes::Code| code.name.starts_with(['K', 'C']);
    let codes: Vec<_> = crate::codes::ALL.iter().filter(ours).collect();
    assert!(codes.len() >= 28, "{}", codes.len());
    for code in codes {
        let (name, page) = (code.name, code.page);
        assert!(
            page.starts_with(&format!("# {name}: {}\n", code.title)),
            "{name}"
        );
        for part in [
            "\n## What to do\n",
            "\n## Example\n",
            &format!("[{name}]: "),
        ] {
            assert!(page.contains(part), "{name} has no {part:?}");
        }
        let example = page.split("```\n").nth(1).unwrap_or_default().trim_end();
        let snapshots =
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/check/snapshots"));
        let shown = snapshots.expect("snapshots").any(|entry| {
            let text = std::fs::read_to_string(entry.expect("an entry").path());
            text.expect("text").contains(example)
        });
        assert!(shown, "the example of {name} is not what is said");
    }
}

/// Names that lean on each other many times over cost no more than the file is long.
#[test]
fn names_that_multiply_are_followed_once() {
    use std::fmt::Write as _;
    let mut source = "name: f\nlet:\n  a0: now()\n".to_owned();
    for at in 1..200 {
        let under = at - 1;
        let _ = writeln!(source, "  a{at}: a{under} + a{under} + a{under}");
    }
    source.push_str("key: ${{ a199 }}/${{ a20 }}\nsteps:\n");
    source.push_str(SAY);
    let found = super::check(&flow(&source));
    let found: Vec<_> = found.iter().map(|it| it.code).collect();
    assert_eq!(found, ["C009", "K001"]);
}
