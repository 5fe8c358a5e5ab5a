//! Taking back what was done, read from what the destination saw.

use crate::sink::{Habit, Sink, home};
use crate::support::{Home, ends, signal, stdout, until};

/// A home with a flow that charges, sends and tells, and the run of one order.
fn order(sink: &Sink) -> Home {
    let home = home();
    let url = &sink.url;
    home.file(
        "flows/order.yaml",
        format!(
            "name: order
on: manual
key: order/${{{{ event.id }}}}
steps:
  - id: charge
    http: {{post: {url}/charge}}
    result: body.id
    undo: {{http: {{post: {url}/refund, json: {{charge: '${{{{ steps.charge.result }}}}'}}}}}}
  - id: parcel
    http: {{put: {url}/parcel}}
    undo: {{http: {{post: {url}/recall}}}}
  - id: mail
    http: {{post: {url}/mail}}
on_failure:
  - id: tell
    http: {{post: {url}/tell}}
"
        ),
    );
    home
}

fn trigger(home: &Home) -> String {
    let started = home.run(&["trigger", "order", "--key", "k7", "--data", r#"{"id":"7"}"#]);
    ends(&started, 0, &[]);
    stdout(&started).trim().to_owned()
}

fn state(home: &Home, run: &str, wanted: &str) -> serde_json::Value {
    until(wanted, || {
        let shown = home.json(&["runs", "show", run, "--json"]);
        (shown["state"] == wanted).then_some(shown)
    })
}

/// The effect of a step, as the run shows it.
fn effect(shown: &serde_json::Value, step: &str) -> (String, String) {
    let effects = shown["effects"].as_array().unwrap();
    let found = effects
        .iter()
        .find(|effect| effect["step"] == step)
        .unwrap();
    let text = |name: &str| found[name].as_str().unwrap().to_owned();
    (text("scope"), text("key"))
}

/// The paths that had an effect, without what is told beside.
fn seen(sink: &Sink) -> Vec<String> {
    let seen = sink.seen();
    let path = |call: &String| call.split(' ').next().unwrap_or_default().to_owned();
    seen.iter()
        .map(path)
        .filter(|path| path != "/tell")
        .collect()
}

#[test]
fn a_failed_order_is_taken_back_and_says_so_everywhere() {
    let sink = Sink::new();
    sink.becomes_at("/mail", Habit::Refusing);
    let home = order(&sink);
    let _server = home.serve(&["--flows", "flows"]);
    let run = trigger(&home);
    let shown = state(&home, &run, "undone");
    assert_eq!(seen(&sink), ["/charge", "/parcel", "/recall", "/refund"]);
    assert!(
        sink.seen()
            .contains(&r#"/refund {"charge":"it-1"}"#.to_owned())
    );
    let why = shown["why"].as_str().unwrap();
    assert!(why.ends_with("; undone: parcel, charge"), "{why}");
    assert_eq!(shown["steps"][0]["undo"], "done");
    let text = stdout(&home.run(&["runs", "show", &run]));
    assert!(text.contains("undone    charge"), "{text}");
    assert!(text.contains("charge/undo"), "{text}");
    let (scope, key) = effect(&shown, "charge");
    assert_eq!(scope, "order/charge");
    let effect = home.json(&["ledger", "get", &scope, &key, "--json"]);
    assert_eq!(effect["state"], "undone");
    let proof = home.json(&["receipt", &run, "--json"]);
    let proof = &proof["proof"];
    let answer = proof["answer"].as_str().unwrap();
    assert!(answer.contains("1 of them was taken back"), "{answer}");
    assert_eq!(proof["undone"], 1);
}

#[test]
fn an_undo_that_the_server_died_in_is_not_sent_again_until_a_person_says_so() {
    let sink = Sink::new();
    sink.becomes_at("/mail", Habit::Refusing);
    sink.becomes_at("/refund", Habit::Stuck);
    let home = order(&sink);
    let mut server = home.serve(&["--flows", "flows"]);
    let run = trigger(&home);
    until("the refund is on its way", || {
        seen(&sink).contains(&"/refund".to_owned()).then_some(())
    });
    signal(server.child.id(), "KILL");
    server.child.wait().unwrap();
    let _again = home.serve(&["--flows", "flows"]);
    let shown = state(&home, &run, "parked");
    let why = shown["why"].as_str().unwrap();
    assert!(why.starts_with("charge/undo: "), "{why}");
    sink.becomes_at("/refund", Habit::Obliging);
    ends(&home.run(&["runs", "resume", &run]), 0, &[]);
    let (scope, key) = effect(&shown, "charge/undo");
    let words = ["ledger", "decide", &scope, &key, "--decision", "happened"];
    ends(&home.run(&words), 0, &[]);
    state(&home, &run, "undone");
    assert_eq!(seen(&sink), ["/charge", "/parcel", "/recall", "/refund"]);
}

#[test]
fn cancel_with_undo_takes_back_what_is_done() {
    let sink = Sink::new();
    sink.becomes_at("/mail", Habit::Silent);
    let home = order(&sink);
    let _server = home.serve(&["--flows", "flows"]);
    let run = trigger(&home);
    state(&home, &run, "parked");
    let cancelled = home.run(&["runs", "cancel", &run, "--undo"]);
    ends(&cancelled, 0, &["take back"]);
    let shown = state(&home, &run, "undone");
    let why = shown["why"].as_str().unwrap();
    assert!(why.starts_with("cancelled by ada"), "{why}");
    // The mail may have gone out; nothing takes it back, so nobody waits to know.
    assert_eq!(
        seen(&sink),
        ["/charge", "/parcel", "/mail", "/recall", "/refund"]
    );
}
