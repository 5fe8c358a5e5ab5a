//! Backups while others write, and what a restore cannot know.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::support::{Home, ends, signal, until};

#[test]
fn a_backup_made_while_serving_is_restored_with_open_claims_unknown() {
    let home = Home::new();
    let server = home.serve(&[]);
    ends(&home.once("before", "echo out").output().unwrap(), 0, &[]);
    let mut command = home.once("open", "echo run >> seen; exec sleep 600");
    let mut open = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the command runs", || {
        home.read("seen").contains("run").then_some(())
    });
    let backup = home.path("b.db");
    let file = backup.to_str().unwrap();
    ends(&home.run(&["backup", file]), 0, &["checked"]);
    ends(
        &home.run(&["backup", file]),
        1,
        &["is there already", "--force"],
    );
    ends(&home.run(&["backup", file, "--force"]), 0, &[]);
    let mode = std::fs::metadata(&backup).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    ends(&home.once("after", "true").output().unwrap(), 0, &[]);
    let other = home.path("other");
    let words = ["restore", file, "--data", other.to_str().unwrap()];
    ends(
        &home.run(&words),
        0,
        &["1 effects were claimed", "import it from the destination"],
    );
    ends(&home.run(&words), 1, &["there is a ledger", "--force"]);
    let states = home.json(&["ledger", "ls", "--json", "--data", words[3]]);
    let state = |key: &str| {
        let effects = states["effects"].as_array().unwrap();
        effects
            .iter()
            .find(|effect| effect["key"] == key)
            .map(|effect| effect["state"].clone())
    };
    assert_eq!(state("before"), Some("done".into()));
    assert_eq!(state("open"), Some("unknown".into()));
    assert_eq!(state("after"), None);
    ends(&home.run(&["restore", file, "--force"]), 1, &["is in use"]);
    signal(open.id(), "KILL");
    open.wait().unwrap();
    server.stop();
    ends(
        &home.run(&["restore", file, "--force"]),
        0,
        &["the ledger that was there is now"],
    );
    let names = std::fs::read_dir(home.data()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let aside = names
        .filter(|name| name.contains(".before-"))
        .collect::<Vec<_>>();
    assert_eq!(
        aside.len(),
        1,
        "all of the old ledger is in one file: {aside:?}"
    );
    let aside = format!("sqlite:{}", home.data().join(&aside[0]).display());
    let old = home.json(&["ledger", "get", "s", "after", "--json", "--store", &aside]);
    assert_eq!(old["state"], "done", "{old}");
    ends(
        &home.once("before", "echo never").output().unwrap(),
        0,
        &["already done"],
    );
}

#[test]
fn what_is_not_a_backup_is_refused() {
    let home = Home::new();
    let text = home.file("text", "hello");
    ends(&home.run(&["restore", &text]), 1, &["cannot read"]);
    let missing = home.path("missing");
    ends(
        &home.run(&["restore", missing.to_str().unwrap()]),
        1,
        &["cannot read"],
    );
    let empty = home.path("empty.db");
    let connection = rusqlite::Connection::open(&empty).unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    ends(
        &home.run(&["restore", empty.to_str().unwrap()]),
        1,
        &["not a backup of semel"],
    );
    connection.pragma_update(None, "user_version", 999).unwrap();
    ends(
        &home.run(&["restore", empty.to_str().unwrap()]),
        1,
        &["schema 999"],
    );
    assert!(!home.data().exists());
    ends(&home.run(&["backup", "b.db"]), 1, &["there is no ledger"]);
    ends(
        &home.run(&["backup", "b.db", "--store", "postgres://h/d"]),
        2,
        &["pg_dump"],
    );
    ends(
        &home.run(&["restore", &text, "--store", "postgres://h/d"]),
        2,
        &["pg_restore"],
    );
}
