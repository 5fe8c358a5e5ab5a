//! The table of steps, and what is marked as moving.

use std::fmt::Write as _;

use super::{flow, snapshot};
use crate::model::{Action, Tree};
use crate::{mark_volatile, table};

const FLOW: &str = "name: f
on: {webhook: {path: /hooks/a, verify: none}}
key: order/${{ event.id }}
retry: {max: 3, backoff: 1s..1m}
steps:
  - {id: total, set: {cents: 1}}
  - {id: look, http: {get: https://a.example}}
  - {id: put, http: {put: https://a.example}}
  - {id: pay, http: {post: https://a.example, idempotency: {header: Idempotency-Key, window: 24h}}}
  - {id: send, http: {post: https://a.example}, timeout: 5s}
  - id: known
    key: k/${{ event.id }}
    scope: shared/known
    http: {post: https://a.example}
    lookup: {http: {get: https://a.example}, found: status == 200, settle: 3s}
    on_unknown: skip
  - id: blind
    http: {post: https://a.example}
    on_unknown: retry
    retry: {max: 1}
  - id: who
    ensure:
      find: {http: {get: https://a.example}, found: status == 200}
      create: {http: {post: https://a.example}}
  - id: each
    for_each: event.lines
    as: line
    key: ${{ event.id }}/${{ line.id }}
    steps:
      - {id: ship, http: {post: https://a.example}}
  - id: alone
    lock: {name: stock, steps: [{id: tell, emit: {event: a.b}}]}
on_failure:
  - {id: cry, http: {post: https://a.example}}
";

#[test]
fn the_table_says_who_guards_what() {
    let mut text = String::new();
    for row in table(&flow(FLOW)) {
        let step = format!("{}{}", "  ".repeat(row.depth), row.step);
        let _ = writeln!(
            text,
            "{step}: {} {}{}\n    scope {}, key {}\n    guard {}\n    unknown {}\n    retry {}",
            row.kind,
            row.class.name(),
            if row.on_failure { ", on failure" } else { "" },
            row.scope.as_deref().unwrap_or("–"),
            row.key.as_deref().unwrap_or("–"),
            row.guard,
            row.on_unknown,
            row.retry,
        );
    }
    snapshot("table", FLOW, &text);
}

#[test]
fn what_depends_on_the_moment_is_marked() {
    let mut flow = flow(
        "name: f\non: manual\nlet: {stamp: now()}\nsteps:\n  - {id: made, set: {at: \"${{ stamp }}\", fixed: \"${{ event.x }}\"}}\n  - id: send\n    http:\n      post: https://a.example\n      json:\n        clock: ${{ now() }}\n        named: ${{ stamp }}\n        step: at ${{ steps.made.result.at }}\n        run: ${{ run.id }}\n        link: ${{ callbacks.back }}\n        random: ${{ uuid() }}\n        fixed: ${{ steps.made.result.fixed }}\n        event: ${{ event.x }}\n        key: ${{ step.key }}${{ run.key }}\n  - {id: back, wait: {callback: {timeout: 1h}}}\n",
    );
    mark_volatile(&mut flow);
    let Action::Act(act) = &flow.steps[1].action else {
        panic!("{:?}", flow.steps[1]);
    };
    let Some(Tree::Map(members)) = act.member("json") else {
        panic!("{act:?}");
    };
    let marked: Vec<_> = members
        .iter()
        .filter(|(_, tree)| match tree {
            Tree::Text(template) => template.exprs().any(|expr| expr.volatile),
            _ => false,
        })
        .map(|(name, _)| name.it.as_str())
        .collect();
    assert_eq!(marked, ["clock", "named", "step", "run", "link", "random"]);
}
