//! Flows from a file to effects: deploying, triggering, releases.

use serde_json::json;

use crate::sink::{Sink, event, flow, home};
use crate::support::{ends, stdout, told, until};

#[test]
fn a_trigger_twice_is_one_run() {
    let (home, sink) = (home(), Sink::new());
    home.file("hello.yaml", flow(&sink, "say"));
    let server = home.serve(&[]);
    ends(
        &home.run(&["deploy", "hello.yaml"]),
        0,
        &["hello is live as rel_"],
    );
    let event = event("a");
    let words = ["trigger", "hello", "--key", "k1", "--data", &event];
    let first = home.run(&words);
    ends(&first, 0, &["started run_"]);
    let run = stdout(&first).trim().to_owned();
    sink.reached(1);
    let second = home.run(&words);
    ends(&second, 0, &["ran before", &run, "nothing was started"]);
    assert_eq!(stdout(&second).trim(), run);
    // Whoever comes through another door with the same event meets the same run.
    let json = home.json(&[
        "trigger", "hello", "--key", "k2", "--data", &event, "--json",
    ]);
    assert_eq!(
        (&json["status"], &json["run"]),
        (&"duplicate".into(), &run.as_str().into())
    );
    let other = home.run(&[
        "trigger",
        "hello",
        "--key",
        "k1",
        "--data",
        "{\"id\":\"a\"}",
    ]);
    ends(&other, 4, &["another event", &run]);
    assert_eq!(server.stop().0, Some(0));
    assert_eq!(sink.seen(), ["/say {\"to\":\"a@example.com\"}"]);
}

