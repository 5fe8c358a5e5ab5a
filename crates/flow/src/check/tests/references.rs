//! Names that stand for nothing, and values of the wrong kind.

use super::{codes, flow, said, snapshot};

fn steps(steps: &str) -> String {
    format!("name: f\non: manual\nlet:\n  pay: event.data\nsteps:\n{steps}")
}

fn hook(filter: &str) -> String {
    format!(
        "name: f\non:\n  webhook:\n    path: /hooks/a\n    verify: generic-hmac\n    header: X-Acme-Proof\n    secret: ${{{{ secrets.S }}}}\n    filter: '{filter}'\nkey: ${{{{ event.id }}}}\nsteps: [{{id: s, stop: }}]\n"
    )
}

const GET: &str = "http: {get: https://a.example}";

#[test]
fn wrong_references_are_explained() {
    let flows = [
        ("unknown", steps("  - {id: a, set: {x: \"${{ evnt.id }}\"}}\n"), "C001"),
        ("unknown-bare", steps("  - {id: a, if: event.kind == paid, stop: }\n"), "C001"),
        ("unknown-step-as-name", steps(&format!("  - {{id: list, {GET}}}\n  - {{id: a, set: {{x: \"${{{{ list.id }}}}\"}}}}\n")), "C001"),
        ("unknown-step", steps(&format!("  - {{id: invoice, {GET}}}\n  - {{id: a, set: {{x: \"${{{{ steps.invioce.result }}}}\"}}}}\n")), "C002"),
        ("later", steps(&format!("  - {{id: a, set: {{x: \"${{{{ steps.b.result }}}}\"}}}}\n  - {{id: b, {GET}}}\n")), "C003"),
        ("itself", steps("  - {id: a, http: {get: \"https://a.example/${{ steps.a.result }}\"}}\n"), "C004"),
        ("around", steps(&format!("  - id: all\n    parallel:\n      one: [{{id: a, {GET}, if: steps.all.result}}]\n")), "C004"),
        ("branch", steps(&format!("  - id: all\n    parallel:\n      one: [{{id: a, {GET}}}]\n      two: [{{id: b, set: {{x: \"${{{{ steps.a.result }}}}\"}}}}]\n")), "C005"),
        ("loop", steps(&format!("  - id: all\n    for_each: event.list\n    key: ${{{{ item.id }}}}\n    steps: [{{id: a, {GET}}}]\n  - {{id: b, set: {{x: \"${{{{ steps.a.result }}}}\"}}}}\n")), "C005"),
        ("case", steps(&format!("  - id: way\n    switch:\n      - if: event.x\n        steps: [{{id: a, {GET}}}]\n      - else: [{{id: c, stop: no}}]\n  - {{id: b, set: {{x: \"${{{{ steps.a.result }}}}\"}}}}\n")), "C005?"),
        ("member", steps(&format!("  - {{id: a, {GET}}}\n  - {{id: b, set: {{x: \"${{{{ steps.a.resutl.id }}}}\"}}}}\n")), "C006"),
        ("member-of-run", steps("  - {id: a, set: {x: \"${{ run.kye }}\"}}\n"), "C006"),
        ("member-of-set", steps("  - {id: a, set: {total: 1}}\n  - {id: b, set: {x: \"${{ steps.a.result.totl }}\"}}\n"), "C006"),
        ("member-of-parallel", steps(&format!("  - id: all\n    parallel:\n      one: [{{id: a, {GET}}}]\n  - {{id: b, set: {{x: \"${{{{ steps.all.result.one }}}}\"}}}}\n")), "C006"),
        ("body", steps("  - {id: a, http: {get: \"https://a.example/${{ body.id }}\"}}\n"), "C007"),
        ("item", steps("  - {id: a, set: {x: \"${{ item.id }}\"}}\n"), "C007"),
        ("body-of-rows", steps("  - {id: a, sql: {on: shop, query: select 1}, result: body.n}\n"), "C007"),
        ("rows-of-a-program", steps("  - {id: a, exec: {command: [/opt/a]}, result: rows}\n"), "C001"),
        ("failure", steps("  - {id: a, set: {x: \"${{ failure.step }}\"}}\n"), "C007"),
        ("loop-item", steps(&format!("  - id: all\n    for_each: event.list\n    as: line\n    key: ${{{{ line.id }}}}\n    steps: [{{id: a, {GET}}}]\n  - {{id: b, set: {{x: \"${{{{ line.id }}}}\"}}}}\n")), "C007"),
        ("paging-event", steps("  - id: a\n    http: {get: https://a.example, paging: {items: event.items, next: body.next}}\n"), "C007"),
        ("not-a-condition", steps("  - {id: a, if: size(event.list), stop: }\n"), "C008"),
        ("not-a-list", steps(&format!("  - id: all\n    for_each: size(event.list)\n    key: ${{{{ item.id }}}}\n    steps: [{{id: a, {GET}}}]\n")), "C008"),
        ("never-equal", steps("  - {id: a, http: {get: https://a.example, expect: [200]}, result: status == \"200\"}\n"), "C008"),
        ("half-a-condition", steps("  - {id: a, if: event.ok && \"yes\", stop: }\n"), "C008"),
        ("let-itself", "name: f\nlet:\n  a: a + 1\nsteps: [{id: s, stop: }]\n".to_owned(), "C009"),
        ("let-later", "name: f\nlet:\n  a: b\n  b: event.x\nsteps: [{id: s, stop: }]\n".to_owned(), "C009"),
        ("run-before", "name: f\non: {webhook: {path: /hooks/a, verify: none, filter: run.key == \"a\"}}\nkey: ${{ event.id }}\nsteps: [{id: s, stop: }]\n".to_owned(), "C007"),
        ("request-without-hook", steps("  - {id: a, set: {x: \"${{ request.headers.origin }}\"}}\n"), "C007"),
        ("request-member", hook("request.header.origin == \"a\""), "C006"),
        ("header-credential", hook("request.headers.authorization == \"a\""), "C014"),
        ("header-verified", hook("has(request.headers.`x-acme-proof`)"), "C014"),
        ("header-upper", hook("request.headers[\"X-GitHub-Event\"] == \"push\""), "C014"),
        ("header-impossible", hook("request.headers[\"x github\"] == \"push\""), "C014"),
        ("header-computed", hook("request.headers[event.name] == \"push\""), "C014"),
        ("header-all", hook("\"x-kind\" in request.headers"), "C014"),
        ("undo-of-an-item", steps("  - id: all\n    for_each: event.list\n    key: ${{ item.id }}\n    steps: [{id: a, http: {post: https://a.example}, undo: {http: {delete: https://a.example}}}]\n  - {id: b, fail: no}\n"), "C018?"),
        ("undo-in-on-failure", steps("  - {id: a, fail: no}\non_failure:\n  - {id: t, http: {post: https://a.example}, undo: {http: {delete: https://a.example}}}\n"), "C018?"),
        ("header-kind-of-value", hook("request.headers[\"x-kind\"] == 1"), "C008"),
        ("value-read-before", steps("  - {id: a, kv: {get: k}, result: before}\n"), "C001"),
        ("value-put-changed", steps("  - {id: a, kv: {set: k, to: 1}, result: changed}\n"), "C001"),
        ("value-secret", steps("  - {id: a, kv: {set: k, to: {t: \"Bearer ${{ secrets.T }}\"}}}\n"), "C008"),
        ("value-by-text", steps("  - {id: a, kv: {add: k, by: \"${{ run.key }}\"}}\n"), "C008"),
        ("value-key-list", steps("  - {id: a, kv: {get: \"k/${{ [1] }}\"}}\n"), "C008"),
        ("value-key-secret", steps("  - {id: a, kv: {get: \"k/${{ secrets.T }}\"}}\n"), "K011"),
    ];
    for (name, source, expected) in flows {
        let found = codes(&flow(&source)).join(" ");
        assert_eq!(found, expected, "{name}\n{}", said(&source));
        snapshot(&format!("name-{name}"), &source, &said(&source));
    }
}

