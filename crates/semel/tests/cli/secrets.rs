//! `semel secrets`, with and without a server, and what a start does without the right key.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::hostile::{request, rest};
use crate::sink::{Sink, event, flow, home};
use crate::support::{Home, ends, stderr, stdout, told};

fn set(home: &Home, name: &str, value: &str) {
    ends(
        &home.feed(&["secrets", "set", name], value.as_bytes()),
        0,
        &[&format!("{name} is set")],
    );
}

fn names(home: &Home) -> Vec<Value> {
    let listed = home.json(&["secrets", "ls", "--json"]);
    let secrets = listed["secrets"].as_array().unwrap().iter();
    secrets.map(|secret| secret["name"].clone()).collect()
}

#[test]
fn check_and_deploy_tell_which_secrets_the_server_lacks() {
    let home = home();
    let source = flow(&Sink::new(), "say").replace("json:", "bearer: '${{ secrets.KEY }}', json:");
    let file = home.file("hello.yaml", source);
    let lacks = "hello.yaml needs the secret KEY, which the server lacks: semel secrets set KEY";
    // Whether it is missing is not known before there is a server.
    let alone = home.run(&["deploy", &file]);
    ends(&alone, 0, &[]);
    assert!(!stderr(&alone).contains("KEY"), "{}", stderr(&alone));
    let _server = home.serve(&[]);
    for words in [["check", "--against", "live"].as_slice(), &["deploy"]] {
        ends(&home.run(&[words, &[&file]].concat()), 0, &[lacks]);
    }
    set(&home, "KEY", "s3cret-canary");
    for words in [["check", "--against", "live"].as_slice(), &["deploy"]] {
        let told = stderr(&home.run(&[words, &[&file]].concat()));
        assert!(!told.contains("KEY"), "{told}");
    }
}

