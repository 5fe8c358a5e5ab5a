//! The examples in sentences, and steps that they do not have.

use std::fmt::Write as _;

use super::explain;

fn told(source: &str) -> String {
    let flow = crate::read(source).flow.expect("a flow");
    let said = explain(&flow);
    let mut out = [said.begins, said.meanwhile].concat().join("\n");
    for step in &said.steps {
        let pad = "  ".repeat(step.depth);
        let _ = write!(
            out,
            "\n\n{pad}{}: {}\n{pad}  dies: {}",
            step.step, step.does, step.dies
        );
        for (name, more) in [("fails", &step.fails), ("undo", &step.undo)] {
            if let Some(more) = more {
                let _ = write!(out, "\n{pad}  {name}: {more}");
            }
        }
    }
    for end in said.ends {
        let _ = write!(out, "\n\n{end}");
    }
    out
}

#[test]
fn the_examples_are_told_in_sentences() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in std::fs::read_dir(root).expect("examples") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        let source = std::fs::read_to_string(&path).expect("text");
        insta::with_settings!({
            omit_expression => true,
            prepend_module_to_snapshot => false,
        }, {
            insta::assert_snapshot!(format!("told-{name}"), told(&source));
        });
    }
}

#[test]
fn what_the_file_says_about_the_unknown_is_what_is_told() {
    let step = |more: &str| {
        told(&format!(
            "name: f\non: manual\nkey: f/${{{{ event.id }}}}\nsteps:\n  - id: a\n    http: {{post: https://a.example}}\n{more}"
        ))
    };
    for (more, part) in [
        ("", "a person decides"),
        ("    on_unknown: retry\n", "it may happen twice"),
        ("    on_unknown: skip\n", "is taken as done"),
        (
            "    retry: {max: 1}\n",
            "is tried once; then the run fails.",
        ),
        (
            "    retry: {max: 3, backoff: 5s, then: ask}\n",
            "up to 3 times, 5s apart",
        ),
        ("    effect: set\n", "a repeat leaves things as they are"),
    ] {
        let said = step(more);
        assert!(said.contains(part), "{more}: {said}");
    }
}
