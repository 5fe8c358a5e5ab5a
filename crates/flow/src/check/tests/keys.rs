//! Good and bad keys of every kind, and where their values come from.

use super::flows::{both, looped, other, scheduled, step, webhook};
use super::{SAY, codes, flow, said, snapshot};

#[test]
fn good_keys_pass_in_silence() {
    let flows = [
        webhook("stripe/${{ event.id }}"),
        webhook("${{ pay.id }}"),
        webhook("${{ pay.customer }}/${{ event.created }}"),
        webhook("${{ hash(event.order, event.amount) }}"),
        webhook("${{ event.type }}-${{ event.id.lowerAscii() }}"),
        webhook("welcome/${{ event.customer }}"),
        webhook("${{ event.lines.map(l, l.id).join(\",\") }}"),
        webhook("${{ date(event.created) }}/${{ event.customer }}"),
        webhook("${{ event.kind == \"a\" ? event.a : event.b }}"),
        webhook("${{ request.headers[\"x-github-delivery\"] }}"),
        webhook("${{ request.headers[\"x-shopify-topic\"] }}/${{ event.id }}"),
        step("mail/${{ default(request.headers[\"idempotency-key\"], event.id) }}"),
        webhook("${{ has(request.headers.`webhook-id`) ? event.a : event.b }}"),
        scheduled("${{ schedule.date }}"),
        scheduled("report/${{ schedule.time }}"),
        step("mail/${{ event.id }}"),
        step("mail/${{ steps.made.result.order }}"),
        step("mail/${{ steps.who.result }}"),
        step("mail/${{ run.key }}"),
        step("mail/${{ pay.id }}"),
        looped("${{ sub.id }}", "mail/${{ sub.id }}/${{ sub.ends }}"),
        looped("${{ sub.id }}/${{ schedule.date }}", "mail/${{ run.key }}"),
        other("overlap: {per: \"${{ event.customer }}\", policy: queue}"),
        other("lock: {name: stock, steps: [{id: a, stop: done}]}"),
        other("lock: {name: \"stock/${{ event.warehouse }}\", steps: [{id: a, stop: done}]}"),
        other("latest: {of: \"${{ event.object.id }}\", version: event.created}"),
    ];
    for source in flows {
        assert_eq!(said(&source), "", "{source}");
    }
}

