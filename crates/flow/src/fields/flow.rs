//! The flow itself.

use semel_ledger::Millis;
use semel_ledger::time::LONGEST;

use super::{EXAMPLES, Field, Is, Object, duration, field, object, required};

/// The whole file.
pub static FLOW: Object = object(
    "the flow",
    &[
        required(
            "name",
            Is::Name,
            "What the flow is called; also the scope of its runs.",
        ),
        field("description", Is::Text, "What it does, for people."),
        field(
            "on",
            Is::Triggers,
            "What starts it. It can always be started by hand; `manual` says that nothing else does.",
        ),
        field(
            "key",
            Is::Template,
            "The identity of a run: the same key, the same run. Left out, the trigger's own, such as the sender's event id.",
        ),
        field(
            "remember",
            duration(Millis::seconds(60), LONGEST),
            "How long done keys protect. Left out, the server's default.",
        ),
        field(
            "overlap",
            Is::Short {
                long: &OVERLAP,
                main: "policy",
            },
            "What happens to a run that starts while another is under way.",
        ),
        field(
            "retry",
            Is::Object(&RETRY),
            "When failed steps are tried again, for steps without a `retry` of their own.",
        ),
        field(
            "order",
            Is::Word(&["strict", "loose"]),
            "Whether a run that retries or waits for a person holds up those queued behind it (`strict`, the default) or lets them pass.",
        ),
        field(
            "let",
            Is::Exprs,
            "Names for expressions; each may use those before it.",
        ),
        required("steps", Is::Steps, "What is done, in order."),
        field(
            "on_failure",
            Is::Steps,
            "What is done when a step has finally failed; `failure.step` and `failure.message` say which and why.",
        ),
        field(
            "examples",
            Is::Object(&EXAMPLES),
            "Events and answers for `semel prove`. A run uses nothing of it.",
        ),
    ],
);

/// What happens to a run that overlaps another.
pub static OVERLAP: Object = Object {
    within: Some(&FLOW),
    ..object(
        "`overlap`",
        &[
            field(
                "per",
                Is::Template,
                "Which runs count as the same. Left out, all of the flow.",
            ),
            required(
                "policy",
                Is::Word(&["allow", "queue", "skip", "replace"]),
                "Run both, wait for the first, do not start the second, or cancel the first.",
            ),
        ],
    )
};

/// When to repeat.
pub static RETRY: Object = object("`retry`", &RETRY_FIELDS);

static RETRY_FIELDS: [Field; 4] = [
    field(
        "max",
        Is::Whole { min: 1, max: 1000 },
        "Attempts in all. Left out, 8.",
    ),
    field(
        "backoff",
        Is::Backoff,
        "The first pause and the longest; it doubles from one to the other, with jitter. Left out, `1s..10m`.",
    ),
    field(
        "within",
        duration(Millis::seconds(1), Millis::days(365)),
        "Give up this long after the first attempt. Left out, only `max` counts.",
    ),
    field(
        "then",
        Is::Word(&["fail", "ask"]),
        "What happens when the attempts are used up: the step has failed (the default), or a person is asked whether to go on.",
    ),
];
