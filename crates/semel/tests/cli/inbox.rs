//! The inbox from the shell: with a server, and on the file alone.

use semel_ledger::json::Canonical;
use semel_ledger::{
    Command, Decision, Digest, EffectId, Fence, Fingerprint, Millis, Request, Scope,
};
use semel_store::{Content, EffectChange, Location, Options, Store};
use serde_json::{Value, json};

use crate::sink::{Habit, Sink, event, flow, home};
use crate::support::{Home, Server, ends, stderr, stdout, told, until};

/// A server with one flow whose answers are lost, so that each of its runs waits for a person.
struct Lost {
    home: Home,
    sink: Sink,
    server: Server,
    runs: Vec<String>,
}

fn lost(keys: &[&str]) -> Lost {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/hello.yaml", flow(&sink, "say"));
    let server = home.serve(&["--flows", "flows"]);
    sink.becomes(Habit::Silent);
    let trigger = |key: &&str| {
        let event = event(key);
        let words = ["trigger", "hello", "--key", key, "--wait", "--data", &event];
        let output = home.run(&words);
        assert_eq!(output.status.code(), Some(3), "{}", told(&output));
        stdout(&output).trim().to_owned()
    };
    let runs = keys.iter().map(trigger).collect();
    Lost {
        home,
        sink,
        server,
        runs,
    }
}

fn items(home: &Home) -> Vec<Value> {
    let listed = home.json(&["inbox", "ls", "--json"]);
    listed["items"].as_array().unwrap().clone()
}

fn done(home: &Home, run: &str) {
    until("the run is done", || {
        let shown = home.json(&["runs", "show", run, "--json"]);
        (shown["state"] == "done").then_some(())
    });
}

#[test]
fn what_waits_is_listed_shown_and_decided() {
    let Lost {
        home,
        sink,
        server: _server,
        runs,
    } = lost(&["a"]);
    let item = items(&home).remove(0);
    assert_eq!(item["run"], runs[0]);
    assert_eq!(
        (&item["flow"], &item["step"]),
        (&json!("hello"), &json!("say"))
    );
    let id = item["id"].as_str().unwrap();
    let listed = home.run(&["inbox", "ls", "--flow", "hello", "--kind", "review"]);
    ends(&listed, 0, &[]);
    assert!(stdout(&listed).contains(&id[..17]), "{}", told(&listed));
    assert!(stdout(&listed).contains("hello/say"));
    let shown = home.run(&["inbox", "show", &id[..17]]);
    ends(&shown, 0, &[]);
    for word in [
        id,
        &runs[0],
        "happened",
        "resend",
        "semel inbox decide",
        "unknown → review",
    ] {
        assert!(stdout(&shown).contains(word), "{word}: {}", told(&shown));
    }
    let wrong = home.run(&["inbox", "approve", id]);
    ends(&wrong, 2, &["must be happened, resend or failed"]);
    sink.becomes(Habit::Obliging);
    let words = [
        "inbox",
        "decide",
        id,
        "--decision",
        "happened",
        "--note",
        "seen \u{1b}[31m",
    ];
    let decided = home.run(&words);
    ends(&decided, 0, &[]);
    assert!(
        stdout(&decided).contains("is recorded: happened by ada"),
        "{}",
        told(&decided)
    );
    assert!(!stdout(&decided).contains('\u{1b}'), "{}", told(&decided));
    done(&home, &runs[0]);
    assert_eq!(sink.seen().len(), 1, "it is not sent again");
    let again = home.run(&words);
    ends(&again, 0, &[]);
    assert!(
        stdout(&again).contains("was recorded before"),
        "{}",
        told(&again)
    );
    let opposite = home.run(&["inbox", "decide", id, "--decision", "resend"]);
    ends(&opposite, 4, &["ada", "happened"]);
    let none = home.run(&["inbox", "show", "item_00000000"]);
    ends(&none, 1, &["semel inbox ls"]);
    let empty = home.run(&["inbox", "ls"]);
    ends(&empty, 0, &["nothing waits for a person"]);
}

#[test]
fn many_are_shown_first_and_decided_by_their_hash() {
    let Lost {
        home,
        sink,
        server: _server,
        runs,
    } = lost(&["a", "b"]);
    sink.becomes(Habit::Obliging);
    let words = [
        "inbox",
        "decide",
        "--flow",
        "hello",
        "--step",
        "say",
        "--decision",
        "resend",
    ];
    let shown = home.run(&words);
    ends(&shown, 3, &["nothing was decided", "--hash"]);
    let text = stdout(&shown);
    let hash = text
        .lines()
        .find_map(|line| line.strip_prefix("set hash: "));
    let hash = hash.unwrap().to_owned();
    assert_eq!(home.json(&[&words[..], &["--json"]].concat())["hash"], hash);
    assert_eq!(items(&home).len(), 2);
    let other = home.run(&[&words[..], &["--hash", "0123"]].concat());
    ends(&other, 4, &["has changed"]);
    assert!(
        stdout(&other).contains(&hash),
        "the set as it is: {}",
        told(&other)
    );
    assert_eq!(sink.seen().len(), 2);
    let decided = home.run(&[&words[..], &["--hash", &hash]].concat());
    ends(&decided, 0, &[]);
    assert!(
        stdout(&decided).contains("2 recorded, 0 refused"),
        "{}",
        told(&decided)
    );
    for run in &runs {
        done(&home, run);
    }
    assert_eq!(sink.seen().len(), 4, "each was sent once more");
    let nothing = home.run(&words);
    ends(&nothing, 0, &["nothing waits that matches"]);
    let everything = home.run(&["inbox", "decide", "--decision", "resend"]);
    ends(&everything, 2, &["neither an item nor a filter"]);
}

