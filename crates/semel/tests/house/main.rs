//! The house rules that no compiler checks: which way dependencies point, what may be linked,
//! and that what the documents and the sources say of themselves is true.

mod arrows;
mod documents;
mod licences;
mod sources;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/semel").to_owned()
}

/// Every file of ours with that extension, by its path from the root.
fn files(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("folder") {
            let path = entry.expect("entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let others = ["target", "node_modules"].contains(&&*name);
            if path.is_dir() && !name.starts_with('.') && !others {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let path = path.strip_prefix(root()).expect("under the root");
                found.push(path.to_owned());
            }
        }
    }
    assert!(!found.is_empty(), "no {extension} files found");
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).expect("readable text")
}

/// The packages that a Linux build is made of; others are never fetched.
fn metadata() -> cargo_metadata::Metadata {
    let linux = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked".into(), "--filter-platform".into(), linux])
        .exec()
        .expect("cargo metadata")
}
