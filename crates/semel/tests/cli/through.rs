//! `semel once` and a server that comes and goes.

use std::process::Stdio;

use crate::support::{Home, ends, signal, until};

const WAITS: &str = "echo run >> seen; while [ ! -e stop ]; do sleep 0.05; done; echo out";

#[test]
fn a_server_is_used_by_address_and_token() {
    let home = Home::new();
    let server = home.serve(&[]);
    let token = home.data().join("token");
    let run = |with: &[(&str, &str)]| {
        let mut command = home.once("k", "echo run >> seen");
        command
            .env("SEMEL_DATA", home.path("elsewhere"))
            .env("SEMEL_SERVER", &server.url);
        command.envs(with.iter().copied()).output().unwrap()
    };
    let token_file = token.to_str().unwrap();
    ends(&run(&[("SEMEL_TOKEN_FILE", token_file)]), 0, &[]);
    let clear = std::fs::read_to_string(&token).unwrap();
    ends(&run(&[("SEMEL_TOKEN", clear.trim())]), 0, &["already done"]);
    ends(&run(&[("SEMEL_TOKEN", "smt_wrong")]), 1, &["token"]);
    ends(&run(&[]), 1, &["token"]);
    assert_eq!(home.read("seen"), "run\n");
    assert!(!home.path("elsewhere").exists());
}

#[test]
fn a_server_may_start_while_a_command_runs() {
    let home = Home::new();
    let mut command = home.command(&[
        "once", "--scope", "s", "--key", "k", "--lease", "1s", "--", "sh", "-c", WAITS,
    ]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command runs", || {
        home.read("seen").contains("run").then_some(())
    });
    let server = home.serve(&[]);
    ends(
        &home.once("k", "echo never >> seen").output().unwrap(),
        5,
        &["busy"],
    );
    home.file("stop", "");
    ends(&child.wait_with_output().unwrap(), 0, &[]);
    ends(
        &home.once("k", "echo never >> seen").output().unwrap(),
        0,
        &["already done"],
    );
    assert_eq!(server.stop().0, Some(0));
    ends(
        &home.once("k", "echo never >> seen").output().unwrap(),
        0,
        &["already done"],
    );
    assert_eq!(home.read("seen"), "run\n");
}

#[test]
fn a_server_may_be_killed_and_started_while_a_command_ends() {
    let home = Home::new();
    let mut server = home.serve(&[]);
    let mut command = home.once("k", WAITS);
    command
        .env_remove("SEMEL_DATA")
        .env("SEMEL_SERVER", &server.url);
    command.env("SEMEL_TOKEN_FILE", home.data().join("token"));
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command runs", || {
        home.read("seen").contains("run").then_some(())
    });
    signal(server.child.id(), "KILL");
    server.child.wait().unwrap();
    home.file("stop", "");
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let again = home.serve(&["--listen", &address]);
    ends(&child.wait_with_output().unwrap(), 0, &[]);
    ends(
        &home.once("k", "echo never >> seen").output().unwrap(),
        0,
        &["already done"],
    );
    assert_eq!(home.read("seen"), "run\n");
    drop(again);
}

#[test]
fn an_owner_killed_under_a_server_is_noticed_at_once() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let mut command = home.once("k", "echo run >> seen; exec sleep 600");
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the command runs", || {
        home.read("seen").contains("run").then_some(())
    });
    signal(child.id(), "KILL");
    child.wait().unwrap();
    ends(
        &home.once("k", "echo never >> seen").output().unwrap(),
        3,
        &["nobody knows"],
    );
    assert_eq!(home.read("seen"), "run\n");
}

#[test]
fn nothing_runs_when_the_ledger_cannot_be_reached() {
    let home = Home::new();
    let mut command = home.once("k", "echo never >> seen");
    command
        .env("SEMEL_SERVER", "http://127.0.0.1:1")
        .env("SEMEL_TOKEN", "smt_x");
    ends(
        &command.output().unwrap(),
        1,
        &["cannot reach http://127.0.0.1:1"],
    );
    let mut command = home.once("k", "echo never >> seen");
    command.env("SEMEL_SERVER", "localhost:1");
    ends(
        &command.output().unwrap(),
        2,
        &["is not an address", "http://HOST:PORT"],
    );
    assert_eq!(home.read("seen"), "");
}
