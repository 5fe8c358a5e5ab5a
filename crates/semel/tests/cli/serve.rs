//! `semel serve`: what it refuses before it serves, its token, its end.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::{Home, ends, signal, stdout, until};

#[test]
fn the_first_start_makes_a_token_that_only_its_owner_reads() {
    let home = Home::new();
    let server = home.serve(&[]);
    let token = home.data().join("token");
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(token.clone()), 0o600);
    assert_eq!(mode(home.data()), 0o700);
    assert_eq!(mode(home.data().join("semel.db")), 0o600);
    let clear = std::fs::read_to_string(&token).unwrap();
    assert!(clear.starts_with("smt_"));
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("made just now") && said.contains("curl"),
        "{said}"
    );
    assert!(!said.contains(clear.trim()), "the token is never printed");
    let again = home.serve(&[]);
    assert_eq!(std::fs::read_to_string(&token).unwrap(), clear);
    again.stop();
    std::fs::remove_file(&token).unwrap();
    works(&home);
    home.file("data/token", "smt_of_another_ledger\n");
    chmod(&token, 0o600);
    works(&home);
}

/// Asserts that a server makes a token anew and that this machine's CLI gets in with it.
fn works(home: &Home) {
    let server = home.serve(&[]);
    ends(&home.run(&["tokens", "ls"]), 0, &[]);
    let (_, said) = server.stop();
    assert!(said.contains("made just now"), "{said}");
}

fn chmod(path: &std::path::Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_token_made_before_the_first_start_does_not_lock_the_cli_out() {
    let home = Home::new();
    ends(&home.run(&["tokens", "create", "n8n"]), 0, &[]);
    works(&home);
}

#[test]
fn what_is_not_safe_is_refused_before_serving() {
    let home = Home::new();
    let server = home.serve(&[]);
    let pid = server.child.id().to_string();
    let in_use = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    ends(&in_use, 1, &["is in use", &pid, "fix:"]);
    let address = server.url.strip_prefix("http://").unwrap();
    let other = home.path("other");
    let other = other.to_str().unwrap();
    let taken = home.run(&["serve", "--data", other, "--listen", address]);
    ends(&taken, 1, &["cannot listen on", address, "fix:"]);
    server.stop();
    let token = home.data().join("token");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    let open = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    ends(&open, 1, &["can be read by others (mode 644)", "chmod 600"]);
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    newer(&home);
    ends(
        &home.run(&["serve", "--listen", "127.0.0.1:0"]),
        1,
        &["schema 999", "newer semel"],
    );
    ends(&home.run(&["ledger", "ls"]), 1, &["schema 999"]);
    let file = home.file("file", "");
    ends(
        &home.run(&["serve", "--data", &file]),
        1,
        &["cannot make the directory"],
    );
    for (words, says) in [
        (&["serve", "--listen", "nowhere"][..], "HOST:PORT"),
        (&["serve", "--log", "=="], "log"),
        (&["serve", "--log", "loud"], "log"),
        (&["serve", "--keep", "0s"], "keep"),
        (&["serve", "--remember", "30"], "no unit"),
        (&["serve", "--store", "mysql://x"], "is not an address"),
    ] {
        ends(&home.run(words), 2, &[says]);
    }
}

/// Makes the database look as if a later version had written it.
fn newer(home: &Home) {
    let database = home.data().join("semel.db");
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
}

#[test]
fn signals_end_it_in_good_order() {
    for name in ["TERM", "INT"] {
        let home = Home::new();
        let mut server = home.serve(&[]);
        signal(server.child.id(), name);
        let status = until("the server ends", || server.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0), "{name}");
        assert_eq!(home.read("data/semel.lock"), "");
    }
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let home = Home::new();
    let server = home.serve(&[]);
    let made = home.run(&["tokens", "create", "n8n"]);
    ends(&made, 0, &["only time"]);
    let clear = stdout(&made).trim().to_owned();
    let asks = |token: &str| {
        home.command(&["ledger", "ls"])
            .env("SEMEL_SERVER", &server.url)
            .env("SEMEL_TOKEN", token)
            .output()
            .unwrap()
    };
    ends(&asks(&clear), 0, &[]);
    let listed = home.json(&["tokens", "ls", "--json"]);
    let tokens = listed["tokens"].as_array().unwrap();
    let id = tokens.iter().find(|token| token["name"] == "n8n").unwrap()["id"]
        .as_str()
        .unwrap();
    assert!(!listed.to_string().contains(&clear));
    ends(&home.run(&["tokens", "revoke", id]), 0, &["revoked"]);
    ends(&asks(&clear), 1, &["token"]);
    ends(
        &home.run(&["tokens", "revoke", "tok_none"]),
        1,
        &["no such token"],
    );
    server.stop();
    let out = home.path("new.token");
    let words = ["tokens", "create", "local", "--out", out.to_str().unwrap()];
    ends(&home.run(&words), 0, &["new.token"]);
    ends(&home.run(&words), 2, &["is there already"]);
    let mode = std::fs::metadata(&out).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn doctor_looks_and_tells() {
    let home = Home::new();
    ends(&home.run(&["doctor"]), 1, &[]);
    assert!(!home.data().exists(), "looking makes nothing");
    let server = home.serve(&[]);
    let healthy = home.json(&["doctor", "--json"]);
    assert_eq!(healthy["ok"], true, "{healthy}");
    let text = home.run(&["doctor"]);
    assert!(stdout(&text).contains("✓ server"), "{}", stdout(&text));
    server.stop();
    let token = home.data().join("token");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    let sick = home.run(&["doctor"]);
    ends(&sick, 1, &[]);
    assert!(stdout(&sick).contains("✗ token file") && stdout(&sick).contains("chmod 600"));
}

#[test]
fn a_visitor_and_a_stranger_see_the_same() {
    let home = Home::new();
    home.once("k", "echo out").output().unwrap();
    let own = home.json(&["ledger", "get", "s", "k", "--json"]);
    let server = home.serve(&[]);
    let served = home.json(&["ledger", "get", "s", "k", "--json"]);
    assert_eq!(own, served);
    let token = std::fs::read_to_string(home.data().join("token")).unwrap();
    let curl = Command::new("curl")
        .args([
            "-s",
            "-H",
            &format!("Authorization: Bearer {}", token.trim()),
        ])
        .arg(format!("{}/v1/ledger/s/k", server.url))
        .output();
    if let Ok(curl) = curl {
        let foreign: serde_json::Value = serde_json::from_slice(&curl.stdout).unwrap();
        assert_eq!(own, foreign);
    }
}
