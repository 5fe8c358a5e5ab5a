//! Asking people for leave before the run goes on.

use semel_ledger::Millis;

use super::{Field, Is, Object, STEP, duration, field, object, required};

const BY: Field = required(
    "by",
    Is::People,
    "Who may answer: names of people, and `group:NAME` for a group of the server's configuration.",
);

const TIMEOUT: Is = duration(Millis::seconds(1), Millis::days(365));

/// Ask people for leave.
pub static APPROVE: Object = Object {
    within: Some(&STEP),
    ..object(
        "`approve`",
        &[
            BY,
            required("ask", Is::Template, "The question, in one line."),
            field(
                "show",
                Is::Tree,
                "What they should see beside it, such as an amount.",
            ),
            field(
                "needed",
                Is::Whole { min: 1, max: 100 },
                "How many must say yes; one no is enough to reject. Left out, 1.",
            ),
            required(
                "timeout",
                TIMEOUT,
                "How long to wait, such as `48h`: a request that nobody answers must not hold the run for ever.",
            ),
            field(
                "on_timeout",
                Is::Word(&["approve", "reject", "escalate"]),
                "What counts when nobody answered in time; `escalate` asks the people of `escalate`. Left out, `reject`.",
            ),
            field(
                "escalate",
                Is::Object(&ESCALATE),
                "With `on_timeout: escalate`: who is asked then.",
            ),
            field(
                "allow_maker",
                Is::Bool,
                "Whoever started the run by hand may answer, too. Left out, they may not.",
            ),
            field(
                "on_reject",
                Is::Word(&["fail", "stop", "go_on"]),
                "After a no: the step has failed, the run ends as done, or it goes on with `approved` false. Left out, `fail`.",
            ),
        ],
    )
};

/// Who is asked when the first ones did not answer in time.
pub static ESCALATE: Object = Object {
    within: Some(&APPROVE),
    ..object(
        "`escalate`",
        &[
            BY,
            required("timeout", TIMEOUT, "How long to wait for them."),
            field(
                "on_timeout",
                Is::Word(&["approve", "reject"]),
                "What counts when they did not answer either. Left out, `reject`.",
            ),
        ],
    )
};
