//! `semel once` by itself: first, again, and every way not to run.

use crate::support::{Home, ends, stdout, told};

#[test]
fn the_first_call_runs_and_the_second_replays() {
    let home = Home::new();
    let script = "echo run >> seen; echo out; echo err >&2; exit 7";
    let first = home.once("k", script).output().unwrap();
    ends(&first, 7, &["err"]);
    assert_eq!(stdout(&first), "out\n");
    let again = home.once("k", script).output().unwrap();
    ends(
        &again,
        7,
        &[
            "err\n",
            "already done",
            "attempt 1",
            "replayed, not run",
            "[receipt rcp_",
        ],
    );
    assert_eq!(stdout(&again), "out\n");
    assert_eq!(home.read("seen"), "run\n");
    let other = home.once("other", script).output().unwrap();
    ends(&other, 7, &[]);
    assert_eq!(home.read("seen"), "run\nrun\n");
}

#[test]
fn the_command_sees_its_name_and_its_stdin() {
    let home = Home::new();
    let words = [
        "once",
        "--scope",
        "s",
        "--key",
        "a/b",
        "--part",
        "c/d",
        "--",
        "sh",
        "-c",
        "echo $SEMEL_SCOPE $SEMEL_KEY $SEMEL_ATTEMPT; cat",
    ];
    let output = home.feed(&words, b"typed\n");
    ends(&output, 0, &[]);
    assert_eq!(stdout(&output), "s a/b/c%2Fd 1\ntyped\n");
}

#[test]
fn other_input_is_a_conflict() {
    let home = Home::new();
    let words = |file: &'static str| {
        [
            "once",
            "--scope",
            "s",
            "--key",
            "k",
            "--input",
            file,
            "--",
            "sh",
            "-c",
            "echo x >> seen",
        ]
    };
    home.file(
        "a.json",
        r#"{"order": 1, "lines": [1, 2], "total": 9007199254740993}"#,
    );
    home.file(
        "b.json",
        "{\"lines\":[1,2.0],\"total\":9007199254740993,\n\"order\":1}",
    );
    home.file(
        "c.json",
        r#"{"order": 1, "lines": [1, 3], "total": 9007199254740992}"#,
    );
    ends(&home.run(&words("a.json")), 0, &[]);
    ends(&home.run(&words("b.json")), 0, &["already done"]);
    ends(
        &home.run(&words("c.json")),
        4,
        &["another input", "/lines/1", "/total"],
    );
    home.file("d.bin", b"\xff\xfe");
    ends(&home.run(&words("d.bin")), 4, &["another input"]);
    ends(
        &home.run(&words("missing.json")),
        2,
        &["--input missing.json", "No such file"],
    );
    assert_eq!(home.read("seen"), "x\n");
}

#[test]
fn input_from_stdin_is_the_fingerprint_and_still_the_commands() {
    let home = Home::new();
    let words = [
        "once", "--scope", "s", "--key", "k", "--input", "-", "--", "cat",
    ];
    let first = home.feed(&words, b"[1,2]");
    ends(&first, 0, &[]);
    assert_eq!(stdout(&first), "[1,2]");
    ends(&home.feed(&words, b" [1, 2] "), 0, &["already done"]);
    ends(&home.feed(&words, b"[1,3]"), 4, &["/1"]);
}

#[test]
fn codes_that_mean_nothing_happened_let_the_next_call_run() {
    let home = Home::new();
    let words = [
        "once",
        "--scope",
        "s",
        "--key",
        "k",
        "--retry-on",
        "75,111",
        "--",
        "sh",
        "-c",
        "echo x >> seen; [ $(wc -l < seen) -ge 2 ] || exit 75",
    ];
    ends(&home.run(&words), 75, &[]);
    let state = home.json(&["ledger", "get", "s", "k", "--json"]);
    assert_eq!(state["state"], "failed", "{state}");
    ends(&home.run(&words), 0, &[]);
    ends(&home.run(&words), 0, &["already done", "attempt 2"]);
    assert_eq!(home.read("seen"), "x\nx\n");
}

#[test]
fn a_command_that_cannot_start_is_tried_again() {
    let home = Home::new();
    let words = ["once", "--scope", "s", "--key", "k", "--", "./late"];
    ends(
        &home.run(&words),
        127,
        &["could not be started", "No such file"],
    );
    let late = home.file("late", "#!/bin/sh\necho here\n");
    ends(&home.run(&words), 126, &["Permission denied"]);
    assert!(
        std::process::Command::new("chmod")
            .args(["+x", &late])
            .status()
            .unwrap()
            .success()
    );
    let output = home.run(&words);
    ends(&output, 0, &[]);
    assert_eq!(stdout(&output), "here\n");
}

#[test]
fn json_is_one_document_and_nothing_else() {
    let home = Home::new();
    let words = [
        "once",
        "--json",
        "--scope",
        "s",
        "--key",
        "k",
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2; exit 3",
    ];
    let first = home.run(&words);
    assert_eq!(first.status.code(), Some(3), "{}", told(&first));
    let document: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(document["verdict"], "granted");
    assert_eq!(document["ran"], true);
    assert_eq!(document["exit_code"], 3);
    assert_eq!(document["stdout"]["text"], "out\n");
    assert_eq!(document["stderr"]["text"], "err\n");
    let again = home.json(&words);
    assert_eq!(again["verdict"], "done");
    assert_eq!(again["ran"], false);
    assert_eq!(again["exit_code"], 3);
    assert_eq!(again["stdout"]["text"], "out\n");
}

#[test]
fn wrong_words_exit_2_and_run_nothing() {
    let home = Home::new();
    for (words, says) in [
        (&["once", "--scope", "s", "--", "true"][..], "--key"),
        (&["once", "--scope", "s", "--key", "k"], "COMMAND"),
        (
            &["once", "--scope", " ", "--key", "k", "--", "true"],
            "scope is empty",
        ),
        (
            &["once", "--scope", "s", "--key", "100%", "--", "true"],
            "bare `%`",
        ),
        (
            &[
                "once", "--scope", "s", "--key", "k", "--lease", "10", "--", "true",
            ],
            "no unit",
        ),
        (
            &[
                "once", "--scope", "s", "--key", "k", "--lease", "10ms", "--", "true",
            ],
            "1s",
        ),
        (
            &[
                "once",
                "--scope",
                "s",
                "--key",
                "k",
                "--on-unknown",
                "maybe",
                "--",
                "true",
            ],
            "ask, retry, skip",
        ),
        (
            &["once", "--scop", "s", "--key", "k", "--", "true"],
            "--scope",
        ),
        (
            &[
                "once", "--token", "smt_x", "--scope", "s", "--key", "k", "--", "true",
            ],
            "--token-file",
        ),
    ] {
        ends(&home.run(words), 2, &[says]);
    }
    assert!(!home.data().exists());
}