#[test]
fn the_key_alone_names_a_run_where_the_flow_has_none() {
    let (home, sink) = (home(), Sink::new());
    let by_hand = format!(
        "name: hello\non: manual\nsteps:\n  - id: say\n    http: {{post: '{}/say'}}\n",
        sink.url
    );
    home.file("flows/hello.yaml", by_hand);
    let server = home.serve(&["--flows", "flows"]);
    let run = |key: &str| {
        let json = home.json(&["trigger", "hello", "--key", key, "--wait", "--json"]);
        assert_eq!(json["state"], "done", "{json}");
        json["run"].clone()
    };
    let (first, again, other) = (run("a"), run("a"), run("b"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    server.stop();
    assert_eq!(sink.seen().len(), 2);
}

#[test]
fn an_event_comes_as_an_argument_in_a_file_or_through_stdin() {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/hello.yaml", flow(&sink, "say"));
    let server = home.serve(&["--flows", "flows"]);
    home.file("event.json", event("b"));
    let started = ["started run_"];
    ends(
        &home.run(&["trigger", "hello", "--key", "1", "--data", "@event.json"]),
        0,
        &started,
    );
    let words = ["trigger", "hello", "--key", "2", "--data", "-"];
    ends(&home.feed(&words, event("c").as_bytes()), 0, &started);
    let data = home.data();
    let words = [
        "--data",
        data.to_str().unwrap(),
        "trigger",
        "hello",
        "--key",
        "3",
        "--data",
    ];
    let mut command = home.command(&[&words[..], &[&event("d")]].concat());
    ends(
        &command.env_remove("SEMEL_DATA").output().unwrap(),
        0,
        &started,
    );
    for (data, says) in [
        ("{", "not JSON"),
        ("@no.json", "cannot read the event from no.json"),
        (".", "semel --data DIR trigger"),
    ] {
        let words = ["trigger", "hello", "--key", "4", "--data", data];
        ends(&home.run(&words), 2, &[says]);
    }
    ends(
        &home.run(&["trigger", "hello", "--data", "1"]),
        2,
        &["--key"],
    );
    ends(
        &home.run(&["trigger", "helo", "--key", "4"]),
        1,
        &["no flow called \"helo\" is live"],
    );
    sink.reached(3);
    server.stop();
    assert_eq!(sink.seen().len(), 3);
}

#[test]
fn what_is_done_is_not_forgotten_by_a_new_name() {
    let (home, sink) = (home(), Sink::new());
    home.file("hello.yaml", flow(&sink, "say"));
    let _server = home.serve(&[]);
    ends(&home.run(&["deploy", "hello.yaml"]), 0, &[]);
    ends(&home.run(&["deploy", "hello.yaml"]), 0, &["unchanged"]);
    ends(&home.run(&["diff", "hello"]), 1, &["only one release"]);
    home.run(&["trigger", "hello", "--key", "k", "--data", &event("a")]);
    sink.reached(1);
    home.file("hello.yaml", flow(&sink, "tell"));
    let keep = "at step tell write scope: hello/say";
    let against = until("the key is done", || {
        let output = home.run(&["check", "hello.yaml", "--against", "live"]);
        (output.status.code() == Some(1)).then_some(output)
    });
    assert!(
        stdout(&against).contains("1 done key of step say"),
        "{}",
        told(&against)
    );
    ends(
        &home.run(&["deploy", "hello.yaml"]),
        1,
        &["1 done key of step say", keep],
    );
    let diff = home.run(&["diff", "hello.yaml"]);
    for says in ["-  - id: say", "+  - id: tell", keep] {
        assert!(
            stdout(&diff).contains(says),
            "{says:?} is not in:\n{}",
            told(&diff)
        );
    }
    ends(
        &home.run(&["deploy", "hello.yaml", "--draft"]),
        0,
        &["a draft"],
    );
    let words = [
        "trigger",
        "hello",
        "--key",
        "d",
        "--data",
        &event("b"),
        "--draft",
    ];
    let releases = home.json(&["releases", "hello", "--json"]);
    let draft = releases["releases"][0]["release"].as_str().unwrap();
    ends(
        &home.run(&[&words[..], &[&draft[..12]]].concat()),
        0,
        &["started"],
    );
    until("the draft ran", || {
        sink.seen()
            .iter()
            .any(|it| it.starts_with("/tell"))
            .then_some(())
    });
    let deployed = home.run(&["deploy", "hello.yaml", "--abandon-keys"]);
    ends(&deployed, 0, &["hello is live as", &draft[..12]]);
    ends(
        &home.run(&["rollback", "hello"]),
        1,
        &["would not be found"],
    );
    ends(
        &home.run(&["rollback", "hello", "--abandon-keys"]),
        0,
        &["hello is live as"],
    );
    let listed = stdout(&home.run(&["releases", "hello"]));
    let states: Vec<_> = listed.lines().map(|line| line.split(' ').next()).collect();
    assert_eq!(
        states,
        [Some("STATE"), Some("was-live"), Some("live")],
        "{listed}"
    );
}

#[test]
fn flows_are_listed_shown_and_ended() {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/hello.yaml", flow(&sink, "say"));
    let _server = home.serve(&["--flows", "flows"]);
    let listed = home.run(&["flows", "ls"]);
    assert!(
        stdout(&listed).contains("webhook /hooks/signup"),
        "{}",
        told(&listed)
    );
    let card = stdout(&home.run(&["flows", "show", "hello"]));
    for says in [
        "semel serve --flows",
        "signup/${{ event.id }}/say",
        "a person is asked",
    ] {
        assert!(card.contains(says), "{says:?} is not in:\n{card}");
    }
    let source = stdout(&home.run(&["flows", "show", "hello", "--source"]));
    assert_eq!(source, flow(&sink, "say"));
    ends(
        &home.run(&["flows", "retire", "hello"]),
        0,
        &["no more triggers"],
    );
    ends(
        &home.run(&["flows", "show", "hello"]),
        1,
        &["no flow called"],
    );
    assert_eq!(home.json(&["flows", "ls", "--json"])["flows"], json!([]));
}

#[test]
fn a_path_moves_from_one_flow_to_another_in_one_deploy() {
    let (home, sink) = (home(), Sink::new());
    let of = |name: &str, path: &str| {
        flow(&sink, "say")
            .replace("hello", name)
            .replace("signup", path)
    };
    home.file("flows/a.yaml", of("a", "one"));
    home.file("flows/b.yaml", of("b", "two"));
    let _server = home.serve(&["--flows", "flows"]);
    home.file("flows/a.yaml", of("a", "two"));
    home.file("flows/b.yaml", of("b", "three"));
    let output = home.run(&["deploy", "flows", "--json"]);
    ends(&output, 0, &[]);
    let live = home.json(&["flows", "ls", "--json"]);
    assert_eq!(
        live["flows"][0]["triggers"][0]["path"],
        "/hooks/two",
        "{}",
        told(&output)
    );
    home.file("flows/a.yaml", of("a", "three"));
    let refused = home.json(&["deploy", "flows/a.yaml", "--json"]);
    assert_eq!(refused["ok"], false);
    assert_eq!(refused["flows"][0]["error"]["code"], "path_taken");
}

#[test]
fn without_a_server_flows_are_deployed_and_wait() {
    let (home, sink) = (home(), Sink::new());
    home.file("hello.yaml", flow(&sink, "say"));
    ends(&home.run(&["deploy", "hello.yaml"]), 0, &["hello is live"]);
    ends(
        &home.run(&["trigger", "hello", "--key", "k", "--data", &event("a")]),
        0,
        &["started"],
    );
    assert_eq!(sink.seen(), [""; 0]);
    let server = home.serve(&[]);
    until("the server takes it up", || {
        (!sink.seen().is_empty()).then_some(())
    });
    server.stop();
    assert_eq!(sink.seen().len(), 1);
}
