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
        text.contains("mail   guarded       once     asks"),
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