#[test]
fn right_references_pass_in_silence() {
    let flows = [
        steps("  - {id: a, set: {x: \"${{ pay.id }} ${{ run.id }} ${{ now() }} ${{ uuid() }}\"}}\n"),
        // What is inside a lock, a parallel or before is seen after it, and in its result.
        steps(&format!("  - id: alone\n    lock: {{name: l, steps: [{{id: a, {GET}}}]}}\n    result: steps.a.result\n  - {{id: b, set: {{x: \"${{{{ steps.a.result.id }}}}${{{{ steps.alone.result.id }}}}\"}}}}\n")),
        steps(&format!("  - id: way\n    switch:\n      - if: event.x\n        steps: [{{id: a, {GET}}}]\n      - else: [{{id: c, stop: no}}]\n  - {{id: b, set: {{x: \"${{{{ default(steps.a.result, 1) }}}}\"}}}}\n")),
        steps(&format!("  - id: all\n    for_each: event.list\n    key: ${{{{ item.id }}}}\n    steps:\n      - {{id: a, {GET}, result: \"body.x + status\"}}\n      - {{id: b, set: {{x: \"${{{{ steps.a.result }}}} ${{{{ item.id }}}}\"}}}}\n  - {{id: c, set: {{x: \"${{{{ steps.all.result.count }}}}\"}}}}\n")),
        steps("  - id: a\n    http: {post: https://a.example, json: {k: \"${{ step.key }}\"}}\n    undo: {http: {post: \"https://a.example/${{ steps.a.result.id }}/void\"}}\n"),
        steps("  - id: all\n    for_each: event.list\n    key: ${{ item.id }}\n    steps: [{id: a, http: {post: https://a.example}, undo: {http: {delete: https://a.example}}}]\n"),
        steps("  - id: all\n    for_each: event.list\n    key: ${{ item.id }}\n    steps: [{id: a, http: {post: https://a.example}, undo: {http: {delete: https://a.example}}}]\n    undo: {http: {delete: https://a.example}}\n  - {id: b, fail: no}\n"),
        hook("request.headers[\"x-kind\"] == \"a\" && has(request.headers.origin) && default(request.headers.`x-b`, \"\") != \"b\""),
        hook("event.l.exists(request, request.headers == 1)"),
        steps("  - {id: a, kv: {add: \"k/${{ run.id }}/${{ date(now()) }}\"}, result: before}\n"),
        steps("  - {id: a, if: \"event.l.exists(status, status == 'x')\", stop: }\n"),
        steps("  - {id: a, fail: no}\non_failure:\n  - {id: t, http: {post: https://a.example, json: {m: \"${{ failure.message }} ${{ steps.a.status }}\"}}}\n"),
        "name: f\non:\n  sync:\n    every: 1h\n    fetch: {http: {get: \"https://a.example?c=${{ cursor }}\"}}\n    items: body.list\n    key: ${{ item.id }}\n    cursor: body.last\n    more: body.more && cursor != \"\"\nsteps: [{id: s, set: {x: \"${{ item.id }}${{ event.id }}\"}}]\n".to_owned(),
    ];
    for source in flows {
        assert_eq!(said(&source), "", "{source}");
    }
}