#[test]
fn on_the_file_alone_a_decision_waits_for_the_server() {
    let Lost {
        home,
        sink,
        server,
        runs,
    } = lost(&["a"]);
    assert_eq!(server.stop().0, Some(0));
    let id = items(&home).remove(0)["id"].as_str().unwrap().to_owned();
    let decided = home.run(&["inbox", "decide", &id, "--decision", "resend", "--json"]);
    ends(&decided, 0, &[]);
    let told: Value = serde_json::from_slice(&decided.stdout).unwrap();
    assert_eq!(told["status"], "recorded");
    assert_eq!(told["decided"]["by"], "ada (token local)");
    assert_eq!(sink.seen().len(), 1);
    sink.becomes(Habit::Obliging);
    let me = home.run(&["inbox", "ls", "--for", "me"]);
    ends(&me, 2, &["name the person"]);
    let _server = home.serve(&["--flows", "flows"]);
    done(&home, &runs[0]);
    assert_eq!(sink.seen().len(), 2);
    assert_eq!(
        stderr(&home.run(&["inbox", "ls"])),
        "semel: nothing waits for a person\n"
    );
}

/// Lets the run of an item ask for leave in place of its lost answer.
fn asks(home: &Home, item: &Value, needed: u32) {
    let text = |name: &str| item[name].as_str().unwrap().to_owned();
    let key = text("key").parse().unwrap();
    let effect = EffectId::new(Scope::new(&text("scope")).unwrap(), key);
    let request = json!({"approve": {
        "ask": "Pay \u{1b}[31m500?", "show": {"to": "Eve", "amount": 9_007_199_254_740_993_u64},
        "by": ["group:finance"], "needed": needed, "maker": "cas", "allow_maker": false,
        "run": item["run"], "step": "say", "flow": "hello", "until": 4_000_000_000_000_u64, "round": 1,
    }});
    let decide = Command::Decide {
        decision: Decision::Resend,
        attempt: None,
        digest: Digest::of_decision([Some("test")]),
    };
    let ask = Command::Request(Request {
        fence: Fence([7; 16]),
        fingerprint: Fingerprint([9; 32]),
        remember: Millis::days(1),
    });
    let content = Content {
        by: Some(text("run").into()),
        input: Some(Canonical::read(request.to_string().as_bytes()).unwrap()),
        ..Content::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let location = Location::Sqlite(home.data().join("semel.db"));
        let store = Store::open(&location, Options::default()).await.unwrap();
        let first = EffectChange::bare(effect.clone(), decide);
        store.step(first).await.unwrap();
        let second = EffectChange {
            effect,
            command: ask,
            content,
        };
        store.step(second).await.unwrap();
        store.close().await.unwrap();
    });
}

#[test]
fn requests_are_answered_by_those_who_may() {
    let Lost { home, server, .. } = lost(&["a"]);
    assert_eq!(server.stop().0, Some(0));
    home.file(
        "semel.toml",
        "[groups]\nfinance = [\"ann\", \"bob\", \"cas\"]\n",
    );
    asks(&home, &items(&home)[0], 2);
    let id = items(&home).remove(0)["id"].as_str().unwrap().to_owned();
    let shown = home.run(&["inbox", "show", &id]);
    ends(&shown, 0, &[]);
    for word in [
        "Pay \\u{1b}[31m500?",
        "amount  9007199254740993",
        "ann, bob)",
        "0 of 2",
        "semel inbox approve",
    ] {
        assert!(stdout(&shown).contains(word), "{word}: {}", told(&shown));
    }
    assert!(!stdout(&shown).contains('\u{1b}'));
    let by = |who, verb| home.run(&["inbox", verb, &id, "--by", who]);
    ends(&by("mallory", "approve"), 1, &["not among"]);
    ends(&by("cas", "approve"), 1, &["maker and checker"]);
    let link = home.run(&["inbox", "link", &id, "--for", "bob"]);
    ends(&link, 0, &["for bob alone"]);
    assert!(
        stdout(&link).starts_with("http://127.0.0.1:7351/approve/"),
        "{}",
        told(&link)
    );
    let first = by("ann", "approve");
    ends(&first, 3, &[]);
    assert!(stdout(&first).contains("1 more needed"), "{}", told(&first));
    let changed = home.run(&["inbox", "approve", &id, "--by", "bob", "--hash", "0123"]);
    ends(&changed, 4, &["has changed"]);
    let second = by("bob", "approve");
    ends(&second, 0, &[]);
    assert!(
        stdout(&second).contains("is recorded: approve by bob (token local)"),
        "{}",
        told(&second)
    );
    ends(&by("ann", "reject"), 4, &["bob (token local)"]);
    let both = home.run(&[
        "inbox",
        "approve",
        &id,
        "item_00000000",
        "--by",
        "ann",
        "--json",
    ]);
    let document: Value = serde_json::from_slice(&both.stdout).unwrap();
    assert_eq!(both.status.code(), Some(1), "{}", told(&both));
    assert_eq!(document["items"][0]["status"], "already_recorded");
    assert_eq!(document["items"][1]["error"]["exit"], 1);
}