#[test]
fn secrets_are_kept_without_a_server() {
    let home = Home::new();
    set(&home, "A", "value of a\n");
    let file = home.file("b.key", "-----BEGIN KEY-----\nabc\n-----END KEY-----\n");
    ends(&home.run(&["secrets", "set", "B", "--from", &file]), 0, &[]);
    assert_eq!(names(&home), ["A", "B"]);
    let table = stdout(&home.run(&["secrets", "ls"]));
    assert!(
        table.contains("sealed") && !table.contains("value of a"),
        "{table}"
    );
    let key = home.data().join("secrets.key");
    assert_eq!(
        fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    ends(
        &home.run(&["secrets", "rotate"]),
        0,
        &["2 secrets are sealed"],
    );
    ends(&home.run(&["secrets", "rm", "A"]), 0, &["A is removed"]);
    ends(&home.run(&["secrets", "rm", "A"]), 1, &["semel secrets ls"]);
    assert_eq!(names(&home), ["B"]);
}

#[test]
fn a_value_is_never_an_argument() {
    let home = Home::new();
    for words in [
        &["secrets", "set", "A", "hidden-word"][..],
        &["secrets", "set", "A", "-hidden-word"],
        &["secrets", "set", "A", "x", "hidden-word", "--json"],
    ] {
        let output = home.run(words);
        ends(&output, 2, &["not taken as an argument", "--from FILE"]);
        assert!(!told(&output).contains("hidden-word"), "{}", told(&output));
    }
    for (input, word) in [
        (&b""[..], "empty"),
        (b" \n", "empty"),
        (b"\xff\xfe", "UTF-8"),
        (&vec![b'x'; 16 * 1024 + 1], "limit"),
    ] {
        ends(&home.feed(&["secrets", "set", "A"], input), 2, &[word]);
    }
    ends(
        &home.feed(&["secrets", "set", "a-b"], b"value"),
        2,
        &["letters, digits"],
    );
    ends(
        &home.feed(&["secrets", "set", "rotate"], b"value"),
        2,
        &["ROTATE"],
    );
    ends(
        &home.run(&["secrets", "set", "A", "--from", "none"]),
        1,
        &["cannot read none"],
    );
    assert!(!home.data().join("secrets.key").exists(), "a key was made");
}

#[test]
fn a_server_takes_up_what_is_set_without_a_restart() {
    let (home, sink) = (home(), Sink::new());
    let with = "query: {k: '${{ secrets.CHAT }}'}, json";
    home.file("flows/hello.yaml", flow(&sink, "say").replace("json", with));
    let said = {
        let server = home.serve(&["--flows", "flows"]);
        for (nth, value) in ["first-word", "second-word"].into_iter().enumerate() {
            set(&home, "CHAT", value);
            let id = format!("e{nth}");
            let answer = request(&server, "POST /hooks/signup HTTP/1.1", &event(&id));
            assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
            rest(&home, nth + 1);
        }
        server.stop().1
    };
    assert!(said.contains("semel secrets set CHAT"), "{said}");
    let seen = sink.seen();
    assert!(seen[0].starts_with("/say?k=first-word "), "{seen:?}");
    assert!(seen[1].starts_with("/say?k=second-word "), "{seen:?}");
    // Without a warning, because it is there.
    let (_, said) = home.serve(&["--flows", "flows"]).stop();
    assert!(!said.contains("needs the secret"), "{said}");
}

#[test]
fn the_environment_counts_and_that_is_said() {
    let home = Home::new();
    let server = home.serve_with(&[], &[("SEMEL_SECRET_A", "of-the-environment")]);
    let output = home.feed(&["secrets", "set", "A"], b"another");
    ends(&output, 0, &["SEMEL_SECRET_A", "counts"]);
    let listed = home.json(&["secrets", "ls", "--json"]);
    assert_eq!(listed["secrets"][0]["source"], "environment");
    ends(&home.run(&["secrets", "rm", "A"]), 0, &["environment"]);
    drop(server);
}

/// Refused before anything is served, with what to do.
#[test]
fn a_server_does_not_start_without_the_right_key() {
    let home = Home::new();
    set(&home, "A", "value of a");
    let key = home.data().join("secrets.key");
    let kept = fs::read(&key).unwrap();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let finding = || {
        let told = home.json(&["doctor", "--json"]);
        let checks = told["checks"].as_array().unwrap().clone();
        let check = checks.into_iter().find(|it| it["name"] == "secrets key");
        check.unwrap()["finding"].clone()
    };
    assert_eq!(finding(), "good");

    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    ends(
        &home.run(&serve),
        1,
        &[
            "nothing is served",
            "read by others (mode 644)",
            "chmod 600",
        ],
    );
    assert_eq!(finding(), "bad");
    fs::remove_file(&key).unwrap();
    ends(
        &home.run(&serve),
        1,
        &["nothing is served", "there is no", "secrets.key"],
    );
    assert_eq!(finding(), "bad");
    for (name, value, word) in [
        ("SEMEL_SECRETS_KEY", "0a".repeat(32), "which is not here"),
        (
            "SEMEL_SECRETS_KEY",
            "short".to_owned(),
            "SEMEL_SECRETS_KEY holds no key",
        ),
        (
            "SEMEL_SECRETS_KEY_FILE",
            "/no/such/file".to_owned(),
            "there is no /no/such/file",
        ),
    ] {
        let mut command = home.command(&serve);
        let output = command.env(name, value).output().unwrap();
        assert_ne!(output.status.code(), Some(0));
        assert!(stderr(&output).contains(word), "{}", told(&output));
        assert!(!told(&output).contains("0a0a0a"), "{}", told(&output));
    }
    // The same key by another way.
    let text = String::from_utf8(kept).unwrap();
    let server = home.serve_with(&[], &[("SEMEL_SECRETS_KEY", text.trim())]);
    assert_eq!(names(&home), ["A"]);
    drop(server);
}

/// As after a crash between its first step and its second.
#[test]
fn an_unfinished_rotation_is_told_of_and_ended() {
    let home = Home::new();
    set(&home, "A", "value of a");
    let key = home.data().join("secrets.key");
    let old = fs::read_to_string(&key).unwrap();
    fs::write(&key, format!("{}\n{old}", "0b".repeat(32))).unwrap();
    let told = home.run(&["doctor"]);
    let text = stdout(&told);
    assert!(
        text.contains("holds 2 keys") && text.contains("semel secrets rotate"),
        "{text}"
    );
    let server = home.serve(&[]);
    let rotated = home.json(&["secrets", "rotate", "--json"]);
    assert_eq!(rotated["resealed"], json!(1));
    assert_eq!(fs::read_to_string(&key).unwrap().lines().count(), 1);
    drop(server);
    assert_eq!(names(&home), ["A"]);
}
