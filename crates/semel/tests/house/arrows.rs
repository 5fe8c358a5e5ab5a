//! Dependencies point one way. A crate exists only because it forbids something: here is what.

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};
use std::collections::BTreeSet;

/// What one crate may know.
struct Rule {
    name: &'static str,
    /// Which of our crates it may use.
    ours: &'static [&'static str],
    /// What it may not use itself.
    never: &'static [&'static str],
    /// What may not come in by any way, however indirect.
    nowhere: &'static [&'static str],
}

const RULES: [Rule; 10] = [
    Rule {
        name: "semel-ledger",
        ours: &[],
        never: &[],
        nowhere: &["tokio", "axum", "hyper", "rusqlite", "tokio-postgres"],
    },
    Rule {
        name: "semel-flow",
        ours: &["semel-ledger"],
        never: &[],
        nowhere: &["tokio", "axum", "hyper", "rusqlite", "tokio-postgres"],
    },
    Rule {
        name: "semel-act",
        ours: &["semel-flow", "semel-ledger"],
        never: &[],
        nowhere: &["axum", "hyper", "rusqlite", "tokio-postgres"],
    },
    Rule {
        name: "semel-steps",
        ours: &["semel-act", "semel-flow", "semel-ledger"],
        never: &[],
        nowhere: &["axum"],
    },
    Rule {
        name: "semel-store",
        ours: &["semel-ledger"],
        never: &[],
        nowhere: &["axum", "hyper"],
    },
    Rule {
        name: "semel-engine",
        ours: &["semel-act", "semel-flow", "semel-ledger", "semel-store"],
        never: &["rusqlite", "tokio-postgres"],
        nowhere: &["axum", "hyper"],
    },
    Rule {
        name: "semel-prove",
        ours: &[
            "semel-act",
            "semel-engine",
            "semel-flow",
            "semel-ledger",
            "semel-store",
        ],
        never: &["rusqlite", "tokio-postgres"],
        nowhere: &["axum", "hyper"],
    },
    Rule {
        name: "semel-server",
        ours: &[
            "semel-act",
            "semel-engine",
            "semel-flow",
            "semel-ledger",
            "semel-prove",
            "semel-store",
        ],
        never: &["rusqlite", "tokio-postgres"],
        nowhere: &[],
    },
    Rule {
        name: "semel",
        ours: &[
            "semel-act",
            "semel-engine",
            "semel-flow",
            "semel-ledger",
            "semel-prove",
            "semel-server",
            "semel-steps",
            "semel-store",
        ],
        never: &[],
        nowhere: &[],
    },
    Rule {
        name: "semel-faults",
        ours: &[],
        never: &[],
        nowhere: &["axum", "hyper"],
    },
];

/// Breaks things on purpose, so only tests may use it.
const TESTS_ONLY: &str = "semel-faults";

fn is_ours(name: &str) -> bool {
    name == "semel" || name.starts_with("semel-")
}

/// All that is linked into a package.
fn linked<'a>(metadata: &'a Metadata, package: &'a Package) -> BTreeSet<&'a str> {
    let resolve = metadata.resolve.as_ref().expect("a resolved graph");
    let mut seen: BTreeSet<&PackageId> = BTreeSet::new();
    let mut next = vec![&package.id];
    while let Some(id) = next.pop() {
        let node = resolve.nodes.iter().find(|node| &node.id == id);
        for dep in &node.expect("a node for every package").deps {
            let mut kinds = dep.dep_kinds.iter();
            let normal = kinds.any(|kind| kind.kind == DependencyKind::Normal);
            if normal && seen.insert(&dep.pkg) {
                next.push(&dep.pkg);
            }
        }
    }
    seen.into_iter()
        .map(|id| metadata[id].name.as_str())
        .collect()
}

/// Every arrow of a package that its rule does not draw.
fn wrong_arrows(metadata: &Metadata, package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
        return vec![format!("{name} has no rule; say what it forbids")];
    };
    let mut wrong = Vec::new();
    for dependency in &package.dependencies {
        let to = dependency.name.as_str();
        let in_tests = dependency.kind == DependencyKind::Development;
        let drawn = rule.ours.contains(&to) || in_tests && to == TESTS_ONLY;
        if is_ours(to) && !drawn || rule.never.contains(&to) {
            wrong.push(format!("{name} -> {to} ({:?})", dependency.kind));
        }
    }
    let linked = linked(metadata, package);
    let hidden = rule.nowhere.iter().filter(|to| linked.contains(**to));
    wrong.extend(hidden.map(|to| format!("{name} -> … -> {to}")));
    wrong
}

#[test]
fn dependencies_point_one_way() {
    let metadata = crate::metadata();
    let packages = metadata.workspace_packages();
    let wrong: Vec<_> = packages
        .iter()
        .flat_map(|package| wrong_arrows(&metadata, package))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