/// Name, kind of flow, key and what is found: an error, a warning (`?`) or a note (`.`).
type Case = (&'static str, fn(&str) -> String, &'static str, &'static str);

const BAD: &[Case] = &[
    (
        "clock",
        webhook,
        "stripe/${{ event.id }}/${{ now() }}",
        "K001",
    ),
    ("clock-date", webhook, "${{ date(now()) }}", "K001"),
    ("clock-let", webhook, "a/${{ string(tag) }}", "K001"),
    (
        "clock-twice",
        webhook,
        "${{ string(tag) }}/${{ string(tag) }}",
        "K001 K001",
    ),
    (
        "clock-branch",
        webhook,
        "${{ now() > event.due ? event.a : event.b }}",
        "K001",
    ),
    (
        "clock-map",
        webhook,
        "${{ [1].map(x, string(now())).join(\"\") }}",
        "K001",
    ),
    ("clock-scheduled", scheduled, "${{ date(now()) }}", "K001"),
    (
        "clock-step",
        step,
        "${{ string(steps.again.result.at) }}",
        "K001",
    ),
    ("random", webhook, "${{ uuid() }}", "K002"),
    (
        "random-set",
        step,
        "${{ steps.made.result.deep.mark }}",
        "K002",
    ),
    (
        "random-whole-set",
        step,
        "${{ hash(steps.made.result) }}",
        "K001 K002",
    ),
    ("run-id", step, "mail/${{ run.id }}", "K003"),
    (
        "run-attempt",
        step,
        "mail/${{ event.id }}/${{ run.attempt }}",
        "K003",
    ),
    ("delivery", webhook, "${{ delivery.id }}", "K003"),
    ("delivery-time", webhook, "${{ schedule.date }}", "K003"),
    (
        "delivery-name",
        webhook,
        "${{ event.id }}/${{ event.deliveryId }}",
        "K003?",
    ),
    (
        "header-time",
        webhook,
        "${{ event.id }}/${{ request.headers[\"webhook-timestamp\"] }}",
        "K003",
    ),
    (
        "header-unknown",
        step,
        "mail/${{ request.headers[\"x-acme-id\"] }}",
        "K003?",
    ),
    (
        "header-kind",
        webhook,
        "${{ request.headers[\"x-github-event\"] }}",
        "K005?",
    ),
    ("constant", webhook, "payments", "K004"),
    ("constant-step", step, "mail", "K004"),
    ("constant-flow-name", step, "${{ run.flow }}/mail", "K004"),
    ("constant-tick", scheduled, "daily", "K004"),
    ("narrow", webhook, "${{ event.customer }}", "K005?"),
    ("narrow-id", webhook, "c/${{ pay.customer.id }}", "K005?"),
    (
        "narrow-email",
        step,
        "receipt/${{ event.data.receipt_email }}",
        "K005?",
    ),
    (
        "narrow-item",
        both,
        "${{ sub.customerId }}|${{ sub.id }}",
        "K005?",
    ),
    ("empty", webhook, "${{ default(event.ref, \"\") }}", "K006?"),
    (
        "shared",
        webhook,
        "${{ has(event.ref) ? event.ref : \"none\" }}",
        "K006?",
    ),
    ("element", webhook, "${{ event.lines[0].id }}", "K006?"),
    ("skipped", step, "${{ steps.some.result }}", "K006?"),
    ("raw", webhook, "${{ hash(event) }}", "K008?"),
    ("raw-let", webhook, "${{ hash(toJson(pay)) }}", "K008?"),
    (
        "secret",
        webhook,
        "${{ secrets.TENANT }}/${{ event.id }}",
        "K011",
    ),
    ("position", step, "${{ steps.list.result[0].id }}", "K012"),
    (
        "position-in-result",
        step,
        "${{ steps.one.result }}",
        "K012",
    ),
    (
        "position-first",
        step,
        "${{ first(steps.list.result).id }}",
        "K012",
    ),
    (
        "item-missing",
        both,
        "${{ schedule.date }}|${{ sub.id }}",
        "K013",
    ),
    (
        "item-missing-in-step",
        both,
        "${{ sub.id }}|mail/${{ schedule.date }}",
        "K013",
    ),
    (
        "answer",
        step,
        "${{ string(size(steps.list.result)) }}",
        "K014.",
    ),
    (
        "lock-clock",
        other,
        "lock: {name: \"l/${{ date(now()) }}\", steps: [{id: a, stop: done}]}",
        "K001",
    ),
    (
        "overlap-run",
        other,
        "overlap: {per: \"${{ uuid() }}\", policy: queue}",
        "K002",
    ),
    (
        "latest-constant",
        other,
        "latest: {of: all, version: event.created}",
        "K004?",
    ),
    ("type-bool", webhook, "${{ event.a == 1 }}", "C008"),
    ("type-list", webhook, "${{ [event.id] }}", "C008"),
    ("type-time", webhook, "${{ timestamp(event.at) }}", "C008"),
];

#[test]
fn bad_keys_are_explained_with_the_way_their_values_took() {
    for (name, make, key, expected) in BAD {
        let source = make(key);
        let found = codes(&flow(&source)).join(" ");
        assert_eq!(found, *expected, "{name}\n{}", said(&source));
        snapshot(&format!("key-{name}"), &source, &said(&source));
    }
}

#[test]
fn what_a_model_said_makes_no_key() {
    let source = "name: f\non: {schedule: {every: 1h}}\nsteps:\n  - id: note\n    ai: {model: small, prompt: hello}\n  - id: short\n    set: {words: \"${{ steps.note.result }}\"}\n  - id: mail\n    key: ${{ steps.short.result.words }}\n    http: {post: https://mail.example}\n";
    assert_eq!(codes(&flow(source)), ["K007"]);
    snapshot("key-ai", source, &said(source));
}

/// An item is as stable as the list it is of.
#[test]
fn items_bring_along_where_their_list_comes_from() {
    let source = "name: f
on: {schedule: {every: 1h}}
steps:
  - id: outer
    for_each: '[date(now())]'
    as: day
    key: ${{ day }}
    steps:
      - id: inner
        for_each: day.split(\"-\")
        as: part
        key: ${{ part }}
        steps:
          - {id: mail, key: \"${{ part }}\", http: {post: https://mail.example}}
";
    assert_eq!(codes(&flow(source)), ["K001", "K001", "K001"]);
    snapshot("key-clock-items", source, &said(source));
}

#[test]
fn keys_of_fetched_items_need_the_item() {
    let sync = |key: &str| {
        format!(
            "name: f\non:\n  sync:\n    every: 1h\n    fetch: {{http: {{get: https://shop.example}}}}\n    items: body.orders\n    key: {key}\nsteps:\n{SAY}"
        )
    };
    for (key, expected) in [
        ("${{ item.id }}", ""),
        ("${{ item.id }}/${{ schedule.date }}", ""),
        ("${{ item.customer_id }}", "K005?"),
        ("${{ schedule.date }}", "K013"),
        ("orders", "K013"),
        ("${{ item.id }}/${{ uuid() }}", "K002"),
    ] {
        assert_eq!(codes(&flow(&sync(key))).join(" "), expected, "{key}");
    }
}

#[test]
fn a_sender_without_ids_needs_a_key() {
    let hook = |verify: &str, key: &str| {
        format!(
            "name: f\non: {{webhook: {{path: /hooks/a, verify: {verify}}}}}\n{key}steps:\n{SAY}"
        )
    };
    let source = hook("none", "");
    assert_eq!(codes(&flow(&source)), ["K015?"]);
    snapshot("key-none", &source, &said(&source));
    assert_eq!(said(&hook("none", "key: ${{ event.id }}\n")), "");
    assert_eq!(said(&hook("stripe, secret: \"${{ secrets.S }}\"", "")), "");
}

#[test]
fn a_run_cannot_be_named_by_its_steps() {
    let source = "name: f\non: {webhook: {path: /hooks/a, verify: none}}\nkey: ${{ id }}\nlet:\n  id: steps.say.result.id\nsteps:\n  - id: say\n    http: {post: https://chat.example}\n";
    assert_eq!(codes(&flow(source)), ["C007"]);
    snapshot("key-from-step", source, &said(source));
}

/// By hand, once for ever may be what is meant.
#[test]
fn a_constant_key_is_tolerated_by_hand() {
    let source = format!("name: f\non: manual\nkey: migrate\nsteps:\n{SAY}");
    assert_eq!(codes(&flow(&source)), ["K004?"]);
}

/// What to write instead depends on who sends.
#[test]
fn a_better_key_is_one_that_the_sender_has() {
    for (on, better) in [
        (
            "{webhook: {path: /hooks/a, verify: stripe, secret: \"${{ secrets.S }}\"}}",
            "event.id",
        ),
        (
            "{webhook: {path: /hooks/a, verify: slack, secret: \"${{ secrets.S }}\"}}",
            "event.event_id",
        ),
        (
            "{webhook: {path: /hooks/a, verify: typeform, secret: \"${{ secrets.S }}\"}}",
            "event.event_id",
        ),
        (
            "{webhook: {path: /hooks/a, verify: github, secret: \"${{ secrets.S }}\"}}",
            "the event id that github sends",
        ),
        ("{schedule: {every: 1h}}", "use ${{ schedule.time }}"),
        ("{event: order.paid}", "event.id"),
    ] {
        let said = said(&format!(
            "name: f\non: {on}\nkey: ${{{{ uuid() }}}}\nsteps:\n{SAY}"
        ));
        let help = said
            .lines()
            .find(|line| line.contains("help: "))
            .expect("help");
        assert!(help.contains(better), "{on}: {help}");
    }
}
