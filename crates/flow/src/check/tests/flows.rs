//! Flows that differ in one key.

use super::SAY;

/// Quoted where YAML would take a colon for its own.
fn quoted(key: &str) -> String {
    if key.contains(": ") {
        format!("'{key}'")
    } else {
        key.to_owned()
    }
}

/// A flow that Stripe starts.
pub(super) fn webhook(key: &str) -> String {
    let key = quoted(key);
    format!(
        "name: order
on: {{webhook: {{path: /hooks/a, verify: stripe, secret: \"${{{{ secrets.S }}}}\"}}}}
key: {key}
let:
  pay: event.data.object
  stamp: now()
  tag: stamp
steps:
{SAY}"
    )
}

pub(super) fn scheduled(key: &str) -> String {
    let key = quoted(key);
    format!("name: daily\non: {{schedule: {{cron: 0 9 * * *}}}}\nkey: {key}\nsteps:\n{SAY}")
}

/// The key of a step behind others.
pub(super) fn step(key: &str) -> String {
    let key = quoted(key);
    format!(
        "name: order
on: {{webhook: {{path: /hooks/a, verify: stripe, secret: \"${{{{ secrets.S }}}}\"}}}}
let:
  pay: event.data.object
steps:
  - id: made
    set: {{at: \"${{{{ now() }}}}\", order: \"${{{{ event.order }}}}\", deep: {{mark: \"m-${{{{ uuid() }}}}\"}}}}
  - id: again
    set: {{at: \"${{{{ steps.made.result.at }}}}\"}}
  - id: list
    http: {{get: https://shop.example/orders}}
    result: body.orders
  - id: one
    http: {{get: https://shop.example/orders?first}}
    result: body.orders[0].id
  - id: who
    ensure:
      find: {{http: {{get: \"https://crm.example?e=${{{{ event.email }}}}\"}}, found: size(body) > 0, result: \"body[0].id\"}}
      create: {{http: {{post: https://crm.example}}, result: body.id}}
  - id: some
    if: event.big
    http: {{post: https://a.example}}
    result: body.id
  - id: mail
    key: {key}
    http: {{post: https://mail.example/send}}
"
    )
}

pub(super) fn looped(key: &str, inner: &str) -> String {
    format!(
        "name: remind
on: {{schedule: {{cron: 0 9 * * *}}}}
steps:
  - id: list
    http: {{get: https://shop.example/subs}}
  - id: each
    for_each: steps.list.result
    as: sub
    key: {key}
    steps:
      - id: look
        http: {{get: \"https://shop.example/subs/${{{{ sub.id }}}}\"}}
      - id: mail
        key: {inner}
        http: {{post: https://mail.example/send}}
"
    )
}

/// The key of a loop and that of a step in it.
pub(super) fn both(keys: &str) -> String {
    let (outer, inner) = keys.split_once('|').expect("two keys");
    looped(outer, inner)
}

pub(super) fn other(part: &str) -> String {
    format!(
        "name: order
on: {{webhook: {{path: /hooks/a, verify: stripe, secret: \"${{{{ secrets.S }}}}\"{}}}}}
{}steps:
{}{SAY}",
        if part.starts_with("latest") {
            format!(", {part}")
        } else {
            String::new()
        },
        if part.starts_with("overlap") {
            format!("{part}\n")
        } else {
            String::new()
        },
        if part.starts_with("lock") {
            format!("  - id: alone\n    {part}\n")
        } else {
            String::new()
        },
    )
}
