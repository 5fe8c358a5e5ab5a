//! `semel demo`: what it shows must be true.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Home, ends, signal};

/// What whoever follows the link is answered.
fn enter(link: &str) -> String {
    let (address, path) = link
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A storm with a kill in it, ended by Ctrl-C: the shop saw everything once, and nothing stays behind.
#[test]
fn a_storm_is_seen_once_and_ends_clean() {
    let home = Home::new();
    let mut command = home.command(&["demo", "--json", "--rate", "40"]);
    let temporary = home.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    command
        .env("TMPDIR", &temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut demo = command.spawn().unwrap();
    let mut told = BufReader::new(demo.stderr.take().unwrap()).lines();
    let page = told.next().unwrap().unwrap();
    let entered = enter(page.rsplit(' ').next().unwrap());
    assert!(entered.starts_with("HTTP/1.1 303"), "{entered}");
    assert!(entered.contains("set-cookie: semel="), "{entered}");
    // Goes on for a while behind the kill, so that what it broke is put right in the middle of the storm.
    let tells_of_a_kill = |line: &str| line.contains(" kills") && !line.contains(" 0 kills");
    told.find(|line| tells_of_a_kill(line.as_ref().unwrap()))
        .expect("a line that tells of the kill")
        .unwrap();
    signal(demo.id(), "INT");
    let words: Vec<String> = told.map_while(Result::ok).collect();
    let output = demo.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}");

    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["verdict"], "once", "{outcome}");
    let traffic = &outcome["traffic"];
    let count = |value: &Value| value.as_u64().unwrap();
    assert!(count(&traffic["kills"]) >= 1, "{outcome}");
    assert!(count(&traffic["blocked"]) > 0, "{outcome}");
    assert!(count(&traffic["deliveries"]) > count(&traffic["accepted"]));
    for effects in ["contacts", "mails", "charges", "parcels"] {
        assert!(count(&outcome[effects]["once"]) > 0, "{outcome}");
        assert_eq!(count(&outcome[effects]["twice"]), 0, "{outcome}");
    }
    let address = outcome["url"].as_str().unwrap().strip_prefix("http://");
    assert!(
        TcpStream::connect(address.unwrap()).is_err(),
        "the server is still there"
    );
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn what_is_somebody_elses_is_left_alone() {
    let home = Home::new();
    let own = "remember = \"90d\"\n";
    home.file("semel.toml", own);
    let output = home.run(&["demo", "--for", "1s", "--keep", "."]);
    ends(&output, 2, &["not a demo's", "--keep DIR"]);
    assert_eq!(home.read("semel.toml"), own);
    assert!(!home.path("flows").exists());
}
