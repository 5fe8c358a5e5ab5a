//! Examples of what comes in and of what is answered, for `semel prove`.

use super::{FLOW, Is, Object, field, object, required};

/// What may come in, and what destinations answer.
pub static EXAMPLES: Object = Object {
    at_least_one: &["events", "answers"],
    within: Some(&FLOW),
    ..object(
        "`examples`",
        &[
            field(
                "events",
                Is::Items(&EXAMPLE),
                "What may come in. `semel prove` tries each of them.",
            ),
            field(
                "answers",
                Is::Plains,
                "What destinations answer, by the id of the step: the names that `result` and later steps read, such as `body`.",
            ),
        ],
    )
};

/// One of the events.
pub static EXAMPLE: Object = Object {
    within: Some(&EXAMPLES),
    ..object(
        "an example",
        &[
            field(
                "name",
                Is::Text,
                "What it is called in reports and by `semel prove --example`. Left out, its number.",
            ),
            required("event", Is::Plain, "The event, as it comes in."),
            field(
                "headers",
                Is::Plains,
                "Headers of its request that the flow reads with `request.headers`.",
            ),
        ],
    )
};
