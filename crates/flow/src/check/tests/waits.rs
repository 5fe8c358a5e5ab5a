//! Callbacks and events that are waited for.

use super::{codes, flow, said, snapshot};
use crate::model::{Action, Wait};

fn steps(steps: &str) -> String {
    format!(
        "name: f\non: {{webhook: {{path: /hooks/f, verify: none}}}}\nkey: f/${{{{ event.id }}}}\nsteps:\n{steps}"
    )
}

fn matching(text: &str) -> String {
    steps(&format!(
        "  - id: paid\n    wait:\n      for_event: {{flow: payments, match: '{text}', timeout: 7d}}\n"
    ))
}

const PAID: &str = "  - {id: paid, wait: {callback: {timeout: 1h}}}\n";
const EACH: &str = "  - id: each\n    for_each: event.list\n    key: ${{ item.id }}\n    steps:\n      - {id: ask, http: {post: https://a.example, json: \"${{ callbacks.reply }}\"}}\n      - {id: reply, wait: {callback: {timeout: 1h}}}\n      - {id: more, http: {post: https://a.example, json: \"${{ callbacks.paid }}\"}}\n";

#[test]
fn what_may_be_waited_for_passes_in_silence() {
    let ask = "  - {id: ask, http: {post: https://a.example, json: \"${{ callbacks.paid }}\"}}\n";
    let flows = [
        steps(&format!("{ask}{PAID}")),
        steps(&format!("{EACH}{PAID}")),
        steps("  - {id: a, wait: {for: 2h}}\n  - {id: b, wait: {until: event.at}}\n"),
        matching("incoming.order == event.order"),
        matching("event.order == incoming[\"order\"] && incoming.amount > 10"),
        matching("incoming.amount > 10 && (incoming.a.b[0] == run.key && true)"),
    ];
    for source in flows {
        assert_eq!(said(&source), "", "{source}");
    }
}

#[test]
fn what_cannot_be_waited_for_is_explained() {
    let flows = [
        ("callback-unknown", steps(&format!("  - {{id: a, set: {{x: \"${{{{ callbacks.piad }}}}\"}}}}\n{PAID}")), "C002"),
        ("callback-of-none", steps("  - {id: a, set: {x: \"${{ callbacks.a }}\"}}\n"), "C002"),
        ("callback-bare", steps(&format!("  - {{id: a, set: {{x: \"${{{{ callbacks }}}}\"}}}}\n{PAID}")), "C006"),
        ("callback-in-loop", steps(&format!("{EACH}  - {{id: a, set: {{x: \"${{{{ callbacks.reply }}}}\"}}}}\n{PAID}")), "C005"),
        ("callback-in-key", steps(&format!("  - id: a\n    key: a/${{{{ callbacks.paid }}}}\n    http: {{post: https://a.example}}\n{PAID}")), "K003"),
        ("callback-before", "name: f\non: manual\nkey: ${{ callbacks.paid }}\nsteps: [{id: paid, wait: {callback: {timeout: 1h}}}]\n".to_owned(), "K003"),
        ("incoming-elsewhere", steps("  - {id: a, set: {x: \"${{ incoming.id }}\"}}\n"), "C007"),
        ("match-without-link", matching("incoming.amount > 10"), "C015"),
        ("match-either", matching("incoming.order == event.order || incoming.all"), "C015"),
        ("match-itself", matching("incoming.a == incoming.b"), "C015"),
        ("match-moment", matching("incoming.at == now()"), "C015"),
        ("match-made", matching("string(incoming.order) == event.order"), "C015"),
        ("match-no-condition", matching("size(incoming.list)"), "C008 C015"),
    ];
    for (name, source, expected) in flows {
        let found = codes(&flow(&source)).join(" ");
        assert_eq!(found, expected, "{name}\n{}", said(&source));
        snapshot(&format!("wait-{name}"), &source, &said(&source));
    }
}

#[test]
fn the_link_of_a_match_is_the_same_for_every_spelling() {
    let link = |text: &str| {
        let flow = flow(&matching(text));
        let Action::Wait(Wait::ForEvent(it)) = &flow.steps[0].action else {
            panic!("{:?}", flow.steps[0]);
        };
        it.link().map(|link| link.theirs)
    };
    let path = Some(r#"incoming["a"]["b c"][0]"#.to_owned());
    assert_eq!(link("incoming.a[\"b c\"][0] == event.x"), path);
    assert_eq!(link("event.x == incoming[\"a\"][\"b c\"][0]"), path);
    assert_eq!(link("incoming == event"), Some("incoming".to_owned()));
    assert_eq!(link("incoming[event.n] == event.x"), None);
}
