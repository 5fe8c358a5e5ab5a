//! What the documents point at exists.

use std::path::{Path, PathBuf};

/// The text without its fenced blocks, in which anything may stand.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Every relative link, without its anchor.
fn links(text: &str) -> Vec<String> {
    let ends = text.split("](").skip(1);
    ends.filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.split('#').next().unwrap_or_default().to_owned())
        .filter(|link| !link.is_empty() && !link.contains(':'))
        .collect()
}

/// Every name in backticks that can only be a path in this repository.
fn paths(text: &str) -> Vec<&str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| is_path(name))
        .collect()
}

fn is_path(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let folders = ["crates/", "docs/", "scripts/", "examples/", ".ci/"];
    let in_folder = folders.iter().any(|folder| name.starts_with(folder));
    let script = name
        .strip_prefix("./")
        .is_some_and(|name| !name.contains(['/', '.']));
    let source = [".rs", ".md"].iter().any(|end| name.ends_with(end));
    !name.is_empty() && name.chars().all(plain) && (in_folder || script || source)
}

/// Documents at the root and under docs.
fn documents() -> Vec<PathBuf> {
    let mut files = crate::files("md");
    files.retain(|path| path.components().count() == 1 || path.starts_with("docs"));
    files
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    for document in documents() {
        let folder = crate::root().join(&document);
        let folder = folder.parent().expect("a folder");
        for link in links(&prose(&crate::read(&document))) {
            if !folder.join(&link).exists() {
                wrong.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_path_that_is_named_exists() {
    let mut wrong = Vec::new();
    for document in ["ARCHITECTURE.md", "README.md"].map(Path::new) {
        if !documents().iter().any(|found| found == document) {
            continue;
        }
        let text = prose(&crate::read(document));
        let missing = paths(&text)
            .into_iter()
            .filter(|path| !crate::root().join(path).exists());
        wrong.extend(missing.map(|path| format!("{}: {path}", document.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn paths_and_links_are_recognised() {
    let text = "See `crates/ledger`, `./test`, `semel once`, `/v1/guard/{scope}`, `semel.toml`,\n\
                [a](docs/a.md#b), [b](https://example.com), [c](#d).\n```sh\n`crates/no`\n```\n";
    let text = prose(text);
    assert_eq!(paths(&text), ["crates/ledger", "./test"]);
    assert_eq!(links(&text), ["docs/a.md"]);
}
