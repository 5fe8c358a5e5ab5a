//! Policies that do not fit, with their numbers, and steps that come too early.

use super::{codes, flow, said, snapshot};

fn hook(verify: &str, rest: &str) -> String {
    format!(
        "name: f\non: {{webhook: {{path: /hooks/a, verify: {verify}, secret: \"${{{{ secrets.S }}}}\"}}}}\n{rest}"
    )
}

const STEPS: &str = "steps: [{id: s, stop: }]\n";

#[test]
fn keys_must_outlive_the_senders_patience() {
    let source = hook("stripe", &format!("remember: 1d\n{STEPS}"));
    assert_eq!(codes(&flow(&source)), ["K009?"]);
    snapshot("policy-remember", &source, &said(&source));
    for (verify, remember, expected) in [
        ("stripe", "3d", ""),
        ("stripe", "71h59m", "K009?"),
        ("slack", "2d", ""),
        ("slack", "1d", "K009?"),
        ("standard-webhooks", "4d", "K009?"),
    ] {
        let source = hook(verify, &format!("remember: {remember}\n{STEPS}"));
        assert_eq!(
            codes(&flow(&source)).join(" "),
            expected,
            "{verify} {remember}"
        );
    }
}

fn keyed(window: &str, retry: &str) -> String {
    format!(
        "name: f\non: manual\nsteps:\n  - id: pay\n    http: {{post: https://pay.example, idempotency: {{header: Idempotency-Key, window: {window}}}}}\n    timeout: 10s\n    {retry}\n"
    )
}

#[test]
fn retries_must_end_within_the_window() {
    let source = keyed("24h", "retry: {max: 40, backoff: 1m..1h}");
    assert_eq!(codes(&flow(&source)), ["K010?"]);
    snapshot("policy-window", &source, &said(&source));
    // Pauses of 1, 2 and 4 minutes and four attempts of 10 seconds: 7m40s.
    for (window, retry, expected) in [
        ("7m40s", "retry: {max: 4, backoff: 1m..1h}", ""),
        ("7m39s", "retry: {max: 4, backoff: 1m..1h}", "K010?"),
        ("7m39s", "retry: {max: 4, backoff: 1m..1h, within: 5m}", ""),
        ("5m", "retry: {max: 4, backoff: 1m..1m}", ""),
        ("3m39s", "retry: {max: 4, backoff: 1m..1m}", "K010?"),
        ("60s", "retry: {max: 1}", ""),
        ("1m", "effect: guarded", ""),
    ] {
        let source = keyed(window, retry);
        assert_eq!(
            codes(&flow(&source)).join(" "),
            expected,
            "{window} {retry}"
        );
    }
    // Without a policy of its own: the flow's, or the default of 8 attempts.
    let own = keyed("60s", "result: body.id");
    assert_eq!(codes(&flow(&own)), ["K010?"]);
    let of_flow = own.replace("on: manual", "on: manual\nretry: {max: 1}");
    assert_eq!(codes(&flow(&of_flow)).join(" "), "");
}

fn guarded(rest: &str) -> String {
    format!(
        "name: f\non: manual\nsteps:\n  - id: send\n    http: {{post: https://mail.example}}\n    {rest}\n"
    )
}

#[test]
fn what_a_retry_means_is_said() {
    for (name, rest, expected) in [
        ("retry", "retry: {max: 3}", "C011."),
        ("blind", "on_unknown: retry", "C012?"),
        ("claimed-read", "effect: read", "C013?"),
        ("claimed-keyed", "effect: keyed", "C013?"),
    ] {
        let source = guarded(rest);
        assert_eq!(codes(&flow(&source)).join(" "), expected, "{rest}");
        snapshot(&format!("policy-{name}"), &source, &said(&source));
    }
    let lookup = "lookup: {http: {get: https://mail.example}, found: status == 200}";
    for rest in [
        format!("retry: {{max: 3}}\n    {lookup}"),
        "on_unknown: ask".to_owned(),
        "on_unknown: skip".to_owned(),
        "effect: guarded".to_owned(),
    ] {
        assert_eq!(said(&guarded(&rest)), "", "{rest}");
    }
    let blind = guarded(&format!("on_unknown: retry\n    {lookup}"));
    assert_eq!(codes(&flow(&blind)), ["C012?"]);
}

fn steps(steps: &str) -> String {
    format!("name: f\non: manual\nsteps:\n{steps}")
}

const CHARGE: &str =
    "  - {id: charge, http: {post: https://pay.example/charges}, result: body.id}\n";
const CHECK: &str = "  - {id: check, http: {get: https://shop.example/stock}}\n";

#[test]
fn a_dangerous_step_comes_after_what_may_fail() {
    let early = steps(&format!("{CHARGE}{CHECK}"));
    assert_eq!(codes(&flow(&early)), ["C010?"]);
    snapshot("policy-early", &early, &said(&early));
    let refusal = "  - {id: no, if: event.x, fail: not allowed}\n";
    assert_eq!(
        codes(&flow(&steps(&format!("{CHARGE}{refusal}")))),
        ["C010?"]
    );
    let needs =
        "  - {id: check, http: {get: \"https://shop.example/${{ steps.charge.result }}\"}}\n";
    let through = format!(
        "{CHARGE}  - {{id: set, set: {{x: \"${{{{ steps.charge.result }}}}\"}}}}\n  - {{id: check, if: steps.set.result.x != \"\", http: {{get: https://shop.example}}}}\n"
    );
    let same = "  - {id: check, http: {get: https://pay.example/charges/last}}\n";
    let put = "  - {id: check, http: {put: https://shop.example/stock}}\n";
    for right in [
        format!("{CHECK}{CHARGE}"),
        format!("{CHARGE}{needs}"),
        through,
        format!("{CHARGE}{same}"),
        format!("{CHARGE}{put}"),
    ] {
        assert_eq!(said(&steps(&right)), "", "{right}");
    }
}
