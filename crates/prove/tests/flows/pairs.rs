//! Wrong flows with the right ones beside them: each wrong one says what is found, and exactly that is.

use std::path::PathBuf;

use semel_prove::{Family, Proof, Verdict};

use crate::{proved, shown};

/// What is found, and when: `# found: STEP 2× (FAMILY, …)`.
fn promised(source: &str) -> (&str, &str, Vec<&str>) {
    let found = source
        .lines()
        .find_map(|line| line.strip_prefix("# found: "));
    let (what, families) = found
        .and_then(|rest| rest.strip_suffix(')')?.split_once(" ("))
        .expect("what is found, and when");
    let (step, verdict) = what.rsplit_once(' ').expect("a step and how often");
    (step, verdict, families.split(", ").collect())
}

fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Twice(more) => format!("{}×", more + 1),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// What is not as the file says, if anything.
fn differs(source: &str, proof: &Proof) -> Option<String> {
    let (step, verdict, families) = promised(source);
    let found = Family::ALL
        .iter()
        .filter_map(|family| proof.findings.get(&(step.into(), *family)));
    let names: Vec<&str> = found
        .clone()
        .map(|it| it.schedule.family().expect("a family").name())
        .collect();
    let worst = found.clone().map(|it| it.verdict).max().map(word);
    let helps = found.map(|it| &it.help);
    let helpless: Vec<&String> = helps
        .filter(|help| help.contains("error of Semel"))
        .collect();
    if names != families || worst.as_deref() != Some(verdict) {
        return Some(format!(
            "{step} {} ({})",
            worst.unwrap_or_default(),
            names.join(", ")
        ));
    }
    (!helpless.is_empty()).then(|| format!("{helpless:?}"))
}

#[test]
fn wrong_flows_are_caught_and_right_ones_hold() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pairs");
    let entries = std::fs::read_dir(folder).expect("the folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let only = std::env::var("SEMEL_PROVE_PAIR").unwrap_or_default();
    let (mut wrong, mut amiss) = (0, Vec::new());
    for path in files {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if !name.starts_with(&only) {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("text");
        let proof = proved(&source, 1);
        if name.ends_with(".right.yaml") {
            if !proof.holds() {
                amiss.push(format!("{name}\n{}", shown(&proof)));
            }
            continue;
        }
        wrong += 1;
        if let Some(found) = differs(&source, &proof) {
            amiss.push(format!("{name}: found {found}\n{}", shown(&proof)));
        }
    }
    assert!(amiss.is_empty(), "{}", amiss.join("\n\n"));
    assert!(wrong >= 15 || !only.is_empty(), "{wrong}");
}
