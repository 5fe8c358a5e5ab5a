//! What a model said, where it would steer, and questions that are never asked twice.

use super::{codes, flow, said, snapshot};
use crate::model::{Action, Class, OnUnknown};
use crate::{mark_volatile, table};

/// A flow whose model picks something, and a step that uses it.
fn picked(step: &str) -> String {
    format!(
        "name: f\non: manual\nsteps:\n  - id: pick\n    ai: {{model: small, prompt: \"Which? ${{{{ event.text }}}}\"}}\n{step}"
    )
}

#[test]
fn what_a_model_said_is_data() {
    let source = picked(
        "  - id: send\n    http: {post: \"https://${{ steps.pick.result }}.example/tickets\"}\n",
    );
    assert_eq!(codes(&flow(&source)), ["C017?"]);
    snapshot("said-address", &source, &said(&source));
    for (step, expected) in [
        (
            "exec: {command: [/bin/do, \"${{ steps.pick.result }}\"]}",
            "C017?",
        ),
        (
            "ssh: {host: \"${{ steps.pick.result }}.lan\", user: job, command: [ls]}",
            "C017?",
        ),
        (
            "email: {to: \"${{ steps.pick.result }}\", subject: a, text: b}",
            "C017?",
        ),
        (
            "email: {to: a@b.example, subject: a, text: \"${{ steps.pick.result }}\"}",
            "",
        ),
        (
            "http: {post: https://a.example, json: {it: \"${{ steps.pick.result }}\"}}",
            "",
        ),
        (
            "notify: {channel: ops, text: \"${{ steps.pick.result }}\"}",
            "",
        ),
        (
            "ai: {model: small, prompt: \"Shorter: ${{ steps.pick.result }}\"}",
            "",
        ),
    ] {
        let source = picked(&format!("  - id: use\n    {step}\n"));
        assert_eq!(codes(&flow(&source)).join(" "), expected, "{step}");
    }
    let switched = picked(
        "  - id: route\n    switch:\n      - if: steps.pick.result == \"a\"\n        steps: [{id: a, http: {post: https://a.example}}]\n      - else: [{id: b, http: {post: https://b.example}}]\n",
    );
    assert_eq!(said(&switched), "");
}

fn asked(prompt: &str, more: &str) -> String {
    format!(
        "name: f\non: manual\nsteps:\n  - id: ask\n    ai: {{model: small, prompt: \"{prompt}\"{more}}}\n"
    )
}

#[test]
fn a_question_that_moves_is_never_shared() {
    let source = asked("Is it spring on ${{ now() }}?", ", cache: 30d");
    assert_eq!(codes(&flow(&source)), ["C019?"]);
    snapshot("said-shared", &source, &said(&source));
    for (prompt, more) in [
        ("Is it spring on ${{ now() }}?", ""),
        ("Is ${{ event.x }} good?", ", cache: 30d"),
    ] {
        assert_eq!(said(&asked(prompt, more)), "", "{prompt}");
    }
}

/// A repeat is paid for, but nobody sees it: guarded, and repeated when nobody knows.
#[test]
fn a_question_is_guarded_and_repeated() {
    let mut lines = Vec::new();
    for more in ["", ", cache: 30d"] {
        let flow = flow(&asked("?", more));
        let step = &flow.steps[0];
        assert_eq!(
            (step.class(), step.rule()),
            (Class::Guarded, OnUnknown::Retry)
        );
        let row = &table(&flow)[0];
        let (scope, key) = (row.scope.as_deref(), row.key.as_deref());
        lines.push(format!(
            "{} {} | {} | {} | {}",
            scope.unwrap_or("-"),
            key.unwrap_or("-"),
            row.guard,
            row.on_unknown,
            row.retry
        ));
    }
    insta::assert_snapshot!(lines.join("\n"));
    for (rule, expected) in [("retry", ""), ("ask", "")] {
        let source = format!("{}    on_unknown: {rule}\n", asked("?", ""));
        assert_eq!(codes(&flow(&source)).join(" "), expected, "{rule}");
    }
}

/// What another model said is a part of the question; what the clock says is not.
#[test]
fn what_a_model_said_counts_in_a_question() {
    let source = picked(
        "  - id: ask\n    ai: {model: small, prompt: \"${{ steps.pick.result }} ${{ now() }}\"}\n  - id: send\n    http: {post: https://a.example, body: \"${{ steps.pick.result }}\"}\n",
    );
    let mut flow = flow(&source);
    mark_volatile(&mut flow);
    let marked = |at: usize, field: &str| {
        let Action::Act(act) = &flow.steps[at].action else {
            panic!("{:?}", flow.steps[at]);
        };
        let Some(crate::model::Tree::Text(text)) = act.member(field) else {
            panic!("no {field}");
        };
        text.exprs().map(|expr| expr.volatile).collect::<Vec<_>>()
    };
    assert_eq!(marked(1, "prompt"), [false, true]);
    assert_eq!(marked(2, "body"), [true]);
}
