//! `semel prove`: what people see of a flow that holds, and of one that does not.

use crate::support::{Home, ends, stdout, told};

const RETRIES: &str = "name: order
on: manual
key: order/${{ event.id }}
steps:
  - id: mail
    http: {post: https://mail.example/send, json: {to: \"${{ event.email }}\"}}
    on_unknown: RULE
";

#[test]
fn a_flow_that_holds_exits_0() {
    let home = Home::new();
    home.file("order.yaml", RETRIES.replace("RULE", "ask"));
    let output = home.run(&["prove", "order.yaml"]);
    ends(&output, 0, &["crashes happened"]);
    let text = stdout(&output);
    assert!(
        text.contains("mail   guarded      once        once    once    asks"),
        "{text}"
    );
    assert!(
        text.contains("person1@example.com"),
        "the event is shown: {text}"
    );
}

#[test]
fn a_duplicate_is_told_as_a_story_that_can_be_tried_again() {
    let home = Home::new();
    home.file("order.yaml", RETRIES.replace("RULE", "retry"));
    let output = home.run(&["prove", "order.yaml", "--faults", "lost"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let text = stdout(&output);
    for part in [
        "mail seen 2 times (lost)",
        "mail: the answer is lost",
        "`on_unknown: retry`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let schedule = text
        .split("--replay ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    let schedule = schedule.expect("a name");
    let again = home.run(&["prove", "order.yaml", "--replay", schedule]);
    assert_eq!(again.status.code(), Some(1), "{}", told(&again));
    assert!(stdout(&again).contains("mail: the answer is lost"));
    let document = home.run(&["prove", "order.yaml", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&document.stdout).expect("JSON");
    assert_eq!(document["ok"], false);
    assert!(document["crashes"].as_u64() > Some(10), "{document}");
}

#[test]
fn what_the_checker_refuses_is_not_tried() {
    let home = Home::new();
    let wrong = RETRIES.replace("event.id }}", "event.id }}/${{ now() }}");
    home.file("order.yaml", wrong.replace("RULE", "ask"));
    let output = home.run(&["prove", "order.yaml"]);
    ends(&output, 1, &["nothing was tried", "--despite-check"]);
    assert!(stdout(&output).contains("K001"));
    let given = home.run(&["prove", "order.yaml", "--event", "none.json"]);
    assert_eq!(given.status.code(), Some(1));
}

pub(crate) const LARGE: &str = "name: order
on:
  webhook: {path: /hooks/order, verify: none, filter: event.cents > 0}
key: order/${{ event.id }}
steps:
  - id: charge
    http: {post: https://pay.example/charges, json: {cents: \"${{ event.cents }}\"}}
    result: body.id
    on_unknown: RULE
  - id: tell
    if: event.cents > 1000 && steps.charge.result == \"ch_<7>\"
    http: {post: https://chat.example, json: {text: \"${{ steps.charge.result }}\"}}
examples:
  events:
    - {name: small, event: {id: o-1, cents: 12}}
    - {name: \"large & rare\", event: {id: o-2, cents: 5000}}
  answers: {charge: {body: {id: \"ch_<7>\"}}}
";

#[test]
fn every_example_is_tried_and_answers_are_those_of_the_file() {
    let home = Home::new();
    home.file("order.yaml", LARGE.replace("RULE", "ask"));
    let output = home.run(&["prove", "order.yaml", "--faults", "lost"]);
    ends(&output, 0, &["crashes happened"]);
    let text = stdout(&output);
    assert!(text.contains("events: small, large & rare"), "{text}");
    // Only the large one gets there, and only with the answer of the file.
    assert!(text.contains("tell    guarded      asks"), "{text}");
    let small = [
        "prove",
        "order.yaml",
        "--faults",
        "lost",
        "--example",
        "small",
        "--json",
    ];
    let document = home.json(&small);
    assert_eq!(
        document["unreached"],
        serde_json::json!(["tell"]),
        "{document}"
    );
    assert_eq!(document["events"][0]["from"], "example");
    let other = home.run(&["prove", "order.yaml", "--example", "huge"]);
    ends(
        &other,
        2,
        &["has no example \"huge\"", "it has small, large & rare"],
    );
}

/// The story of a duplicate, on a page and for a CI server.
#[test]
fn a_report_is_a_page_and_test_cases() {
    let home = Home::new();
    home.file("order.yaml", LARGE.replace("RULE", "retry"));
    home.file("bad.yaml", "name: bad\non: manual\nsteps: []\n");
    let args = [
        "prove",
        "order.yaml",
        "bad.yaml",
        "--faults",
        "lost",
        "--html",
        "out.html",
    ];
    let output = home.run(&[&args[..], &["--junit", "out.xml"]].concat());
    ends(
        &output,
        1,
        &["wrote out.html", "wrote out.xml", "nothing was tried"],
    );
    let page = std::fs::read_to_string(home.path("out.html")).expect("a page");
    for part in [
        "<td class=\"cell bad\"",
        "charge: the answer is lost",
        "<code>on_unknown: retry</code>",
        "large &amp; rare",
        "data:image/svg+xml,",
        "The checker found errors",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for foreign in ["<script", "src=\"http", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let cases = std::fs::read_to_string(home.path("out.xml")).expect("cases");
    for part in [
        "<testsuite name=\"order\" file=\"order.yaml\" tests=\"3\" failures=\"1\"",
        "<testcase classname=\"order.charge\" name=\"lost\"><failure message=\"seen 2 times\">",
        "<testcase classname=\"order.tell\" name=\"lost\"><system-out>",
        "<testcase classname=\"bad.yaml\" name=\"check\"><failure",
    ] {
        assert!(cases.contains(part), "{part}: {cases}");
    }
    let both = home.run(&["prove", "order.yaml", "bad.yaml", "--example", "small"]);
    ends(&both, 2, &["are for one flow; 2 files were given"]);
}

#[test]
fn a_flow_of_a_known_sender_gets_an_event_like_its() {
    let home = Home::new();
    let flow = "name: pay\non: {webhook: {path: /hooks/s, verify: stripe, secret: \"${{ secrets.S }}\", filter: 'event.type in [\"invoice.paid\", \"invoice.voided\"]'}}\nsteps:\n  - {id: tell, http: {post: https://chat.example, json: {of: \"${{ event.data.object.customer }}\"}}}\n";
    home.file("pay.yaml", flow);
    let document = home.json(&["prove", "pay.yaml", "--faults", "twice", "--json"]);
    let event = &document["events"][0]["event"];
    assert_eq!(event["type"], "invoice.paid", "{event}");
    assert_eq!(event["data"]["object"]["object"], "invoice", "{event}");
    for (member, start) in [
        ("id", "evt_"),
        ("/data/object/id", "in_"),
        ("/data/object/customer", "cus_"),
    ] {
        let found = event.get(member).or(event.pointer(member));
        let text = found.and_then(|it| it.as_str()).unwrap_or_default();
        assert!(text.starts_with(start), "{member}: {event}");
    }
}