/// What can be known of a value without its coming.
#[test]
fn kinds_are_known_where_the_file_says_them() {
    for (condition, expected) in [
        ("event.ok", ""),
        ("-1", "C008"),
        ("event.a + event.b", ""),
        ("1 + 2", "C008"),
        ("\"a\" + \"b\"", "C008"),
        ("event.l.all(x, x.ok)", ""),
        ("event.l.map(x, x.ok)", "C008"),
        ("event.a == 1 ? true : event.b", ""),
        ("event.a ? 1 : 2", "C008"),
        ("default(event.ok, false)", ""),
        ("{\"a\": 1}", "C008"),
        ("run.key", "C008"),
        ("steps.made.status", "C008"),
        ("steps.made.result.yes", ""),
        ("steps.made.result.cents", "C008"),
        ("steps.made.result.cents > 1.5", ""),
        ("steps.made.result.cents == \"1\"", "C008"),
        ("steps.made.result", "C008"),
        ("schedule.date == \"2026-01-31\"", ""),
        ("now() > timestamp(event.at)", ""),
        ("now()", "C008"),
        ("1 == 1.0", ""),
        ("event.a == null", ""),
        ("!size(event.l)", "C008"),
    ] {
        let source = steps(&format!(
            "  - {{id: made, set: {{yes: true, cents: 1}}}}\n  - id: a\n    if: '{condition}'\n    stop:\n"
        ));
        assert_eq!(codes(&flow(&source)).join(" "), expected, "{condition}");
    }
}
