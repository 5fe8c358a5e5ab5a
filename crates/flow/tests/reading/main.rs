//! Flow files in, flows and messages out.

mod bad;
mod design;
mod docs;
mod examples;
mod expressions;
mod never_panics;
mod schema;
#[path = "../survive/mod.rs"]
mod survive;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/flow").to_owned()
}

/// Every YAML file of a folder with its name, in order.
fn flows(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no flows in {}", folder.display());
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            let text = std::fs::read_to_string(&path).expect("text");
            (name.into_owned(), text)
        })
        .collect()
}

/// The messages about a flow, as a terminal without colours shows them.
fn messages(name: &str, source: &str) -> String {
    let reading = semel_flow::read(source);
    let file = format!("{name}.yaml");
    let style = semel_flow::render::Style {
        file: &file,
        colours: false,
        width: None,
    };
    let text = semel_flow::render::render(source, &reading.diagnostics, style);
    let summary = semel_flow::render::summary(&reading.diagnostics);
    format!("{text}{summary}\n")
}
