//! `semel deploy --shadow` and `semel shadow report`: a flow that does nothing, beside one that does.

use serde_json::Value;

use crate::sink::{Sink, event, flow, home, signup};
use crate::support::{Home, ends, stdout, until};

/// The report, once the shadow has taken so many events to their end.
fn report(home: &Home, runs: usize) -> Value {
    until("the shadow's runs", || {
        let listed = home.json(&[
            "runs",
            "ls",
            "--flow",
            "hello~shadow",
            "--state",
            "done",
            "--json",
        ]);
        (listed["runs"].as_array().unwrap().len() == runs).then_some(())
    });
    let output = home.run(&["shadow", "report", "hello", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn counts(report: &Value) -> [u64; 4] {
    ["same", "more", "less", "differently"].map(|name| report[name].as_u64().unwrap())
}

fn post(url: &str, event: &str) {
    let answer = signup(url, event);
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
}

/// The same event goes to both; only the live flow is seen by the destination.
#[test]
fn a_shadow_of_a_live_flow_does_nothing_and_is_compared() {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/hello.yaml", flow(&sink, "say"));
    let other = flow(&sink, "say").replace(
        "to: '${{ event.email }}'",
        "to: '${{ event.email }}', new: true",
    );
    home.file("other.yaml", other);
    let server = home.serve(&["--flows", "flows"]);
    ends(
        &home.run(&["shadow", "report", "hello"]),
        1,
        &["has no shadow", "semel deploy --shadow FILE"],
    );
    ends(
        &home.run(&["deploy", "--shadow", "flows/hello.yaml"]),
        0,
        &[
            "takes triggers",
            "does nothing",
            "semel shadow report hello",
        ],
    );
    post(&server.url, &event("a"));
    sink.reached(1);
    ends(
        &home.run(&[
            "trigger",
            "hello",
            "--key",
            "k",
            "--data",
            &event("b"),
            "--wait",
        ]),
        0,
        &[],
    );
    let alike = report(&home, 2);
    assert_eq!(counts(&alike), [2, 0, 0, 0], "{alike}");

    // Another text as the shadow: what it sends differs, and what it has not seen is less.
    ends(
        &home.run(&["deploy", "--shadow", "other.yaml"]),
        0,
        &["does nothing"],
    );
    post(&server.url, &event("c"));
    sink.reached(3);
    let differs = report(&home, 3);
    assert_eq!(counts(&differs), [0, 0, 0, 1], "{differs}");
    let difference = &differs["differences"][0];
    assert_eq!(difference["fields"][0], "/json/new", "{differs}");
    let told = stdout(&home.run(&["shadow", "report", "hello"]));
    assert!(
        told.contains("differently") && told.contains("/json/new"),
        "{told}"
    );
    ends(
        &home.run(&["shadow", "end", "hello"]),
        0,
        &["takes no more triggers"],
    );
    post(&server.url, &event("d"));
    sink.reached(4);
    assert_eq!(server.stop().0, Some(0));
    let seen = sink.seen();
    assert!(seen.iter().all(|call| !call.contains("new")), "{seen:?}");
    assert_eq!(seen.len(), 4, "{seen:?}");
}

/// Nothing is live: what the present process did is imported, and the destination is asked where the file says how.
#[test]
fn a_shadow_beside_a_process_of_ones_own_is_compared_with_what_is_imported_or_found() {
    let (home, sink) = (home(), Sink::new());
    let found = format!(
        "    lookup: {{http: {{get: '{}/found'}}, found: 'event.id == \"found\"', settle: 0s}}\n",
        sink.url
    );
    home.file("hello.yaml", flow(&sink, "say") + &found);
    let server = home.serve(&[]);
    ends(
        &home.run(&["deploy", "--shadow", "hello.yaml"]),
        0,
        &["does nothing"],
    );
    for id in ["found", "imported", "only-us"] {
        post(&server.url, &event(id));
    }
    home.file(
        "done.csv",
        "scope,key\nhello/say,signup/imported/say\nhello/say,signup/only-them/say\n",
    );
    ends(&home.run(&["ledger", "import", "done.csv"]), 0, &[]);
    let report = report(&home, 3);
    assert_eq!(counts(&report), [2, 1, 1, 0], "{report}");
    let of = |what: &str| {
        let all = report["differences"].as_array().unwrap();
        let it = all.iter().find(|it| it["what"] == what).unwrap();
        it["key"].clone()
    };
    assert_eq!(of("more"), "signup/only-us/say");
    assert_eq!(of("less"), "signup/only-them/say");
    assert_eq!(server.stop().0, Some(0));
    // The destination was asked, and nothing else.
    let seen = sink.seen();
    assert!(
        seen.iter().all(|call| call.starts_with("/found ")),
        "{seen:?}"
    );
}

/// An `ensure` that finds what the live flow has made would do nothing: that is not less.
#[test]
fn what_is_found_is_not_less() {
    let (home, sink) = (home(), Sink::new());
    let text = format!(
        "name: hello\non: manual\nkey: signup/${{{{ event.id }}}}\nsteps:\n  - id: contact\n    ensure:\n      find: {{http: {{get: '{0}/contacts'}}, found: 'body.id == \"FOUND\"'}}\n      create: {{http: {{post: '{0}/contacts', json: {{id: '${{{{ event.id }}}}'}}}}}}\n",
        sink.url
    );
    // The live flow finds nothing and makes it; its shadow finds it.
    home.file("flows/hello.yaml", text.replace("FOUND", "nothing"));
    home.file("shadow.yaml", text.replace("FOUND", "it-1"));
    let server = home.serve(&["--flows", "flows"]);
    ends(
        &home.run(&["deploy", "--shadow", "shadow.yaml"]),
        0,
        &["does nothing"],
    );
    let words = [
        "trigger",
        "hello",
        "--key",
        "k",
        "--data",
        &event("a"),
        "--wait",
    ];
    ends(&home.run(&words), 0, &[]);
    let report = report(&home, 1);
    assert_eq!(counts(&report), [0, 0, 0, 0], "{report}");
    assert_eq!(server.stop().0, Some(0));
    let made = sink.seen().into_iter().filter(|call| call.ends_with('}'));
    assert_eq!(made.count(), 1);
}
