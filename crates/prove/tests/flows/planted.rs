//! Bugs that we plant in the engine: each is found by proving flows that are right.
//!
//! A bug is planted in the whole process, so nothing else may be proved in it meanwhile; nextest gives each test its own.

use std::path::PathBuf;

use semel_prove::Proof;
use semel_store::planted::{Bug, plant};

use crate::{proved, shown};

/// Flows that do what no example does.
const MORE: [(&str, &str); 3] = [
    (
        "goes back",
        "
name: goes-back
on: manual
key: order/${{ event.id }}
steps:
  - id: charge
    http: {post: https://bank.example/charges, json: {order: '${{ event.id }}'}}
    result: body.id
    undo: {http: {post: 'https://bank.example/charges/${{ steps.charge.result }}/refund'}}
  - {id: end, fail: it goes back}
",
    ),
    (
        "waits for the bank",
        "
name: waits-for-the-bank
on: manual
key: order/${{ event.id }}
steps:
  - id: charge
    http: {put: 'https://bank.example/charges/${{ event.id }}', json: {back: '${{ callbacks.paid }}'}}
  - id: paid
    wait: {callback: {timeout: 24h}}
  - id: pause
    wait: {for: 1h}
  - id: parcel
    http: {post: https://depot.example/parcels, json: {order: '${{ event.id }}', paid: '${{ steps.paid.result.amount }}'}}
",
    ),
    (
        "asks for leave",
        "
name: asks-for-leave
on: {webhook: {path: /hooks/refunds, verify: none}}
key: refund/${{ event.id }}
steps:
  - id: agreed
    key: customer/${{ event.customer }}
    approve: {by: [ann], ask: 'Refund ${{ event.amount }}?', timeout: 48h}
  - id: pay
    http: {post: https://pay.example/refunds, json: {amount: '${{ event.amount }}'}}
",
    ),
];

fn folder(path: &str, ending: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    let files = std::fs::read_dir(folder).expect("the folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let named = files.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).ok()?;
        name.ends_with(ending).then_some((name, source))
    });
    named.collect()
}

/// Where a bug shows first, so that it is looked for there.
fn shows_in(bug: Bug) -> &'static str {
    match bug {
        Bug::KeyPerAttempt => "retry-in-the-middle.right.yaml",
        Bug::AskEarly | Bug::NotThereIsThere => "asked-too-early.right.yaml",
        Bug::StaleIsNew => "older-event-overwrites.right.yaml",
        Bug::ForgetReceipt => "hello.yaml",
        Bug::UndoUnclaimed => "goes back",
        Bug::LoseTimer => "waits for the bank",
        Bug::AnyApproval => "asks for leave",
        _ => "retry-unknown.right.yaml",
    }
}

fn first_finding(proof: &Proof) -> Option<String> {
    let finding = proof.findings.values().next()?;
    let (step, schedule) = (&finding.step, &finding.schedule);
    Some(format!("{step} {:?} by {schedule}", finding.verdict))
}

#[test]
fn every_planted_bug_is_found_in_a_flow_that_is_right() {
    let mut flows = folder("../../examples", ".yaml");
    flows.extend(folder("tests/pairs", ".right.yaml"));
    flows.extend(MORE.map(|(name, source)| (name.to_owned(), source.to_owned())));
    for (name, source) in MORE {
        let proof = proved(source, 1);
        assert!(proof.holds(), "{name}\n{}", shown(&proof));
    }
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        flows.sort_by_key(|(name, _)| name != shows_in(bug));
        plant(Some(bug));
        let found = flows.iter().find_map(|(name, source)| {
            let found = first_finding(&proved(source, 1))?;
            Some(format!("{name}: {found}"))
        });
        plant(None);
        println!("{bug:?}: {}", found.as_deref().unwrap_or("not found"));
        missed.extend(found.is_none().then_some(bug));
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn the_examples_hold() {
    for (name, source) in folder("../../examples", ".yaml") {
        let proof = proved(&source, 1);
        assert!(proof.holds(), "{name}\n{}", shown(&proof));
    }
}
