//! `semel check`, `semel schema` and the codes of messages.

use crate::support::{Home, ends, stderr, stdout, told};

const GOOD: &str = "\
name: order-paid
on:
  webhook: {path: /hooks/order, verify: none}
key: order/${{ event.id }}
steps:
  - id: customer
    http: {get: 'https://crm.example/customers/${{ event.customer }}'}
  - id: invoice
    http:
      post: https://billing.example/invoices
      json: {customer: '${{ steps.customer.result.id }}', amount: '${{ event.amount }}'}
      idempotency: {header: Idempotency-Key, window: 24h}
on_failure:
  - id: tell
    http: {post: https://chat.example/messages, json: {text: it failed}}
";

const BAD: &str = "\
name: order-paid
on:
  webhook: {path: /hooks/order, verify: none}
key: order/${{ event.id }}/${{ now() }}
steps:
  - id: mail
    htpp: {post: https://mail.example}
  - id: invoice
    http: {post: https://billing.example, json: {of: '${{ steps.later.id }}'}}
";

#[test]
fn a_sound_file_shows_what_its_steps_do() {
    let home = Home::new();
    home.file("order.yaml", GOOD);
    let output = home.run(&["check", "order.yaml"]);
    ends(&output, 0, &["order.yaml: no problems"]);
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn all_that_is_wrong_is_told_with_its_place() {
    let home = Home::new();
    home.file("order.yaml", BAD);
    let output = home.run(&["check", "order.yaml"]);
    ends(&output, 1, &["order.yaml: 3 errors", "semel explain"]);
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn a_program_gets_the_same_as_data() {
    let home = Home::new();
    home.file("good.yaml", GOOD);
    home.file(
        "bad.yaml",
        BAD.replace("/order", "/other")
            .replace("order-paid", "other"),
    );
    let output = home.run(&["check", ".", "--json"]);
    ends(&output, 1, &[]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["ok"], false);
    let (bad, good) = (&document["files"][0], &document["files"][1]);
    assert_eq!(
        (&bad["file"], &bad["errors"]),
        (&"./bad.yaml".into(), &3.into())
    );
    let first = &bad["diagnostics"][0];
    assert_eq!(
        (&first["code"], &first["at"]["line"]),
        (&"K001".into(), &4.into())
    );
    assert_eq!(good["flow"], "order-paid");
    assert_eq!(good["diagnostics"], serde_json::json!([]));
    let step = &good["steps"][1];
    assert_eq!(
        (&step["step"], &step["class"]),
        (&"invoice".into(), &"keyed".into())
    );
    assert_eq!(step["scope"], "order-paid/invoice");
    assert_eq!(good["steps"][2]["on_failure"], true);
}

#[test]
fn files_are_looked_at_side_by_side() {
    let home = Home::new();
    std::fs::create_dir(home.path("flows")).unwrap();
    home.file("flows/a.yaml", GOOD);
    home.file("flows/b.yml", GOOD.replace("/hooks/order", "/hooks/b"));
    home.file("flows/c.yaml", GOOD.replace("order-paid", "other"));
    home.file("flows/.c.yaml.swp", "half");
    let output = home.run(&["check", "flows"]);
    ends(
        &output,
        1,
        &["a.yaml: no problems", "b.yml: 1 error", "c.yaml: 1 error"],
    );
    let text = stdout(&output);
    for says in [
        "F022",
        "the name is taken at flows/a.yaml:1:7",
        "F023",
        "flows/a.yaml:3:19",
    ] {
        assert!(text.contains(says), "{says:?} is not in:\n{text}");
    }
}

#[test]
fn what_cannot_be_read_is_wrong_usage() {
    let home = Home::new();
    std::fs::create_dir(home.path("empty")).unwrap();
    for (words, says) in [
        (&["check"][..], "FILE|DIR"),
        (&["check", "no.yaml"], "cannot read no.yaml"),
        (&["check", "empty"], "no flow file in the folder empty"),
        (&["check", "empty", "--agianst", "live"], "--against"),
    ] {
        ends(&home.run(words), 2, &[says]);
    }
    home.file("latin.yaml", b"name: caf\xe9\n");
    let output = home.run(&["check", "latin.yaml"]);
    ends(&output, 1, &["1 error"]);
    assert!(stdout(&output).contains("not UTF-8"), "{}", told(&output));
}

#[test]
fn a_file_cannot_steer_the_terminal() {
    let home = Home::new();
    home.file(
        "x.yaml",
        GOOD.replace("id: tell", "id: \"te\\e[31mll\"")
            .replace("order-paid", "a\u{202e}b"),
    );
    let output = home.run(&["check", "x.yaml"]);
    ends(&output, 1, &[]);
    let all = told(&output);
    assert!(
        !all.contains('\u{1b}') && !all.contains('\u{202e}'),
        "{all}"
    );
}

#[test]
fn messages_have_pages() {
    let home = Home::new();
    for code in ["K001", "k001", "F022", "X001", "C001"] {
        let page = home.run(&["explain", code]);
        ends(&page, 0, &[]);
        assert!(
            stdout(&page).contains(&code.to_uppercase()),
            "{}",
            told(&page)
        );
    }
    let json = home.json(&["explain", "K001", "--json"]);
    assert_eq!(json["status"], serde_json::Value::Null);
    assert!(json["page"].as_str().unwrap().len() > 100, "{json}");
    let all = home.json(&["explain", "--json"]);
    let codes: Vec<_> = all["codes"].as_array().unwrap().iter().collect();
    assert!(codes.iter().any(|code| code["code"] == "K001"));
    assert!(codes.iter().any(|code| code["code"] == "busy"));
}

#[test]
fn the_schema_is_printed_or_written() {
    let home = Home::new();
    let printed = home.json(&["schema"]);
    assert_eq!(printed["title"], "A flow of Semel");
    let output = home.run(&["schema", "--out", "flow.json"]);
    ends(&output, 0, &["wrote flow.json"]);
    let written: serde_json::Value = serde_json::from_str(&home.read("flow.json")).unwrap();
    assert_eq!(printed, written);
    ends(
        &home.run(&["schema", "--out", "no/flow.json"]),
        1,
        &["cannot write no/flow.json"],
    );
    assert_eq!(stderr(&home.run(&["schema"])), "");
}

#[test]
fn a_flow_is_drawn() {
    let home = Home::new();
    home.file("order.yaml", GOOD);
    let drawn = home.run(&["graph", "order.yaml"]);
    ends(&drawn, 0, &[]);
    for says in ["order-paid", "webhook", "invoice", "keyed"] {
        assert!(stdout(&drawn).contains(says), "{}", told(&drawn));
    }
    ends(
        &home.run(&["graph", "order.yaml", "--svg", "order.svg"]),
        0,
        &["wrote order.svg"],
    );
    let printed = stdout(&home.run(&["graph", "order.yaml", "--svg", "-"]));
    assert_eq!(printed.trim_end(), home.read("order.svg").trim_end());
    assert!(printed.starts_with("<svg"), "{printed}");
    let json = home.json(&["graph", "order.yaml", "--json"]);
    assert_eq!(
        json["text"].as_str().unwrap().trim_end(),
        stdout(&drawn).trim_end()
    );
    home.file("bad.yaml", BAD);
    ends(
        &home.run(&["graph", "bad.yaml"]),
        0,
        &["bad.yaml has errors: semel check bad.yaml"],
    );
    home.file("none.yaml", "- 1\n");
    ends(
        &home.run(&["graph", "none.yaml"]),
        1,
        &["cannot be read as a flow"],
    );
    ends(&home.run(&["graph", "."]), 2, &["one file is drawn"]);
}
