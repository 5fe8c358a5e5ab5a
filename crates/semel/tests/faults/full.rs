//! A disk that is full and has room again: writes are refused with a code of their own, reads go on,
//! and nothing that was acknowledged is lost.
//!
//! Twice: on a small file system of its own, which is the real thing but needs a machine that lets
//! a test mount one, and by `strace`, which needs nothing but finds fewer places to be full in.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::client::{Answer, Client};
use crate::node::{Node, behind, serve, token_in};
use crate::support::{Home, until};
use crate::told::{Told, stranger};

/// Mounts a file system at `$1` that only this process and its children see, and becomes the rest.
const SMALL: &str = "mount -t tmpfs -o size=4m,mode=700 tmpfs \"$1\" && shift && exec \"$@\"";

const FLOW: &str = "name: f\non: {webhook: {path: /hooks/f, verify: none}}\nkey: ${{ event.id }}\nsteps:\n  - {id: note, set: {n: 1}}\n";

#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let home = Home::new();
    let Some(unshare) = own_mounts(&home) else {
        println!("this machine lets nobody mount: only the test by strace says something");
        return;
    };
    fs::create_dir(home.data()).unwrap();
    let data = home.data();
    let mut words = unshare;
    words.extend(["sh", "-c", SMALL, "sh", data.to_str().unwrap()]);
    let mut node = Node::spawn(&home, behind("unshare", &words, &serve(&home)), "data");
    let seen = seen_by(&node, &data);
    node.wait_until_serving(&seen);
    let token = token_in(&seen);
    let mut client = node.client(&token);
    let told = Told::default();
    let deployed = client.ask("POST", "/v1/flows", Some(&json!({ "source": FLOW })));
    assert_eq!(deployed.unwrap().status, 200);
    for turn in 0..50 {
        work(&mut client, &told, turn).unwrap();
    }
    let ballast = seen.join("ballast");
    fill(&ballast);
    let refused = until_full(&mut client, &told, 50);
    reads_go_on(&mut client);
    for _ in 0..5 {
        refuses(&client.claim("another", &stranger()).unwrap());
        refuses(&deliver(&mut client));
    }
    fs::remove_file(ballast).unwrap();
    let last = until_room(&mut client, &told, refused);
    work(&mut client, &told, last + 1).unwrap();
    assert_eq!(deliver(&mut client).status, 202, "nothing was half-started");
    assert_eq!(deliver(&mut client).body["status"], "duplicate");
    restarts_elsewhere(&home, &seen, &told);
    told.holds(&mut client);
    assert_eq!(node.terminate(), Some(0), "{}", node.said());
}

#[test]
fn writes_that_find_no_space_are_refused_until_they_do() {
    let home = Home::new();
    let trace = home.path("trace");
    let words = [
        "-D",
        "-f",
        "-o",
        trace.to_str().unwrap(),
        "-e",
        "trace=pwrite64",
        "-e",
        "inject=pwrite64:error=ENOSPC:when=200..230",
    ];
    let mut node = Node::spawn(&home, behind("strace", &words, &serve(&home)), "data");
    node.wait_until_serving(&home.data());
    let token = token_in(&home.data());
    let mut client = node.client(&token);
    let told = Told::default();
    let refused = until_full(&mut client, &told, 0);
    assert!(refused > 10, "full after {refused}");
    reads_go_on(&mut client);
    let last = until_room(&mut client, &told, refused);
    work(&mut client, &told, last + 1).unwrap();
    let log = fs::read_to_string(trace).unwrap();
    assert!(log.contains("ENOSPC (No space left on device) (INJECTED)"));
    node.kill();
    node = Node::start(&home);
    let (held, done) = told.holds(&mut node.client(&token));
    assert!(held > 5 && done > 5, "{held} held, {done} done");
}

/// How to run something with mounts of its own, if this machine allows it.
fn own_mounts(home: &Home) -> Option<Vec<&'static str>> {
    let probe = home.path("probe");
    fs::create_dir(&probe).unwrap();
    [vec!["--mount"], vec!["--mount", "--map-root-user"]]
        .into_iter()
        .find(|words| {
            let mut command = Command::new("unshare");
            command.args(words).args(["sh", "-c", SMALL, "sh"]);
            let output = command.arg(&probe).arg("true").output();
            output.is_ok_and(|output| output.status.success())
        })
}

/// A path as the node sees it: its mounts are its own.
fn seen_by(node: &Node, path: &Path) -> PathBuf {
    let root = format!("/proc/{}/root", node.child.id());
    Path::new(&root).join(path.strip_prefix("/").unwrap())
}

/// An event at the front door, always the same.
fn deliver(client: &mut Client) -> Answer {
    let event = json!({"id": 1});
    client.ask("POST", "/hooks/f", Some(&event)).unwrap()
}

/// Takes all the room there is.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for size in [65536, 4096] {
        let block = vec![0; size];
        while file.write_all(&block).is_ok() {}
    }
}

/// Claims, and settles every second claim. The refusal, if there was one.
fn work(client: &mut Client, told: &Told, turn: usize) -> Result<(), Answer> {
    let (key, token) = (format!("k{turn}"), stranger());
    let claimed = told.claim(client, &key, &token).unwrap();
    if claimed.status != 201 {
        return Err(claimed);
    }
    if turn.is_multiple_of(2) {
        return Ok(());
    }
    let settled = told.settle(client, &key, &token, "done").unwrap();
    match settled.status {
        200 => Ok(()),
        _ => Err(settled),
    }
}

#[track_caller]
fn refuses(answer: &Answer) {
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(answer.body["code"], "store_full", "{answer:?}");
}

/// Works until it is refused. The turn after that.
fn until_full(client: &mut Client, told: &Told, from: usize) -> usize {
    let mut turn = from;
    let refusal = until("the disk is full", || {
        turn += 1;
        work(client, told, turn).err()
    });
    refuses(&refusal);
    turn + 1
}

/// Works until it is granted again, on keys of their own. The last turn.
fn until_room(client: &mut Client, told: &Told, from: usize) -> usize {
    let mut turn = from;
    until("there is room", || {
        turn += 1;
        let answer = work(client, told, turn);
        if let Err(refusal) = &answer {
            refuses(refusal);
        }
        answer.ok()
    });
    turn
}

fn reads_go_on(client: &mut Client) {
    for path in ["/v1/ledger/faults/k1", "/v1/ledger?scope=faults", "/readyz"] {
        let answer = client.ask("GET", path, None).unwrap();
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
}

/// A server on a copy of the files, as after a power cut, stands by everything too.
fn restarts_elsewhere(home: &Home, data: &Path, told: &Told) {
    let copy = home.path("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["semel.db", "semel.db-wal", "token"] {
        fs::copy(data.join(name), copy.join(name)).unwrap();
    }
    let mut command = serve(home);
    command.env("SEMEL_DATA", &copy);
    let mut node = Node::spawn(home, command, "copy");
    node.wait_until_serving(&copy);
    let (held, done) = told.copy().holds(&mut node.client(&token_in(&copy)));
    assert!(held > 20 && done > 20, "{held} held, {done} done");
}
