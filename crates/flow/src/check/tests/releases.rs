//! What a new release would forget.

use super::flow;
use crate::abandoned;

fn release(name: &str, key: &str, steps: &str) -> crate::Flow {
    flow(&format!(
        "name: {name}\non: {{webhook: {{path: /hooks/a, verify: none}}}}\nkey: {key}\nlet:\n  pay: event.data\nsteps:\n{steps}"
    ))
}

const SEND: &str = "  - {id: send, http: {post: https://mail.example}}\n";

fn lost(live: &crate::Flow, new: &crate::Flow) -> Vec<(String, String, String)> {
    let all = abandoned(live, new).into_iter();
    all.map(|it| (it.scope, it.why, it.keep)).collect()
}

fn one(scope: &str, why: &str, keep: &str) -> Vec<(String, String, String)> {
    vec![(scope.to_owned(), why.to_owned(), keep.to_owned())]
}

#[test]
fn the_same_abandons_nothing() {
    let live = release("f", "${{ event.id }}", SEND);
    assert_eq!(lost(&live, &live), []);
    // Nor does a step that the ledger keeps nothing of, another request, or a kept scope.
    for steps in [
        format!("{SEND}  - {{id: look, http: {{get: https://a.example}}}}\n"),
        "  - {id: send, http: {post: https://other.example}}\n".to_owned(),
        "  - {id: post, scope: f/send, key: \"${{ event.id }}/send\", http: {post: https://mail.example}}\n".to_owned(),
    ] {
        let new = release("f", "${{ event.id }}", &steps);
        assert_eq!(lost(&live, &new), [], "{steps}");
    }
}

#[test]
fn a_step_of_another_name_is_found_by_its_scope() {
    let live = release("f", "${{ event.id }}", SEND);
    let new = release(
        "f",
        "${{ event.id }}",
        "  - {id: tell, http: {post: https://log.example}}\n  - {id: post, http: {post: https://mail.example}}\n",
    );
    assert_eq!(
        lost(&live, &new),
        one(
            "f/send",
            "no step has this scope any more",
            "at step post write scope: f/send",
        )
    );
    let gone = release("f", "${{ event.id }}", "  - {id: a, stop: }\n");
    assert_eq!(
        lost(&live, &gone),
        one(
            "f/send",
            "no step has this scope any more",
            "if another step does this now, write there scope: f/send",
        )
    );
}

#[test]
fn another_key_is_another_memory() {
    let with = |key: &str| {
        release(
            "f",
            "${{ event.id }}",
            &format!("  - {{id: send, key: \"{key}\", http: {{post: https://mail.example}}}}\n"),
        )
    };
    let live = with("mail/${{ pay.id }}");
    assert_eq!(
        lost(&live, &with("mail/${{ pay.order }}")),
        one(
            "f/send",
            "its key was `mail/${{ pay.id }}` and is now `mail/${{ pay.order }}`",
            "key: mail/${{ pay.id }}",
        )
    );
    let mut other = with("mail/${{ pay.id }}");
    other.lets[0].1 =
        crate::Expr::parse("event.object", crate::Span::default()).expect("an expression");
    let lost = lost(&live, &other);
    assert_eq!(lost.len(), 1);
    assert!(lost[0].1.contains("stand for something else"), "{lost:?}");
}

/// A flow's key is part of every key that is not written.
#[test]
fn another_flow_key_reaches_steps_without_their_own() {
    let live = release("f", "${{ event.id }}", SEND);
    let new = release("f", "${{ event.order }}", SEND);
    let scopes: Vec<_> = abandoned(&live, &new)
        .into_iter()
        .map(|it| (it.scope, it.step))
        .collect();
    assert_eq!(
        scopes,
        [
            ("f".to_owned(), None),
            ("f/send".to_owned(), Some("send".to_owned()))
        ]
    );
}
