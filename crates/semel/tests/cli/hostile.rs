//! What comes from outside stays what it is: data. And what is secret stays where it is sent.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Output;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::sink::{Habit, Sink, home};
use crate::support::{Home, Server, stderr, stdout, told, until};

const CANARY: &str = "c4nary/s1ngs+loud";

/// A flow that sends secrets in every way that there is.
fn flow(sink: &Sink) -> String {
    let url = &sink.url;
    format!(
        "name: f
on:
  webhook: {{path: /hooks/f, verify: bearer, secret: \"${{{{ secrets.HOOK }}}}\"}}
key: f/${{{{ event.id }}}}
steps:
  - id: bearer
    http: {{post: {url}/bearer, bearer: \"${{{{ secrets.CANARY }}}}\", json: {{key: \"k-${{{{ secrets.CANARY }}}}\"}}}}
  - id: basic
    http: {{post: {url}/basic, basic: {{user: u, password: \"${{{{ secrets.CANARY }}}}\"}}, query: {{q: \"${{{{ secrets.CANARY }}}}\"}}}}
"
    )
}

/// Sends a request of these lines and gives the answer.
fn request(server: &Server, lines: &str, body: &str) -> String {
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
fn rest(home: &Home, count: usize) -> Vec<String> {
    until("the runs rest", || {
        let states = "done,failed,parked";
        let listed = home.json(&["runs", "ls", "--state", states, "--json"]);
        let runs = listed["runs"].as_array()?;
        let name = |run: &Value| run["run"].as_str().map(str::to_owned);
        (runs.len() == count).then(|| runs.iter().filter_map(name).collect())
    })
}

/// Every way for a person to look at what is kept.
fn looks(home: &Home, runs: &[String]) -> Vec<Output> {
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
fn data(home: &Home, runs: &[String]) -> Vec<Output> {
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

/// Every file below a directory, but for those of a name.
fn files(directory: &Path, except: &str) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path, except));
        } else if path.file_name().is_some_and(|name| name != except) {
            all.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    all
}

#[test]
fn a_secret_is_nowhere_but_on_the_wire() {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/f.yaml", flow(&sink));
    let secrets = [
        ("SEMEL_SECRET_CANARY", CANARY),
        ("SEMEL_SECRET_HOOK", "h00k-c4nary-of-the-door"),
        ("SEMEL_LOG", "trace"),
    ];
    let server = home.serve_with(&["--flows", "flows"], &secrets);
    let hook = "POST /hooks/f HTTP/1.1\r\nAuthorization: Bearer h00k-c4nary-of-the-door";
    let habits = [
        Habit::Echoing("200 OK"),
        Habit::Echoing("422 No"),
        Habit::Silent,
    ];
    for (nth, habit) in habits.into_iter().enumerate() {
        sink.becomes(habit);
        let answer = request(&server, hook, &json!({"id": nth}).to_string());
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        rest(&home, nth + 1);
    }
    let wrong = "POST /hooks/f HTTP/1.1\r\nAuthorization: Bearer h00k-c4nary-of-the-doorx";
    let refused = request(&server, wrong, "{}");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let sent = sink.seen().join("\n");
    assert!(sent.contains(CANARY), "the destination has it: {sent}");

    let runs = rest(&home, 3);
    let shown = [looks(&home, &runs), data(&home, &runs)].concat();
    let mut kept: Vec<(String, Vec<u8>)> = shown
        .iter()
        .map(|output| ("a verb".to_owned(), told(output).into_bytes()))
        .collect();
    let shown = kept.iter().map(|(_, text)| String::from_utf8_lossy(text));
    let shown: String = shown.collect();
    assert!(shown.contains("***"), "what was echoed is seen: {shown}");
    let page = request(&server, "GET /metrics HTTP/1.1", "");
    kept.push(("metrics".to_owned(), page.into_bytes()));
    let backup = home.path("copy.db");
    let token = std::fs::read_to_string(home.data().join("token")).unwrap();
    home.run(&["backup", backup.to_str().unwrap()]);
    kept.push(("backup".to_owned(), std::fs::read(backup).unwrap()));
    kept.extend(files(&home.data(), "token"));
    let (_, said) = server.stop();
    kept.push(("the log".to_owned(), said.into_bytes()));
    kept.extend(files(&home.data(), "token"));

    let url = CANARY.replace('/', "%2F").replace('+', "%2B");
    let packed = STANDARD.encode(CANARY);
    let basic = STANDARD.encode(format!("u:{CANARY}"));
    let hook = "h00k-c4nary-of-the-door";
    for (place, bytes) in &kept {
        let text = String::from_utf8_lossy(bytes);
        for form in [
            CANARY,
            &url,
            packed.trim_end_matches('='),
            &basic,
            hook,
            token.trim(),
        ] {
            assert!(!text.contains(form), "{form} is in {place}");
        }
    }
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
