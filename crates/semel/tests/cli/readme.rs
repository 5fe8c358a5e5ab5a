//! The README's example of a flow does what the README says.

use serde_json::Value;

use crate::sink::{Sink, home, signup};
use crate::support::{Server, ends};

const README: &str = include_str!("../../../../README.md");

/// What stands between two marks of the README.
fn between(begin: &str, end: &str) -> &'static str {
    let rest = README.split_once(begin).expect(begin).1;
    rest.split_once(end).expect(end).0
}

/// What the server answers to the README's request.
fn answer_to_signup(server: &Server) -> Value {
    let answer = signup(&server.url, between("-d '", "'"));
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn two_signups_are_one_message() {
    let (home, sink) = (home(), Sink::new());
    let flow = between("```yaml\n# flows/signup.yaml\n", "```");
    assert!(flow.contains("http://127.0.0.1:9000"), "{flow}");
    home.file(
        "flows/signup.yaml",
        flow.replace("http://127.0.0.1:9000", &sink.url),
    );
    ends(&home.run(&["check", "flows"]), 0, &["no problems"]);
    let server = home.serve(&["--flows", "flows", "--watch"]);
    let (first, second) = (answer_to_signup(&server), answer_to_signup(&server));
    assert_eq!(first["status"], "accepted", "{first}");
    assert_eq!(second["status"], "duplicate", "{second}");
    assert_eq!(first["run"], second["run"]);
    sink.reached(1);
    server.stop();
    assert_eq!(
        sink.seen(),
        ["/messages {\"text\":\"New signup ada@example.com\"}"]
    );
}
