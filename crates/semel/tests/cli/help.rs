//! Help, completions and errors in words.

use crate::support::{Home, ends, stderr, stdout};

const VERBS: &[&[&str]] = &[
    &[],
    &["check"],
    &["prove"],
    &["init"],
    &["deploy"],
    &["diff"],
    &["flows"],
    &["graph"],
    &["flows", "ls"],
    &["flows", "show"],
    &["flows", "retire"],
    &["releases"],
    &["rollback"],
    &["schema"],
    &["trigger"],
    &["runs"],
    &["runs", "ls"],
    &["runs", "show"],
    &["runs", "watch"],
    &["runs", "cancel"],
    &["runs", "resume"],
    &["runs", "retry"],
    &["rerun"],
    &["inbox"],
    &["inbox", "ls"],
    &["inbox", "show"],
    &["inbox", "approve"],
    &["inbox", "reject"],
    &["inbox", "decide"],
    &["inbox", "link"],
    &["receipt"],
    &["receipt", "verify"],
    &["receipt", "key"],
    &["serve"],
    &["once"],
    &["ledger"],
    &["ledger", "ls"],
    &["ledger", "get"],
    &["ledger", "decide"],
    &["ledger", "import"],
    &["ledger", "export"],
    &["receipts"],
    &["secrets"],
    &["secrets", "set"],
    &["secrets", "ls"],
    &["secrets", "rm"],
    &["secrets", "rotate"],
    &["kv"],
    &["kv", "get"],
    &["kv", "set"],
    &["kv", "ls"],
    &["kv", "rm"],
    &["tokens"],
    &["tokens", "create"],
    &["people"],
    &["people", "ls"],
    &["people", "add"],
    &["people", "role"],
    &["people", "password"],
    &["people", "link"],
    &["people", "remove"],
    &["people", "setup"],
    &["audit"],
    &["backup"],
    &["restore"],
    &["doctor"],
    &["top"],
    &["config", "show"],
    &["explain"],
    &["completions"],
];

#[test]
fn every_verb_shows_an_example() {
    let home = Home::new();
    for &verb in VERBS {
        let output = home.run(&[verb, &["--help"]].concat());
        ends(&output, 0, &[]);
        let text = stdout(&output);
        assert!(
            text.contains("EXAMPLE") && text.contains("  semel "),
            "{verb:?}:\n{text}"
        );
        assert!(
            !text.contains('\u{1b}'),
            "{verb:?}: no colour without a terminal"
        );
    }
}

#[test]
fn wrong_words_get_a_suggestion() {
    let home = Home::new();
    for (words, says) in [
        (&["legder", "ls"][..], "ledger"),
        (&["ledger", "ls", "--stat", "done"], "--state"),
        (&["ledger", "decide", "s", "k"], "--decision"),
        (
            &["ledger", "decide", "s", "k", "--decision", "resnd"],
            "resend",
        ),
        (
            &[
                "ledger",
                "decide",
                "s",
                "k",
                "--decision",
                "happened",
                "--result",
                "{",
            ],
            "is not JSON",
        ),
        (&["explain", "nonsense"], "semel explain lists"),
        (&["runs", "ls", "--state", "parkd"], "parked"),
        (&["runs", "ls", "--since", "2026-13-01"], "is not a time"),
        (&["rerun", "run_1"], "--plan"),
        (&["rerun", "--plan"], "<RUN>"),
        (&["rerun", "--unit", "k", "--plan"], "--flow"),
        (&["receipt", "order-1"], "--flow FLOW"),
        (&["receipt", "evt_1NXa"], "--flow FLOW"),
        (&["receipt", "verify", "no.json"], "cannot read no.json"),
        (&["receipts", "--key", "k"], "--scope"),
        (&["receipts", "--since", "2026-13-01"], "is not a time"),
        (&["check", "--agianst", "x"], "--against"),
        (&["deploy", "--drft", "x"], "--draft"),
        (&["trigger", "f", "--kee", "k"], "--key"),
    ] {
        ends(&home.run(words), 2, &[says]);
    }
    for &verb in VERBS {
        let output = home.run(&[verb, &["--no-such-flag"]].concat());
        ends(&output, 2, &["--no-such-flag"]);
        let token = home.run(&[verb, &["--token", "smt_clear"]].concat());
        assert_eq!(
            token.status.code(),
            Some(2),
            "{verb:?}: a token on the line"
        );
        assert!(!stderr(&token).contains("smt_clear"), "{}", stderr(&token));
    }
}

#[test]
fn codes_are_explained() {
    let home = Home::new();
    let page = home.run(&["explain", "stale_token"]);
    ends(&page, 0, &[]);
    assert!(stdout(&page).contains("stale_token"), "{}", stdout(&page));
    let all = home.json(&["explain", "--json"]);
    assert!(all["codes"].as_array().unwrap().len() > 20);
}

#[test]
fn shells_can_complete() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = home.run(&["completions", shell]);
        ends(&output, 0, &[]);
        assert!(stdout(&output).contains("semel"), "{shell}");
    }
}

#[test]
fn errors_are_json_too_when_asked() {
    let home = Home::new();
    let output = home.run(&["ledger", "ls", "--json"]);
    ends(&output, 1, &["semel: error: there is no ledger"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["error"]["exit"], 1);
    assert!(
        document["error"]["fix"]
            .as_str()
            .unwrap()
            .contains("--data")
    );
    assert!(!stderr(&output).contains("stack backtrace"));
}
