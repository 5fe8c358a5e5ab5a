//! Runs from the shell: looked at, followed, decided about, done again, proved.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::sink::{Habit, Sink, event, flow, home};
use crate::support::{Home, ends, masked, stdout, told, until};

/// A server with one flow, and the run of one event that has come to an end.
struct Ran {
    home: Home,
    sink: Sink,
    run: String,
    code: Option<i32>,
    _server: crate::support::Server,
}

fn ran(habit: Habit) -> Ran {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/hello.yaml", flow(&sink, "say"));
    let server = home.serve(&["--flows", "flows"]);
    sink.becomes(habit);
    let words = [
        "trigger",
        "hello",
        "--key",
        "k",
        "--wait",
        "--data",
        &event("a"),
    ];
    let output = home.run(&words);
    let run = stdout(&output).trim().to_owned();
    assert!(run.starts_with("run_"), "{}", told(&output));
    Ran {
        home,
        sink,
        run,
        code: output.status.code(),
        _server: server,
    }
}

fn plan(home: &Home, run: &str) -> Value {
    home.json(&["rerun", run, "--plan", "--json"])
}

#[test]
fn a_run_is_shown_with_its_duplicates() {
    let Ran {
        home,
        run,
        code,
        _server,
        ..
    } = ran(Habit::Obliging);
    assert_eq!(code, Some(0));
    home.run(&["trigger", "hello", "--key", "k", "--data", &event("a")]);
    // Receipts are written behind the answer.
    let card = until("the duplicate is on record", || {
        let card = stdout(&home.run(&["runs", "show", &run]));
        card.contains("came again").then_some(card)
    });
    insta::assert_snapshot!(masked(&card));
    assert!(
        card.contains("(attempt 1)") && card.contains("1 blocked"),
        "{card}"
    );
    let listed = stdout(&home.run(&["runs", "ls", "--flow", "hello", "--key", "signup/a"]));
    insta::assert_snapshot!(masked(&listed));
    let none = home.run(&["runs", "ls", "--state", "parked"]);
    ends(&none, 0, &["no run that matches"]);
    let json = home.json(&["runs", "ls", "--json"]);
    assert_eq!(
        (&json["runs"][0]["run"], &json["next"]),
        (&json!(run), &Value::Null)
    );
    let by_event = home.json(&["runs", "show", &run.replace("run_", "evt_"), "--json"]);
    assert_eq!(by_event["run"], run.as_str());
    ends(
        &home.run(&["runs", "show", "run_1"]),
        1,
        &["no run is called", "semel runs ls"],
    );
    ends(
        &home.run(&["runs", "cancel", &run]),
        1,
        &["it is done", "semel rerun"],
    );
}

#[test]
fn what_failed_is_done_again_and_what_is_done_is_not() {
    let Ran {
        home,
        sink,
        run,
        code,
        _server,
    } = ran(Habit::Refusing);
    assert_eq!(code, Some(1));
    assert_eq!(sink.seen(), [""; 0]);
    let shown = stdout(&home.run(&["rerun", &run, "--plan"]));
    let (table, hash) = shown.split_once("plan hash: ").unwrap();
    insta::assert_snapshot!(masked(table));
    assert_eq!(hash.trim().len(), 16, "{hash}");
    assert!(
        shown.starts_with("hello signup/a") && shown.contains("\nexecute  say"),
        "{shown}"
    );
    let before = plan(&home, &run);
    let hash = before["plan_hash"].as_str().unwrap();
    sink.becomes(Habit::Obliging);
    let again = home.run(&["rerun", &run, "--plan-hash", hash, "--wait"]);
    ends(&again, 0, &["started run_", "is done"]);
    let second = stdout(&again).trim().to_owned();
    // What the plan said is done now, so the same plan is no longer true.
    let repeated = home.run(&["rerun", &run, "--plan-hash", hash]);
    ends(&repeated, 4, &["the plan has changed"]);
    assert!(
        stdout(&repeated).contains("\nreuse "),
        "{}",
        told(&repeated)
    );
    let after = plan(&home, &second);
    assert_eq!(after["steps"][0]["what"], "reuse");
    let unit = [
        "rerun", "--unit", "signup/a", "--flow", "hello", "--plan", "--json",
    ];
    assert_eq!(home.json(&unit)["run"], second.as_str());
    ends(
        &home.run(&["rerun", "--unit", "no", "--flow", "hello", "--plan"]),
        1,
        &["no run of hello"],
    );
    ends(&home.run(&["runs", "retry", &second]), 0, &["started run_"]);
    assert_eq!(sink.seen().len(), 1);
}

#[test]
fn what_nobody_knows_waits_for_a_person() {
    let Ran {
        home,
        sink,
        run,
        code,
        _server,
    } = ran(Habit::Silent);
    assert_eq!(code, Some(3), "it needs a person");
    assert_eq!(sink.seen().len(), 1);
    let card = stdout(&home.run(&["runs", "show", &run]));
    for says in [
        "parked",
        "may or may not have happened",
        "semel ledger decide hello/say signup/a/say",
    ] {
        assert!(card.contains(says), "{says:?} is not in:\n{card}");
    }
    ends(
        &home.run(&["rerun", &run, "--plan"]),
        1,
        &["not over", "semel runs watch"],
    );
    let words = [
        "ledger",
        "decide",
        "hello/say",
        "signup/a/say",
        "--decision",
        "happened",
    ];
    ends(&home.run(&words), 0, &["is done"]);
    let watched = home.run(&["runs", "watch", &run]);
    ends(&watched, 0, &["is done"]);
    assert!(
        stdout(&watched).contains("is not done again"),
        "{}",
        told(&watched)
    );
    assert_eq!(sink.seen().len(), 1);
}

