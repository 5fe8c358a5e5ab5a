//! The way out: the operator's proxy and no other.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use crate::sink::{self, Sink};
use crate::support::{Home, ends, stdout};

/// A proxy that refuses, and tells what it was asked.
fn unwilling() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let mut lines = BufReader::new(&stream).lines();
            let head: Vec<_> = lines
                .by_ref()
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            tell.send(head.join("\n")).unwrap();
            (&stream)
                .write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
                .unwrap();
        }
    });
    (url, told)
}

fn flow(home: &Home, sink: &Sink) {
    home.file(
        "flows/hello.yaml",
        format!(
            "name: hello\non: manual\nkey: hello/${{{{ event.id }}}}\nsteps:\n  - id: say\n    \
             retry: {{max: 1}}\n    http: {{post: {}/say, json: {{a: 1}}}}\n",
            sink.url
        ),
    );
}

const TRIGGER: [&str; 7] = [
    "trigger",
    "hello",
    "--key",
    "k",
    "--wait",
    "--data",
    r#"{"id":"1"}"#,
];

#[test]
fn variables_for_proxies_are_not_read() {
    let (home, sink) = (sink::home(), Sink::new());
    let (proxy, asked) = unwilling();
    flow(&home, &sink);
    let around =
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, &*proxy));
    let _server = home.serve_with(&["--flows", "flows"], &around);
    ends(&home.run(&TRIGGER), 0, &[]);
    assert_eq!(sink.seen().len(), 1);
    assert!(asked.try_recv().is_err());
}

#[test]
fn the_proxy_of_the_settings_is_asked_with_its_login() {
    let (home, sink) = (sink::home(), Sink::new());
    let (proxy, asked) = unwilling();
    flow(&home, &sink);
    home.file(
        "semel.toml",
        format!(
            "[outgoing]\nallow = [\"127.0.0.0/8\"]\nproxy = \"{proxy}\"\n\
             proxy_login = \"${{{{ secrets.PROXY }}}}\"\nno_proxy = [\".intern.example\"]\n"
        ),
    );
    let around = [("SEMEL_SECRET_PROXY", "ann:hunter22-canary")];
    let _server = home.serve_with(&["--flows", "flows"], &around);
    let output = home.run(&TRIGGER);
    ends(&output, 1, &[]);
    let shown = stdout(&home.run(&["runs", "show", stdout(&output).trim()]));
    assert!(
        shown.contains("407 Proxy Authentication Required"),
        "{shown}"
    );
    let authority = sink.url.strip_prefix("http://").unwrap();
    let head = asked.recv().unwrap();
    assert!(
        head.starts_with(&format!("CONNECT {authority} HTTP/1.1\n")),
        "{head}"
    );
    assert!(
        head.contains("Proxy-Authorization: Basic YW5uOmh1bnRlcjIyLWNhbmFyeQ=="),
        "{head}"
    );
    assert!(sink.seen().is_empty());
}

#[test]
fn settings_of_a_proxy_that_cannot_be_are_told_at_the_start() {
    let home = Home::new();
    for (text, wanted) in [
        ("proxy = \"https://p.example\"", "begins with https://"),
        (
            "proxy = \"http://ann:hunter22@p.example\"",
            "outgoing.proxy_login",
        ),
        (
            "no_proxy = \"a.example\"",
            "outgoing.no_proxy: there is no outgoing.proxy",
        ),
        (
            "proxy_login = \"X\"",
            "outgoing.proxy_login: there is no outgoing.proxy",
        ),
        (
            "no_proxy = [\"*\"]\nproxy = \"http://p.example\"",
            "outgoing.no_proxy: `*` is neither",
        ),
    ] {
        home.file("semel.toml", format!("[outgoing]\n{text}"));
        let output = home.run(&["serve"]);
        ends(&output, 2, &[wanted, "semel.toml:2"]);
        let shown = home.run(&["config", "show"]);
        let said = format!("{output:?} {}", stdout(&shown));
        assert!(!said.contains("hunter22"), "{said}");
    }
}
