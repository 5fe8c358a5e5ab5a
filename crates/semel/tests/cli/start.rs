//! A folder to start from, and a flow in sentences.

use crate::prove::LARGE;
use crate::support::{Home, ends, stderr, stdout, told};

/// What is written to start from can be proved as it is, and nothing of anybody's is written over.
#[test]
fn a_folder_to_start_from_works_as_it_is() {
    let home = Home::new();
    let output = home.run(&["init", "shop"]);
    ends(
        &output,
        0,
        &["cd shop && semel check flows && semel prove flows"],
    );
    let shop = home.path("shop");
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.current_dir(&shop).output().expect("it runs")
    };
    ends(
        &run(&["check", "flows"]),
        0,
        &["order-paid.yaml: no problems"],
    );
    let proved = run(&["prove", "flows"]);
    ends(&proved, 0, &["crashes happened"]);
    assert!(
        stdout(&proved).contains("events: a small order, a large order"),
        "{}",
        told(&proved)
    );
    let settings = run(&["config", "show", "--origin"]);
    ends(&settings, 0, &[]);
    assert!(
        stdout(&settings).contains("semel.toml"),
        "{}",
        told(&settings)
    );
    std::fs::remove_file(shop.join("README.md")).expect("removed");
    let before = std::fs::read_to_string(shop.join("semel.toml")).expect("settings");
    let again = run(&["init"]);
    ends(
        &again,
        2,
        &["flows/order-paid.yaml, semel.toml, .github/workflows/flows.yml, .gitignore already"],
    );
    assert!(!shop.join("README.md").exists(), "{}", stderr(&again));
    assert_eq!(
        std::fs::read_to_string(shop.join("semel.toml")).expect("settings"),
        before
    );
    let document = home.json(&["init", "other", "--json"]);
    assert_eq!(document["written"][0], "flows/order-paid.yaml");
}

#[test]
fn a_flow_is_told_in_sentences() {
    let home = Home::new();
    home.file("order.yaml", LARGE.replace("RULE", "ask"));
    let output = home.run(&["explain", "order.yaml"]);
    ends(&output, 0, &[]);
    insta::assert_snapshot!(stdout(&output));
    let document = home.json(&["explain", "order.yaml", "--json"]);
    assert_eq!(document["steps"][0]["step"], "charge");
    let missing = home.run(&["explain", "none.yaml"]);
    assert_eq!(missing.status.code(), Some(2), "{}", told(&missing));
    // A code stays a code.
    ends(&home.run(&["explain", "k001"]), 0, &[]);
}
