//! Examples: events and answers held against the flow.

use super::{codes, flow, said, snapshot};

const FLOW: &str = "name: f
on: {webhook: {path: /hooks/f, verify: none, filter: 'request.headers[\"x-kind\"] == \"paid\" && order.cents > 0'}}
key: order/${{ order.id }}
let: {order: event.order}
steps:
  - {id: invoice, http: {post: https://billing.example, json: {}, idempotency: {header: Key, window: 24h}}, result: body.id}
  - {id: later, wait: {for: 1h}}
examples:
";

fn with(examples: &str) -> String {
    format!("{FLOW}{examples}")
}

fn event(event: &str) -> String {
    with(&format!(
        "  events:\n    - {{name: one, event: {event}, headers: {{X-Kind: paid}}}}\n"
    ))
}

fn answer(answer: &str) -> String {
    with(&format!("  answers:\n    {answer}\n"))
}

#[test]
fn examples_that_fit_pass_in_silence() {
    let flows = [
        event("{order: {id: o-1, cents: 12}}"),
        answer("invoice: {body: {id: in_1, more: [1, 2.50, null, true]}}"),
        answer("invoice: {status: 201}"),
    ];
    for source in flows {
        assert_eq!(said(&source), "", "{source}");
    }
}

#[test]
fn what_is_written_is_what_is_there() {
    let source = with(
        "  events:\n    - event: {order: {id: 12345678901234567890, cents: 12.50, at: 2026-01-05}}\n  answers: {invoice: {body: {id: yes}}}\n",
    );
    let flow = crate::read(&source).flow.expect("a flow");
    let [example] = &*flow.examples.events else {
        panic!("{:?}", flow.examples);
    };
    assert_eq!(example.name, "event 1");
    assert_eq!(
        example.event.it.to_json(),
        r#"{"order":{"at":"2026-01-05","cents":12.5,"id":12345678901234567890}}"#
    );
    let answer = flow.examples.answer("invoice").expect("an answer");
    assert_eq!(answer.to_json(), r#"{"body":{"id":"yes"}}"#);
}

#[test]
fn examples_that_do_not_fit_are_explained() {
    let other = "{name: one, event: {order: {id: o-1, cents: 12}}, headers: {x-kind: draft}}";
    let flows = [
        ("filtered", event("{order: {id: o-1, cents: 0}}"), "C020?"),
        (
            "other-header",
            with(&format!("  events: [{other}]\n")),
            "C020?",
        ),
        ("no-key", event("{order: {cents: 12}}"), "C021"),
        ("wrong-key", event("{order: {id: [1], cents: 12}}"), "C021"),
        (
            "unknown-step",
            answer("invioce: {body: {id: in_1}}"),
            "C002",
        ),
        ("no-answer", answer("later: {body: {id: in_1}}"), "C022"),
        ("no-name", answer("invoice: {id: in_1}"), "C006"),
        (
            "refused",
            answer("invoice: {status: 402, body: {id: in_1}}"),
            "C022",
        ),
        ("unread", answer("invoice: {body: {number: 7}}"), "C022"),
    ];
    for (name, source, expected) in flows {
        let found = codes(&flow(&source)).join(" ");
        assert_eq!(found, expected, "{name}\n{}", said(&source));
        snapshot(&format!("example-{name}"), &source, &said(&source));
    }
}