#[test]
fn a_run_that_waits_can_be_ended_and_followed_meanwhile() {
    let Ran {
        home, run, _server, ..
    } = ran(Habit::Silent);
    let mut command = home.command(&["runs", "watch", &run, "--json"]);
    let watch = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    ends(
        &home.run(&["runs", "resume", &run, "--note", "look again"]),
        0,
        &["goes on"],
    );
    until("it was looked at again", || {
        let card = stdout(&home.run(&["runs", "show", &run]));
        card.contains("look again").then_some(())
    });
    ends(
        &home.run(&["runs", "cancel", &run, "--by", "bob"]),
        0,
        &["asked to end"],
    );
    let output = watch.wait_with_output().unwrap();
    ends(&output, 1, &[]);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["data"]["what"], "opened");
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["event"], &last["data"]["state"]),
        (&json!("end"), &json!("cancelled"))
    );
    assert!(
        told(&output).contains("bob (token first) asked it to end"),
        "{}",
        told(&output)
    );
}

#[test]
fn it_can_be_proved_that_nothing_was_done_twice() {
    let Ran {
        home, run, _server, ..
    } = ran(Habit::Obliging);
    home.run(&["trigger", "hello", "--key", "k", "--data", &event("a")]);
    let by_run = stdout(&home.run(&["receipt", &run]));
    insta::assert_snapshot!(masked(&by_run));
    assert!(
        by_run.starts_with("1 effect was done, once; 1 repeat was blocked"),
        "{by_run}"
    );
    let proved =
        |words: &[&str]| home.json(&[words, &["--json"]].concat())["proof"]["answer"].clone();
    let answer = json!("1 effect was done, once; 1 repeat was blocked");
    assert_eq!(proved(&["receipt", "signup/a", "--flow", "hello"]), answer);
    let effect = proved(&["receipt", "signup/a/say", "--scope", "hello/say"]);
    assert_eq!(
        effect,
        json!("1 effect was done, once; no repeat was asked for")
    );
    ends(
        &home.run(&["receipt", "no", "--scope", "s"]),
        1,
        &["semel ledger ls"],
    );

    let signed = stdout(&home.run(&["receipt", &run, "--signed"]));
    home.file("proof.json", &signed);
    home.file("changed.json", signed.replace("once", "twice"));
    home.file("semel.pub", stdout(&home.run(&["receipt", "key"])));
    ends(
        &home.run(&["receipt", "verify", "proof.json"]),
        0,
        &["whose key"],
    );
    ends(
        &home.run(&["receipt", "verify", "proof.json", "--key", "semel.pub"]),
        0,
        &[],
    );
    ends(
        &home.run(&["receipt", "verify", "changed.json"]),
        1,
        &["changed"],
    );
    let other = "0".repeat(64);
    ends(
        &home.run(&["receipt", "verify", "proof.json", "--key", &other]),
        1,
        &["another key"],
    );
    ends(
        &home.run(&["receipt", "verify", "proof.json", "--key", "no"]),
        2,
        &["64 hexadecimal"],
    );
    home.file(
        "plain.json",
        stdout(&home.run(&["receipt", &run, "--json"])),
    );
    ends(
        &home.run(&["receipt", "verify", "plain.json"]),
        1,
        &["no signature", "--signed"],
    );
}

#[test]
fn without_a_server_a_run_is_not_waited_for() {
    let (home, sink) = (home(), Sink::new());
    home.file("hello.yaml", flow(&sink, "say"));
    home.run(&["deploy", "hello.yaml"]);
    let words = [
        "trigger",
        "hello",
        "--key",
        "k",
        "--data",
        &event("a"),
        "--wait",
    ];
    let output = home.run(&words);
    ends(&output, 1, &["no server works on it", "semel serve"]);
    let run = stdout(&output).trim().to_owned();
    ends(
        &home.run(&["runs", "watch", &run]),
        1,
        &["no server works on it"],
    );
    let server = home.serve(&[]);
    ends(&home.run(&["runs", "watch", &run]), 0, &["is done"]);
    server.stop();
    // What is over can be looked at without a server.
    ends(&home.run(&["runs", "watch", &run]), 0, &["is done"]);
    assert_eq!(sink.seen().len(), 1);
}

#[test]
fn a_run_is_followed_over_a_restart_of_the_server() {
    let Ran {
        home,
        run,
        _server: server,
        ..
    } = ran(Habit::Silent);
    let mut command = home.command(&["runs", "watch", &run]);
    let watch = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server.stop();
    let _server = home.serve(&[]);
    let words = [
        "ledger",
        "decide",
        "hello/say",
        "signup/a/say",
        "--decision",
        "happened",
    ];
    ends(&home.run(&words), 0, &[]);
    let output = watch.wait_with_output().unwrap();
    ends(&output, 0, &["is done"]);
    let told_once = stdout(&output).matches("opened").count();
    assert_eq!(told_once, 1, "{}", told(&output));
}
