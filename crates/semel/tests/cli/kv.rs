//! Values under keys, from a flow file and from the command line.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::support::{Home, Server, ends, stderr, stdout, until};

const FLOW: &str = r#"name: counter
on:
  webhook: {path: /hooks/orders, verify: none}
key: order/${{ event.id }}
steps:
  - id: count
    kv: {add: "counter/${{ event.shop }}"}
  - id: last
    kv: {set: counter/last, to: "${{ event.id }}"}
"#;

/// Sends an event to the hook; gives the status line.
fn send(server: &Server, body: &str) -> String {
    let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST /hooks/orders HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_webhook_that_is_sent_twice_counts_once() {
    let home = Home::new();
    std::fs::create_dir(home.path("flows")).unwrap();
    home.file("flows/counter.yaml", FLOW);
    let server = home.serve(&["--flows", "flows"]);
    for id in [1, 2, 2, 1, 3, 3, 3] {
        let body = format!(r#"{{"id":{id},"shop":"a/b"}}"#);
        let status = send(&server, &body);
        assert!(status.contains(" 20"), "{status}");
    }
    let ended = || {
        let runs = home.json(&["runs", "ls", "--state", "done", "--json"]);
        let runs = runs["runs"].as_array().unwrap().len();
        (runs == 3).then_some(())
    };
    until("three runs", ended);
    let counted = home.run(&["kv", "get", "counter/a%2Fb"]);
    ends(&counted, 0, &[]);
    assert_eq!(stdout(&counted), "3\n");
    let listed = home.json(&["kv", "ls", "counter/", "--json"]);
    let values = listed["values"].as_array().unwrap();
    assert_eq!(values.len(), 2, "{listed}");
    assert!(values[0]["by"].as_str().unwrap().starts_with("run_"));
}

#[test]
fn values_are_set_read_and_removed_without_a_server() {
    let home = Home::new();
    ends(&home.run(&["kv", "set", "limits/mails", "500"]), 0, &[]);
    let file = home.file("rates.json", r#"{"eur": 1.10, "big": 9007199254740993}"#);
    ends(&home.run(&["kv", "set", "rates", "--file", &file]), 0, &[]);
    ends(
        &home.feed(&["kv", "set", "shop/a%2Fb"], b"\"text\"\n"),
        0,
        &[],
    );
    let rates = home.run(&["kv", "get", "rates"]);
    assert_eq!(stdout(&rates), "{\"big\":9007199254740993,\"eur\":1.1}\n");
    let shown = stdout(&home.run(&["kv", "ls"]));
    assert!(shown.contains("shop/a%2Fb"), "{shown}");
    let expect = ["kv", "set", "limits/mails", "600", "--expect", "500"];
    ends(&home.run(&expect), 0, &[]);
    let lost = home.run(&expect);
    ends(&lost, 4, &["Something else is under the key"]);
    let removed = home.json(&["kv", "rm", "limits/mails", "--json"]);
    assert_eq!(removed["before"], 600);
    let none = home.run(&["kv", "get", "limits/mails"]);
    ends(&none, 1, &["There is no such value"]);
    let wrong = home.run(&["kv", "set", "a", "text"]);
    ends(&wrong, 2, &["the value is not JSON", "with its quotes"]);
    assert!(stderr(&home.run(&["kv", "set", "a%b", "1"])).contains("bare `%`"));
}
