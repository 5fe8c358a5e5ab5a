//! What comes from outside stays what it is: data.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Output;

use serde_json::{Value, json};

use crate::sink::{Habit, Sink, home};
use crate::support::{Home, Server, stderr, stdout, until};

/// Sends a request of these lines and gives the answer.
pub(crate) fn request(server: &Server, lines: &str, body: &str) -> String {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let text = format!(
        "{lines}\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Waits until so many runs are over or wait for somebody.
pub(crate) fn rest(home: &Home, count: usize) -> Vec<String> {
    until("the runs rest", || {
        let states = "done,failed,parked";
        let listed = home.json(&["runs", "ls", "--state", states, "--json"]);
        let runs = listed["runs"].as_array()?;
        let name = |run: &Value| run["run"].as_str().map(str::to_owned);
        (runs.len() == count).then(|| runs.iter().filter_map(name).collect())
    })
}

/// Every way for a person to look at what is kept.
pub(crate) fn looks(home: &Home, runs: &[String]) -> Vec<Output> {
    let mut all = vec![
        home.run(&["runs", "ls"]),
        home.run(&["ledger", "ls"]),
        home.run(&["receipts"]),
        home.run(&["flows", "ls"]),
    ];
    for run in runs {
        all.push(home.run(&["runs", "show", run]));
        all.push(home.run(&["receipt", &run.replace("run_", "evt_")]));
        all.push(home.run(&["rerun", run, "--plan"]));
    }
    all
}

/// The same for a program.
pub(crate) fn data(home: &Home, runs: &[String]) -> Vec<Output> {
    let mut all = vec![
        home.run(&["runs", "ls", "--json"]),
        home.run(&["ledger", "ls", "--json"]),
        home.run(&["ledger", "export"]),
    ];
    for run in runs {
        all.push(home.run(&["runs", "show", run, "--json"]));
        all.push(home.run(&["rerun", run, "--plan", "--json"]));
    }
    all
}

#[test]
fn what_would_steer_a_terminal_is_shown_escaped() {
    let (home, sink) = (home(), Sink::new());
    let url = &sink.url;
    home.file(
        "flows/f.yaml",
        format!(
            "name: f\non: {{webhook: {{path: /hooks/f, verify: none}}}}\nkey: ${{{{ event.id }}}}\nsteps:\n  \
             - id: say\n    http: {{post: {url}/say, json: {{to: '${{{{ event.to }}}}'}}}}\n  \
             - id: end\n    fail: 'no ${{{{ event.to }}}}'\n"
        ),
    );
    let server = home.serve_with(&["--flows", "flows"], &[("SEMEL_LOG", "debug")]);
    let ids = ["-rf", "gpj\u{202e}exe", "\u{1f389}", "\u{5e9}\u{5dc}"];
    for (nth, id) in ids.into_iter().enumerate() {
        sink.becomes([Habit::Obliging, Habit::Echoing("422 No")][nth % 2]);
        let event = json!({"id": id, "to": "\u{1b}[31mred\u{1b}]0;t\u{7}\u{202e}"});
        let answer = request(&server, "POST /hooks/f HTTP/1.1", &event.to_string());
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        rest(&home, nth + 1);
    }
    let runs = rest(&home, ids.len());
    let text = |output: &Output| stdout(output) + &stderr(output);
    let mut shown: Vec<String> = looks(&home, &runs).iter().map(text).collect();
    assert!(shown.iter().any(|text| text.contains("\\u{1b}[31mred")));
    assert!(shown.iter().any(|text| text.contains("gpj\\u{202e}exe")));
    let (data, (_, log)) = (data(&home, &runs), server.stop());
    shown.push(log);
    for text in shown {
        let raw = text.find(['\u{1b}', '\u{7}', '\u{202e}']);
        assert_eq!(raw, None, "{text:?}");
    }
    // JSON has its own escapes, and a program takes every letter as it is.
    for text in data.iter().map(text) {
        assert_eq!(text.find(['\u{1b}', '\u{7}']), None, "{text:?}");
    }
}

#[test]
fn a_payload_is_rendered_once_and_kept_to_the_last_digit() {
    let (home, sink) = (home(), Sink::new());
    let url = &sink.url;
    home.file(
        "flows/f.yaml",
        format!(
            "name: f\non: {{webhook: {{path: /hooks/f, verify: none}}}}\nkey: ${{{{ event.id }}}}\nsteps:\n  \
             - id: say\n    http: {{post: {url}/say, json: {{n: '${{{{ event.n }}}}', d: '${{{{ event.d }}}}', text: '${{{{ event.text }}}}', all: 'n=${{{{ event.n }}}} ${{{{ event.text }}}}'}}}}\n"
        ),
    );
    let server = home.serve_with(&["--flows", "flows"], &[("SEMEL_SECRET_X", "hidden")]);
    let event = r#"{"id":"a","n":9007199254740993,"d":0.1000000000000000055511151231257827,"text":"${7*7} ${{ 7*7 }} ${{ secrets.X }}"}"#;
    request(&server, "POST /hooks/f HTTP/1.1", event);
    rest(&home, 1);
    let text = "${7*7} ${{ 7*7 }} ${{ secrets.X }}";
    let expected = format!(
        r#"/say {{"all":"n=9007199254740993 {text}","d":0.1000000000000000055511151231257827,"n":9007199254740993,"text":"{text}"}}"#
    );
    assert_eq!(sink.seen(), [expected]);
}

/// Nobody allowed this machine's own addresses, however they are spelt.
#[test]
fn private_addresses_are_out_of_reach_unless_allowed() {
    let (home, sink) = (Home::new(), Sink::new());
    std::fs::create_dir(home.path("flows")).unwrap();
    home.file(
        "flows/f.yaml",
        "name: f\non: {webhook: {path: /hooks/f, verify: none}}\nkey: ${{ event.id }}\nsteps:\n  - id: say\n    http: {post: '${{ event.to }}'}\n",
    );
    let server = home.serve(&["--flows", "flows"]);
    let port = sink.url.rsplit(':').next().unwrap();
    let hosts = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
    ];
    for (nth, host) in hosts.into_iter().enumerate() {
        let event = json!({"id": nth, "to": format!("http://{host}:{port}/")});
        request(&server, "POST /hooks/f HTTP/1.1", &event.to_string());
        let runs = rest(&home, nth + 1);
        let shown = home.json(&["runs", "show", &runs[0], "--json"]);
        assert_eq!(shown["state"], "failed", "{host}: {shown}");
    }
    assert_eq!(sink.seen(), [""; 0]);
}
