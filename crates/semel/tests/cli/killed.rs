//! Signals and deaths: what semel passes on, what it survives, and what it asks.

use std::process::Stdio;

use crate::support::{Home, ends, signal, stderr, stdout, until};

/// Starts a command that says when it runs, and waits until it does.
fn started(home: &Home, script: &str) -> std::process::Child {
    let script = format!("echo run >> seen; {script}");
    let mut command = home.once("k", &script);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command runs", || {
        home.read("seen").contains("run").then_some(())
    });
    child
}

#[test]
fn signals_are_passed_on_and_the_end_is_recorded() {
    for (name, code) in [("TERM", 9), ("INT", 9), ("HUP", 9)] {
        let home = Home::new();
        let child = started(
            &home,
            "trap 'echo caught; exit 9' TERM INT HUP; echo r >> ready; while :; do sleep 0.05; done",
        );
        until("the trap is set", || {
            home.read("ready").contains('r').then_some(())
        });
        signal(child.id(), name);
        let output = child.wait_with_output().unwrap();
        ends(&output, code, &[]);
        assert_eq!(stdout(&output), "caught\n", "{name}");
        ends(
            &home.once("k", "echo never").output().unwrap(),
            code,
            &["replayed"],
        );
        assert_eq!(home.read("seen"), "run\n");
    }
}

#[test]
fn a_command_that_dies_of_a_signal_is_unknown() {
    let home = Home::new();
    let child = started(&home, "exec sleep 600");
    signal(child.id(), "TERM");
    let output = child.wait_with_output().unwrap();
    ends(&output, 143, &["signal", "unknown"]);
    ends(
        &home.once("k", "echo never >> seen").output().unwrap(),
        3,
        &["nobody knows"],
    );
    assert_eq!(home.read("seen"), "run\n");
}

#[test]
fn a_killed_semel_is_noticed_at_once_and_a_person_decides() {
    let home = Home::new();
    let mut child = started(&home, "exec sleep 600");
    signal(child.id(), "KILL");
    child.wait().unwrap();
    let data = home.data();
    let data = data.to_str().unwrap();
    let decide = format!("semel ledger decide s k --decision resend --data {data}");
    let asked = home.once("k", "echo never >> seen").output().unwrap();
    ends(
        &asked,
        3,
        &[
            "nobody knows",
            &decide,
            "--decision happened",
            "--decision failed",
        ],
    );
    let late = home.run(&[
        "ledger",
        "decide",
        "s",
        "k",
        "--decision",
        "resend",
        "--attempt",
        "7",
    ]);
    ends(&late, 1, &["the latest attempt is 1"]);
    // What is shown can be pasted.
    let shown = stderr(&asked);
    let line = shown.lines().find_map(|line| {
        line.split_once(": ")
            .filter(|(_, command)| command.contains("resend"))
    });
    let command = line.unwrap().1.trim().strip_prefix("semel").unwrap();
    let decided = std::process::Command::new("sh")
        .args([
            "-c",
            &format!("{}{command} --note looked", env!("CARGO_BIN_EXE_semel")),
        ])
        .env("USER", "ada")
        .output()
        .unwrap();
    ends(&decided, 0, &["released"]);
    let ran = home.once("k", "echo resent >> seen").output().unwrap();
    ends(&ran, 0, &[]);
    assert_eq!(home.read("seen"), "run\nresent\n");
    ends(
        &home.once("k", "echo never >> seen").output().unwrap(),
        0,
        &["attempt 2"],
    );
    let card = home.json(&["ledger", "get", "s", "k", "--json"]);
    assert_eq!(card["decisions"][0]["decision"], "resend");
    assert_eq!(card["decisions"][0]["by"], "ada (token local)");
}

#[test]
fn rules_for_the_unknown_need_no_person() {
    for (rule, code, seen) in [
        ("retry", 0, "run\nagain\n"),
        ("skip", 0, "run\n"),
        ("ask", 3, "run\n"),
    ] {
        let home = Home::new();
        let mut child = started(&home, "exec sleep 600");
        signal(child.id(), "KILL");
        child.wait().unwrap();
        let words = [
            "once",
            "--scope",
            "s",
            "--key",
            "k",
            "--on-unknown",
            rule,
            "--",
            "sh",
            "-c",
            "echo again >> seen",
        ];
        ends(&home.run(&words), code, &[]);
        assert_eq!(home.read("seen"), seen, "{rule}");
    }
}

#[test]
fn a_live_owner_is_busy_and_a_long_command_keeps_its_claim() {
    let home = Home::new();
    let mut command = home.command(&[
        "once",
        "--scope",
        "s",
        "--key",
        "k",
        "--lease",
        "1s",
        "--owner",
        "night\u{202e}shift",
        "--",
        "sh",
        "-c",
        "echo run >> seen; while [ ! -e stop ]; do sleep 0.05; done",
    ]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command runs", || {
        home.read("seen").contains("run").then_some(())
    });
    let pid = format!("(process {})", child.id());
    let busy = home.once("k", "echo never >> seen").output().unwrap();
    ends(&busy, 5, &["busy", "night\\u{202e}shift", &pid, "until"]);
    let until_first = home.json(&["ledger", "get", "s", "k", "--json"])["lease_until"].clone();
    until("the claim is extended", || {
        let now = home.json(&["ledger", "get", "s", "k", "--json"])["lease_until"].clone();
        (now != until_first).then_some(())
    });
    home.file("stop", "");
    ends(&child.wait_with_output().unwrap(), 0, &[]);
    assert_eq!(home.read("seen"), "run\n");
}

#[test]
fn a_claim_that_ran_out_is_told_and_not_settled_as_done() {
    let home = Home::new();
    let script = "echo run >> seen; while [ ! -e stop ]; do sleep 0.05; done";
    let mut command = home.command(&[
        "once", "--scope", "s", "--key", "k", "--lease", "1s", "--", "sh", "-c", script,
    ]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command runs", || {
        home.read("seen").contains("run").then_some(())
    });
    // A machine that sleeps: semel stands still while the lease runs out.
    signal(child.id(), "STOP");
    until("the lease runs out", || {
        (home.json(&["ledger", "get", "s", "k", "--json"])["state"] == "unknown").then_some(())
    });
    home.file("stop", "");
    signal(child.id(), "CONT");
    let output = child.wait_with_output().unwrap();
    ends(
        &output,
        3,
        &["exit code 0", "run out", "--decision happened"],
    );
    assert_eq!(
        home.json(&["ledger", "get", "s", "k", "--json"])["state"],
        "unknown"
    );
}
