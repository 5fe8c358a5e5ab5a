//! Kinds of steps from a flow file to what the destination saw, with places that the configuration names.

use rusqlite::Connection;

use crate::support::{Home, ends, stderr, stdout, told};

/// A home with a database, a program that notes its arguments, and a flow that uses both.
fn shop() -> Home {
    let home = Home::new();
    let (jobs, flows) = (home.path("jobs"), home.path("flows"));
    std::fs::create_dir(&jobs).unwrap();
    std::fs::create_dir(flows).unwrap();
    let seen = home.path("seen");
    let script = format!(
        "#!/bin/sh\necho \"$1\" >> {}\nprintf 'label %s' \"$1\"\n",
        seen.display()
    );
    let label = home.file("jobs/label", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&label, mode).unwrap();
    let database = home.path("shop.db");
    let made = Connection::open(&database).unwrap();
    made.execute_batch("CREATE TABLE orders (id TEXT, label TEXT)")
        .unwrap();
    let (database, jobs) = (database.display(), jobs.display());
    home.file(
        "semel.toml",
        format!("[connections.shop]\nurl = \"sqlite:{database}\"\n[exec]\nallow = [\"{jobs}\"]\n"),
    );
    home.file(
        "flows/order.yaml",
        format!(
            "name: order
on: manual
key: order/${{{{ event.id }}}}
steps:
  - id: label
    exec: {{command: [{label}, \"${{{{ event.id }}}}; rm -rf /\"]}}
    result: stdout
  - id: book
    sql:
      on: shop
      run: insert into orders (id, label) values (?, ?)
      params: [\"${{{{ event.id }}}}\", \"${{{{ steps.label.result }}}}\"]
      receipt: true
  - id: booked
    sql: {{on: shop, query: \"select count(*) as n from orders\"}}
    result: rows[0].n
"
        ),
    );
    home
}

#[test]
fn a_program_and_a_statement_happen_once() {
    let home = shop();
    let _server = home.serve(&["--flows", "flows"]);
    let words = [
        "trigger",
        "order",
        "--key",
        "k",
        "--wait",
        "--data",
        r#"{"id":"17"}"#,
    ];
    let first = home.run(&words);
    ends(&first, 0, &[]);
    ends(&home.run(&words), 0, &[]);
    assert_eq!(home.read("seen"), "17; rm -rf /\n");
    let shop = Connection::open(home.path("shop.db")).unwrap();
    let rows = "SELECT count(*), max(label), (SELECT count(*) FROM semel_receipts) FROM orders";
    let rows: (i64, String, i64) = shop
        .query_row(rows, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert_eq!(rows, (1, "label 17; rm -rf /".to_owned(), 1));
    let shown = stdout(&home.run(&["runs", "show", stdout(&first).trim()]));
    assert!(shown.contains("booked  sql"), "{shown}");
}

#[test]
fn places_that_cannot_be_are_told_at_the_start() {
    let home = Home::new();
    for (text, wanted) in [
        (
            "[connections.shop]\nsessions = 4",
            "connections.shop: it has no `url`",
        ),
        (
            "[connections.shop]\nurl = \"oracle://x\"",
            "connections.shop: ",
        ),
        (
            "[connections.shop]\nurl = \"sqlite:/x.db\"\nsessions = \"many\"",
            "sessions \"many\" is not a number",
        ),
        (
            "[smtp.default]\nport = 25",
            "smtp.default: it has no `host`",
        ),
        (
            "[smtp.default]\nhost = \"a.example\"\ntls = \"ssl\"",
            "tls is one of starttls, implicit, none",
        ),
        (
            "[smtp.default]\nhost = \"a.example\"\nuser = \"me\"",
            "user and password go together",
        ),
        (
            "[smtp.default]\nhost = \"a.example\"\nlimit = \"much\"",
            "limit is a size",
        ),
        (
            "[channels.ops]\nto = \"C1\"",
            "channels.ops: it needs one of",
        ),
        (
            "[channels.ops]\nslack = \"https://hooks.slack.com/x\"",
            "slack is written in clear",
        ),
        (
            "[channels.ops]\ntoken = \"${{ secrets.BOT }}\"",
            "a token needs `to`",
        ),
    ] {
        home.file("semel.toml", text);
        let output = home.run(&["serve"]);
        assert_eq!(output.status.code(), Some(2), "{text}: {}", told(&output));
        let said = stderr(&output);
        assert!(
            said.contains(wanted) && said.contains("semel.toml:1"),
            "{text}: {said}"
        );
        assert!(!said.contains("hooks.slack.com"), "{said}");
    }
}
