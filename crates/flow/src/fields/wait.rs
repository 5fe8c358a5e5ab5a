//! Waiting: for a time, for a callback, for an event.

use semel_ledger::Millis;

use super::{Field, Is, Object, STEP, duration, field, object, required};

/// A run rests until something has come.
pub static WAIT: Object = Object {
    exactly_one: &["for", "until", "callback", "for_event"],
    within: Some(&STEP),
    ..object("`wait`", &WAIT_FIELDS)
};

static WAIT_FIELDS: [Field; 4] = [
    field(
        "for",
        duration(Millis(1), Millis::days(366)),
        "How long, from when its turn has come.",
    ),
    field(
        "until",
        Is::Expr,
        "Until this time: a timestamp, or text such as `2026-12-24T18:00:00Z`. One in the past is over at once.",
    ),
    field(
        "callback",
        Is::Object(&CALLBACK),
        "Until somebody posts to `callbacks.<id>`; the result is what they posted.",
    ),
    field(
        "for_event",
        Is::Object(&FOR_EVENT),
        "Until an event comes that matches; the result is the event.",
    ),
];

const TIMEOUT: Field = required(
    "timeout",
    duration(Millis::seconds(1), Millis::days(366)),
    "How long at the most.",
);

const ON_TIMEOUT: Field = field(
    "on_timeout",
    Is::Word(&["fail", "go_on"]),
    "What happens then: the step fails, or the run goes on with the result `null`. Left out, `fail`.",
);

/// A request from outside that goes on with the run.
pub static CALLBACK: Object = Object {
    within: Some(&WAIT),
    ..object("`callback`", &[TIMEOUT, ON_TIMEOUT])
};

/// An event that another flow took in, or that was emitted.
pub static FOR_EVENT: Object = Object {
    exactly_one: &["flow", "event"],
    within: Some(&WAIT),
    ..object("`for_event`", &FOR_EVENT_FIELDS)
};

static FOR_EVENT_FIELDS: [Field; 5] = [
    field("flow", Is::Name, "An event that this flow takes in."),
    field("event", Is::DottedName, "An emitted event of this name."),
    required(
        "match",
        Is::Expr,
        "Is it this one? The event is `incoming`; a part that must hold is that one of its members equals \
         something of this run: `incoming.order == event.order`.",
    ),
    TIMEOUT,
    ON_TIMEOUT,
];
