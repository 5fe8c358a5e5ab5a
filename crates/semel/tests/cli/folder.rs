//! A folder of flows that is served: deployed at the start, and again when it changes.

use std::fs;

use crate::sink::{Sink, flow, home};
use crate::support::{ends, until};

#[test]
fn a_folder_with_errors_is_not_served() {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/hello.yaml", flow(&sink, "say"));
    home.file(
        "flows/a.yaml",
        flow(&sink, "say").replace("event.id", "now()"),
    );
    home.file("flows/b.yaml", "name: b\nstpes: []\n");
    let output = home.run(&["serve", "--listen", "127.0.0.1:0", "--flows", "flows"]);
    let says = ["K001", "F003", "F022", "nothing is served", "flows/b.yaml"];
    ends(&output, 1, &says);
    ends(
        &home.run(&["serve", "--watch"]),
        2,
        &["--flows DIR --watch"],
    );
    ends(
        &home.run(&["serve", "--flows", "no"]),
        2,
        &["cannot read the folder no"],
    );
    fs::remove_file(home.path("flows/a.yaml")).unwrap();
    fs::remove_file(home.path("flows/b.yaml")).unwrap();
    let server = home.serve(&["--flows", "flows"]);
    assert_eq!(
        home.json(&["flows", "ls", "--json"])["flows"][0]["flow"],
        "hello"
    );
    let (code, said) = server.stop();
    assert_eq!(code, Some(0));
    assert!(
        said.contains("flows/hello.yaml: hello is live as rel_"),
        "{said}"
    );
}

#[test]
fn a_secret_that_is_missing_is_named_at_the_start() {
    let (home, sink) = (home(), Sink::new());
    let with = "bearer: '${{ secrets.CHAT }}', json";
    home.file("flows/hello.yaml", flow(&sink, "say").replace("json", with));
    let (_, said) = home.serve(&["--flows", "flows"]).stop();
    assert!(
        said.contains("needs the secret CHAT") && said.contains("SEMEL_SECRET_CHAT_FILE"),
        "{said}"
    );
    home.file("chat", "hidden-word\n");
    let mut command = home.command(&["serve", "--flows", "flows", "--listen", "127.0.0.1:0"]);
    command.env("SEMEL_SECRET_CHAT_FILE", home.path("gone"));
    ends(
        &command.output().unwrap(),
        2,
        &["SEMEL_SECRET_CHAT_FILE", "cannot be read"],
    );
}

#[test]
fn a_watched_folder_is_deployed_again() {
    let (home, sink) = (home(), Sink::new());
    home.file("flows/hello.yaml", flow(&sink, "say"));
    let server = home.serve(&["--flows", "flows", "--watch"]);
    let live = || home.json(&["flows", "ls", "--json"])["flows"].clone();
    let first = live()[0]["release"].clone();
    home.file("flows/hello.yaml", flow(&sink, "say") + "# more\n");
    let second = until("the change is live", || {
        let now = live()[0]["release"].clone();
        (now != first).then_some(now)
    });
    // One with errors changes nothing; one beside it is deployed all the same.
    home.file("flows/hello.yaml", "name: hello\nsteps: 3\n");
    home.file(
        "flows/other.yaml",
        flow(&sink, "other")
            .replace("hello", "other")
            .replace("signup", "other"),
    );
    until("the new flow is live", || {
        (live().as_array().unwrap().len() == 2).then_some(())
    });
    assert_eq!(live()[0]["release"], second);
    home.file("flows/hello.yaml", flow(&sink, "say") + "# third\n");
    until("it is mended", || {
        (live()[0]["release"] != second).then_some(())
    });
    // A rollback stands: what has not changed is not deployed again.
    ends(&home.run(&["rollback", "hello"]), 0, &["hello is live as"]);
    assert_eq!(live()[0]["release"], second);
    let other = flow(&sink, "other").replace("hello", "other");
    home.file("flows/other.yaml", other.replace("signup", "third"));
    until("the other flow changed", || {
        let path = live()[1]["triggers"][0]["path"].clone();
        (path == "/hooks/third").then_some(())
    });
    assert_eq!(live()[0]["release"], second);
    fs::remove_file(home.path("flows/hello.yaml")).unwrap();
    home.file("flows/other.yaml", other.replace("signup", "fourth"));
    until("the other flow changed once more", || {
        let path = live()[1]["triggers"][0]["path"].clone();
        (path == "/hooks/fourth").then_some(())
    });
    let (_, said) = server.stop();
    for says in [
        "flows/hello.yaml is not deployed",
        "F005",
        "hello is live, but no file",
    ] {
        assert!(said.contains(says), "{says:?} is not in:\n{said}");
    }
}
