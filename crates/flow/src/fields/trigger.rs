//! What starts a flow.

use semel_ledger::Millis;

use super::http::HTTP;
use super::{FLOW, Field, Is, Object, duration, field, object, required};

/// The triggers there are.
pub static TRIGGERS: Object = Object {
    within: Some(&FLOW),
    ..object(
        "`on`",
        &[
            field("webhook", Is::Object(&WEBHOOK), "A request from outside."),
            field("schedule", Is::Object(&SCHEDULE), "The clock."),
            field(
                "sync",
                Is::Object(&SYNC),
                "The clock, and then a list to be fetched: one run for each item.",
            ),
            field(
                "event",
                Is::Short {
                    long: &EVENT,
                    main: "name",
                },
                "Another flow's `emit`.",
            ),
            field(
                "manual",
                Is::Nothing,
                "Nothing but a person or a program that asks.",
            ),
        ],
    )
};

/// A request from outside.
pub static WEBHOOK: Object = Object {
    at_most_one: &[&["secret", "secrets"]],
    within: Some(&FLOW),
    ..object("`webhook`", &WEBHOOK_FIELDS)
};

static WEBHOOK_FIELDS: [Field; 10] = [
    required(
        "path",
        Is::HookPath,
        "Where the sender posts to, such as `/hooks/stripe`; unique on the server.",
    ),
    required(
        "verify",
        Is::Word(&[
            "stripe",
            "github",
            "shopify",
            "slack",
            "standard-webhooks",
            "typeform",
            "generic-hmac",
            "bearer",
            "none",
        ]),
        "How the sender is recognised. `none` must be written out.",
    ),
    field(
        "secret",
        Is::Secret,
        "What the sender signs with. Required unless `verify` is `none`.",
    ),
    field(
        "secrets",
        Is::Secrets,
        "Several secrets, all accepted, while one is being replaced.",
    ),
    field(
        "header",
        Is::Text,
        "`generic-hmac`: the header that carries the signature.",
    ),
    field(
        "encoding",
        Is::Word(&["hex", "base64"]),
        "`generic-hmac`: how the signature is written. Left out, `hex`.",
    ),
    field(
        "prefix",
        Is::Text,
        "`generic-hmac`: what stands before the signature, such as `sha256=`.",
    ),
    field(
        "tolerance",
        duration(Millis::seconds(1), Millis::days(1)),
        "How old a signed time may be. Left out, the preset's.",
    ),
    field(
        "filter",
        Is::Expr,
        "Only events for which this is true start a run.",
    ),
    field(
        "latest",
        Is::Object(&LATEST),
        "Only events that are newer than what was applied start a run.",
    ),
];

/// Only if nothing newer about the same thing was applied.
pub static LATEST: Object = Object {
    within: Some(&WEBHOOK),
    ..object(
        "`latest`",
        &[
            required("of", Is::Template, "Which thing the event is about."),
            required(
                "version",
                Is::Expr,
                "Its version: a whole number or a time that only grows.",
            ),
        ],
    )
};

/// The clock.
pub static SCHEDULE: Object = Object {
    exactly_one: TIMINGS,
    needs: &[("zone", "cron")],
    within: Some(&FLOW),
    ..object("`schedule`", &[CRON, ZONE, EVERY, MISSED])
};

const TIMINGS: &[&str] = &["cron", "every"];

const CRON: Field = field(
    "cron",
    Is::Cron,
    "Minute, hour, day of the month, month, day of the week. A time that a clock change skips fires at the change; one that it repeats fires once.",
);

const ZONE: Field = field(
    "zone",
    Is::Zone,
    "The time zone of `cron`, such as `Europe/Berlin`. Left out, `UTC`.",
);

const EVERY: Field = field(
    "every",
    duration(Millis::seconds(1), Millis::days(366)),
    "How often, counted from 1970 so that every node agrees.",
);

const MISSED: Field = field(
    "missed",
    Is::Word(&["skip", "once", "all"]),
    "What of ticks that passed while nobody was there. Left out, `once`.",
);

/// A list to be fetched on a schedule.
pub static SYNC: Object = Object {
    exactly_one: TIMINGS,
    needs: &[("zone", "cron")],
    within: Some(&FLOW),
    ..object(
        "`sync`",
        &[
            CRON,
            ZONE,
            EVERY,
            MISSED,
            required(
                "fetch",
                Is::Object(&FETCH),
                "The call that answers with a list.",
            ),
            required("items", Is::Expr, "Over the answer: the items."),
            required(
                "key",
                Is::Template,
                "The identity of an item, which is called `item`: the same key, the same run.",
            ),
            field(
                "cursor",
                Is::Expr,
                "Over the answer: where the next fetch goes on; the last one is called `cursor`.",
            ),
            field(
                "more",
                Is::Expr,
                "Over the answer: whether there is another page right now. Left out, when there were items and the cursor moved.",
            ),
        ],
    )
};

/// From where a list is fetched.
pub static FETCH: Object = Object {
    within: Some(&SYNC),
    ..object(
        "`fetch`",
        &[required(
            "http",
            Is::Object(&HTTP),
            "A request that only reads.",
        )],
    )
};

/// Another flow's `emit`.
pub static EVENT: Object = Object {
    within: Some(&FLOW),
    ..object(
        "`event`",
        &[
            required("name", Is::DottedName, "The event's name, as in `emit`."),
            field(
                "filter",
                Is::Expr,
                "Only events for which this is true start a run.",
            ),
        ],
    )
};
