//! `semel people`, `semel audit`, and a server with a certificate of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::{Home, ends, signal, stdout, told, until};

#[test]
fn people_are_looked_after_with_and_without_a_server() {
    let home = Home::new();
    let server = home.serve(&[]);
    let setup = stdout(&home.run(&["people", "setup"]));
    assert!(setup.starts_with("http://127.0.0.1:"), "{setup}");
    let add = ["people", "add", "ada", "--role", "operator"];
    ends(&home.feed(&add, b"short\n"), 2, &["at least 12 characters"]);
    ends(
        &home.feed(&add, b"correct horse battery\n"),
        0,
        &["ada is operator"],
    );
    let as_argument = [
        "people",
        "add",
        "eve",
        "--role",
        "viewer",
        "correct horse battery",
    ];
    ends(&home.run(&as_argument), 2, &["not taken as an argument"]);
    let link = home.run(&["people", "add", "bob", "--role", "approver", "--link"]);
    assert!(stdout(&link).contains("/setup/"), "{}", told(&link));
    ends(
        &home.run(&["people", "setup"]),
        1,
        &["somebody has an account already"],
    );
    let (_, said) = server.stop();
    assert!(said.contains("/setup/"), "{said}");
    let server = home.serve(&[]);
    let (_, said) = server.stop();
    assert!(!said.contains("/setup/"), "somebody has an account: {said}");
    ends(
        &home.run(&["people", "role", "bob", "boss"]),
        2,
        &["viewer, operator"],
    );
    ends(
        &home.run(&["people", "role", "bob", "admin"]),
        0,
        &["bob has the role admin"],
    );
    let other = home.feed(&["people", "password", "ada"], b"another horse entirely");
    ends(&other, 0, &["logged out everywhere"]);
    ends(
        &home.run(&["people", "remove", "eve"]),
        1,
        &["nobody called eve"],
    );
    let listed = home.json(&["people", "ls", "--json"]);
    let of = |index: usize| {
        let person = &listed["people"][index];
        json!([person["name"], person["role"], person["password"]])
    };
    assert_eq!(of(0), json!(["ada", "operator", true]));
    assert_eq!(of(1), json!(["bob", "admin", false]));
    ends(
        &home.run(&["people", "remove", "bob"]),
        0,
        &["bob is removed"],
    );
    let audit = home.json(&["audit", "--since", "1h", "--json"]);
    let lines: Vec<String> = audit["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {} {}", it["who"], it["action"], it["target"]))
        .collect();
    assert_eq!(lines[0], r#""local" "DELETE /v1/people/{name}" "bob""#);
    assert!(
        lines.contains(&r#""first" "POST /v1/people" "ada""#.to_owned()),
        "{lines:?}"
    );
    let shown = stdout(&home.run(&["audit"]));
    assert!(
        !shown.contains("horse") && !shown.contains("argon2"),
        "{shown}"
    );
}

#[test]
fn tokens_are_given_scopes() {
    let home = Home::new();
    let made = home.json(&["tokens", "create", "ci", "--scopes", "read,guard", "--json"]);
    assert_eq!(made["scopes"], json!(["read", "guard"]));
    let wrong = home.run(&["tokens", "create", "ci", "--scopes", "reed"]);
    ends(&wrong, 2, &["did you mean read?"]);
    assert!(stdout(&home.run(&["tokens", "ls"])).contains("read,guard"));
}

fn pem(home: &Home, name: &str, label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    home.file(
        name,
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n"),
    )
}

#[test]
fn a_server_with_a_certificate_is_reached_by_its_own_commands() {
    let home = Home::new();
    let made = rcgen::generate_simple_self_signed(vec!["semel.example".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(vec!["other.example".to_owned()]).unwrap();
    let cert = pem(&home, "cert.pem", "CERTIFICATE", made.cert.der());
    let key = pem(
        &home,
        "key.pem",
        "PRIVATE KEY",
        &made.signing_key.serialize_der(),
    );
    let wrong = pem(
        &home,
        "wrong.pem",
        "PRIVATE KEY",
        &other.signing_key.serialize_der(),
    );
    let serve = |words: &[&str]| {
        let listen = ["serve", "--listen", "127.0.0.1:0"];
        home.run(&[&listen[..], words].concat())
    };
    ends(
        &serve(&["--tls-cert", &cert]),
        2,
        &["--tls-cert needs --tls-key"],
    );
    let mixed = serve(&["--tls-cert", &cert, "--tls-key", &wrong]);
    ends(&mixed, 1, &["wrong.pem", "is not the key of"]);
    let none = serve(&["--tls-cert", "/nowhere/cert.pem", "--tls-key", &key]);
    ends(&none, 1, &["/nowhere/cert.pem", "cannot be used"]);
    let server = home.serve(&["--tls-cert", &cert, "--tls-key", &key]);
    ends(&home.run(&["people", "ls"]), 0, &[]);
    let setup = stdout(&home.run(&["people", "setup"]));
    assert!(setup.starts_with("https://127.0.0.1:"), "{setup}");
    // Another certificate comes into force at SIGHUP.
    pem(&home, "cert.pem", "CERTIFICATE", other.cert.der());
    pem(
        &home,
        "key.pem",
        "PRIVATE KEY",
        &other.signing_key.serialize_der(),
    );
    signal(server.child.id(), "HUP");
    until("the new certificate", || {
        let asked = home.run(&["tokens", "ls"]);
        asked.status.success().then_some(())
    });
    server.stop();
}
