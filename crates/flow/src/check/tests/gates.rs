//! Asking people for leave: what they must not see, links to them, and what such a step looks like.

use super::{codes, flow, said, snapshot};
use crate::check::{hands_out_links, mark_volatile, table};
use crate::model::Action;

const GATE: &str =
    "  - id: ok\n    approve: {by: [ann], ask: \"Pay ${{ event.sum }}?\", timeout: 1h}\n";

fn steps(before: &str, after: &str) -> String {
    format!(
        "name: f\non: manual\nkey: pay/${{{{ event.id }}}}\nlet: {{auth: '\"key \" + secrets.API_KEY'}}\nsteps:\n{before}{GATE}{after}"
    )
}

fn tell(link: &str) -> String {
    format!(
        "  - id: tell\n    notify: {{slack: '${{{{ secrets.S }}}}', text: 'Look: ${{{{ {link} }}}}'}}\n"
    )
}

#[test]
fn wrong_gates_are_explained() {
    let shown = "name: f\non: manual\nkey: ${{ event.id }}\nsteps:\n  - id: ok\n    approve:\n      by: [ann]\n      timeout: 48h\n      ask: Pay with ${{ secrets.API_KEY }}?\n";
    let by_let = steps("", "").replace("event.sum", "auth");
    let each = format!(
        "name: f\non: manual\nkey: ${{{{ event.id }}}}\nsteps:\n{}  - id: all\n    for_each: event.list\n    key: ${{{{ item.id }}}}\n    steps:\n      - id: ok\n        approve: {{by: [ann], ask: May it?, timeout: 1h}}\n",
        tell("approvals.ok.ann")
    );
    let key =
        "  - id: send\n    key: x/${{ approvals.ok.ann }}\n    http: {post: https://a.example}\n";
    let flows = [
        ("shown-secret", shown.to_owned(), "C016"),
        ("shown-secret-by-let", by_let, "C016"),
        (
            "link-to-nobody",
            steps(&tell("approvals.ok.anne"), ""),
            "C006",
        ),
        (
            "link-to-no-gate",
            steps(&tell("approvals.tell.ann"), ""),
            "C002",
        ),
        ("link-unfinished", steps(&tell("approvals.ok"), ""), "C006"),
        ("link-to-items", each, "C005"),
        ("link-in-a-key", steps(key, ""), "K003"),
        (
            "member-of-approval",
            steps(
                "",
                "  - {id: a, set: {x: \"${{ steps.ok.result.who }}\"}}\n",
            ),
            "C006",
        ),
    ];
    for (name, source, expected) in flows {
        let found = codes(&flow(&source)).join(" ");
        assert_eq!(found, expected, "{name}\n{}", said(&source));
        snapshot(&format!("gate-{name}"), &source, &said(&source));
    }
}

#[test]
fn links_are_made_for_whoever_is_asked() {
    let source = steps(&tell("approvals.ok.ann"), "");
    assert_eq!(said(&source), "");
    assert!(hands_out_links(&flow(&source)));
    assert!(!hands_out_links(&flow(&steps("", ""))));
    // Who is in a group is known to the server alone.
    let grouped = steps(&tell("approvals.ok.zoe"), "").replace("[ann]", "[ann, group:finance]");
    assert_eq!(said(&grouped), "");
}

/// A link has the run in it: two requests that differ in nothing else are the same request.
#[test]
fn links_depend_on_the_moment() {
    let mut flow = flow(&steps(&tell("approvals.ok.ann"), ""));
    mark_volatile(&mut flow);
    let Action::Act(act) = &flow.steps[0].action else {
        panic!("{:?}", flow.steps[0]);
    };
    let text = act.member("text").expect("text");
    let crate::model::Tree::Text(text) = text else {
        panic!("{text:?}");
    };
    assert!(text.exprs().all(|expr| expr.volatile));
}

#[test]
fn the_table_says_what_keeps_an_approval() {
    let rows = table(&flow(&steps("", "")));
    let row = &rows[0];
    assert_eq!((row.kind, row.class.name()), ("approve", "pure"));
    assert_eq!(row.scope.as_deref(), Some("f/ok"));
    assert_eq!(row.key.as_deref(), Some("pay/${{ event.id }}/ok"));
    assert_eq!(row.guard, "the ledger, by what is asked");
}
