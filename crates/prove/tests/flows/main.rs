//! Flows that hold, and flows that do not.

mod pairs;
mod planted;

use std::sync::Arc;

use semel_prove::{Family, Finding, Options, Proof, Stage, Verdict, prove};

fn proved(source: &str, depth: usize) -> Proof {
    let stage = Arc::new(Stage::new(source, Vec::new()).expect("a flow"));
    let options = Options {
        depth,
        ..Options::default()
    };
    prove(&stage, &options, &|_, _| {}).expect("proved")
}

fn shown(proof: &Proof) -> String {
    let cells = proof
        .cells
        .iter()
        .map(|((step, family), (verdict, tries))| {
            format!("{step} {} {verdict:?} ({tries})", family.name())
        });
    let mut lines: Vec<String> = cells.collect();
    for finding in proof.findings.values() {
        let Finding {
            step,
            verdict,
            schedule,
            help,
            ..
        } = finding;
        lines.push(format!("\n{step} {verdict:?} by {schedule}"));
        let story = finding.story.iter();
        lines.extend(story.map(|line| format!("  {:>8} {}", line.at, line.what)));
        lines.push(format!("  {:?}", finding.ended));
        lines.push(format!("  = help: {help}"));
    }
    let (tried, crashes) = (proof.schedules, proof.crashes);
    lines.push(format!(
        "{tried} schedules, {crashes} crashes, unreached {:?}",
        proof.unreached
    ));
    lines.join("\n")
}

const RIGHT: &str = "
name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: customer
    ensure:
      find: {http: {get: 'https://crm.example/c?id=${{ event.customer }}'}, found: size(body.items) > 0, result: 'body.items[0].id'}
      create: {http: {post: 'https://crm.example/c', json: {id: '${{ event.customer }}'}}, result: body.id}
  - id: charge
    http:
      post: https://pay.example/charges
      json: {customer: '${{ steps.customer.result }}', amount: '${{ event.amount }}'}
      idempotency: {header: Idempotency-Key, window: 24h}
    result: body.id
  - id: mail
    http: {post: 'https://mail.example/send', json: {charge: '${{ steps.charge.result }}'}}
  - id: parcel
    http: {post: 'https://parcel.example/new', json: {to: '${{ event.customer }}', mark: '${{ step.key }}'}}
    lookup: {http: {get: 'https://parcel.example/by/${{ step.key }}'}, found: status == 200}
";

#[test]
fn a_right_flow_holds() {
    let proof = proved(RIGHT, 1);
    let text = shown(&proof);
    assert!(proof.holds(), "{text}");
    assert!(proof.unreached.is_empty(), "{text}");
}

#[test]
fn a_right_flow_holds_when_it_is_struck_twice() {
    let source = "
name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: mail
    http: {post: 'https://mail.example/send', json: {to: '${{ event.email }}', mark: '${{ step.key }}'}}
    lookup: {http: {get: 'https://mail.example/by/${{ step.key }}'}, found: status == 200}
";
    let stage = Arc::new(Stage::new(source, Vec::new()).expect("a flow"));
    let options = Options {
        depth: 2,
        families: [Family::Twice, Family::Crash, Family::Power, Family::Lost].into(),
        ..Options::default()
    };
    let proof = prove(&stage, &options, &|_, _| {}).expect("proved");
    let text = shown(&proof);
    assert!(proof.holds(), "{text}");
    // That it was struck is part of the promise.
    assert!(proof.schedules > 500 && proof.crashes > 500, "{text}");
}

#[test]
fn repeating_what_nobody_knows_is_seen_twice() {
    let source = "
name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: mail
    http: {post: 'https://mail.example/send', json: {to: '${{ event.email }}'}}
    on_unknown: retry
";
    let proof = proved(source, 1);
    let text = shown(&proof);
    let mail: Arc<str> = "mail".into();
    for family in [Family::Power, Family::Lost] {
        let (verdict, _) = proof.cells[&(Arc::clone(&mail), family)];
        assert!(matches!(verdict, Verdict::Twice(_)), "{text}");
    }
    assert_eq!(
        proof.cells[&(mail, Family::Twice)].0,
        Verdict::Once,
        "{text}"
    );
}
