//! What is secret is nowhere but where it is sent: not in history, logs, errors, metrics, exports,
//! backups or the files of the data directory, however the destination spells it.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::json;

use crate::hostile::{data, looks, request, rest};
use crate::sink::{Habit, RUMOUR, Sink, home};
use crate::support::{ends, told};

/// In each of the secrets, away from its ends; what is looked for everywhere.
const CANARY: &str = "c4nary";
const OF_ENVIRONMENT: &str = "env-c4nary/s1ngs+loud";
const SEALED: &str = "sealed-\"c4nary\"/ &<+>s1ngs";
const OF_HOOK: &str = "h00k-c4nary-of-the-door";

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
    http: {{post: {url}/bearer, bearer: \"${{{{ secrets.ENV }}}}\", json: {{key: \"k-${{{{ secrets.SEALED }}}}\"}}}}
  - id: basic
    http: {{post: {url}/basic, basic: {{user: u, password: \"${{{{ secrets.SEALED }}}}\"}}, query: {{q: \"${{{{ secrets.ENV }}}}\"}}}}
  - id: header
    http: {{post: \"{url}/header/${{{{ secrets.ENV }}}}\", headers: {{x-key: \"${{{{ secrets.SEALED }}}}\"}}, form: {{s: \"${{{{ secrets.SEALED }}}}\"}}}}
    result: body.echo + headers[\"x-echo\"]
"
    )
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

/// The canary as it is, and the letters of base64 that stand for it wherever it begins.
fn spellings() -> Vec<String> {
    let packed = |shift: usize| {
        let bytes = [&vec![0; shift][..], CANARY.as_bytes()].concat();
        let (first, last) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
        STANDARD_NO_PAD.encode(bytes)[first..last].to_owned()
    };
    let mut all = vec![CANARY.to_owned()];
    all.extend((0..3).map(packed));
    all
}

#[test]
fn a_secret_is_nowhere_but_on_the_wire() {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/f.yaml", flow(&sink));
    let mut kept: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, value) in [("SEALED", SEALED), ("RUMOUR", RUMOUR), ("HOOK", OF_HOOK)] {
        let set = home.feed(&["secrets", "set", name], value.as_bytes());
        ends(&set, 0, &[]);
        kept.push(("secrets set".to_owned(), told(&set).into_bytes()));
    }
    let environment = [("SEMEL_SECRET_ENV", OF_ENVIRONMENT), ("SEMEL_LOG", "trace")];
    let server = home.serve_with(&["--flows", "flows"], &environment);
    let hook = format!("POST /hooks/f HTTP/1.1\r\nAuthorization: Bearer {OF_HOOK}");
    let habits = [
        Habit::Echoing("200 OK"),
        Habit::Echoing("422 No"),
        Habit::Echoing("500 Oh"),
        Habit::Silent,
    ];
    for (nth, habit) in habits.into_iter().enumerate() {
        sink.becomes(habit);
        let answer = request(&server, &hook, &json!({"id": nth}).to_string());
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        rest(&home, nth + 1);
    }
    let refused = request(&server, &format!("{hook}x"), "{}");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let sent = sink.seen().join("\n");
    assert!(sent.contains(CANARY), "the destination has it: {sent}");

    let runs = rest(&home, habits.len());
    let outputs = [looks(&home, &runs), data(&home, &runs)].concat();
    let shown: String = outputs.iter().map(told).collect();
    for name in ["ENV", "SEALED", "RUMOUR"] {
        let mark = format!("[secret {name}]");
        assert!(shown.contains(&mark), "{mark} is not in {shown}");
    }
    kept.push(("a verb".to_owned(), shown.into_bytes()));
    let page = request(&server, "GET /metrics HTTP/1.1", "");
    kept.push(("metrics".to_owned(), page.into_bytes()));
    let listed = home.run(&["secrets", "ls", "--json"]);
    kept.push(("secrets ls".to_owned(), told(&listed).into_bytes()));
    let backup = home.path("copy.db");
    let token = std::fs::read_to_string(home.data().join("token")).unwrap();
    ends(&home.run(&["backup", backup.to_str().unwrap()]), 0, &[]);
    kept.push(("backup".to_owned(), std::fs::read(backup).unwrap()));
    kept.extend(files(&home.data(), "token"));
    ends(&home.run(&["secrets", "rotate"]), 0, &[]);
    let key = std::fs::read_to_string(home.data().join("secrets.key")).unwrap();
    let (_, said) = server.stop();
    kept.push(("the log".to_owned(), said.into_bytes()));
    kept.extend(files(&home.data(), "token"));

    for (place, bytes) in &kept {
        let text = String::from_utf8_lossy(bytes);
        for form in spellings() {
            let at = text.find(&form).map(|at| &bytes[at.saturating_sub(40)..]);
            let near = at.map(|it| String::from_utf8_lossy(&it[..it.len().min(120)]));
            assert_eq!(near, None, "{form} is in {place}");
        }
        assert!(!text.contains(token.trim()), "the token is in {place}");
        let has_key = text.contains(key.trim());
        assert!(
            !has_key || place.ends_with("secrets.key"),
            "the key is in {place}"
        );
    }
}
