//! A question to a language model.

use semel_ledger::Millis;

use super::{Field, Is, Object, STEP, duration, field, object, required};

/// A question to a language model.
pub static AI: Object = Object {
    exactly_one: &["prompt", "messages"],
    within: Some(&STEP),
    ..object("`ai`", &AI_FIELDS)
};

static AI_FIELDS: [Field; 9] = [
    required(
        "model",
        Is::Name,
        "The model, by the name that the server's configuration gives it.",
    ),
    field("prompt", Is::Template, "What to ask."),
    field(
        "messages",
        Is::Objects(&MESSAGE),
        "A whole conversation, the question last.",
    ),
    field(
        "system",
        Is::Template,
        "What the model is told before everything else.",
    ),
    field(
        "schema",
        Is::Tree,
        "The answer is JSON of this JSON Schema, an object; the result is its value instead of text.",
    ),
    field(
        "temperature",
        Is::Decimal { max: 2 },
        "How freely it answers. Left out, what the configuration says, else what the model does.",
    ),
    field(
        "max_tokens",
        Is::Whole {
            min: 1,
            max: 1_000_000,
        },
        "How long the answer may be. Left out, what the configuration says.",
    ),
    field(
        "sample",
        Is::Template,
        "Something that makes the same question another one, to get a second answer.",
    ),
    field(
        "cache",
        duration(Millis::seconds(1), Millis::days(365)),
        "For this long every flow that asks the same gets the same answer. Left out, only the same step for the same key.",
    ),
];

/// One message of a conversation.
pub static MESSAGE: Object = Object {
    within: Some(&AI),
    ..object(
        "a message",
        &[
            required(
                "role",
                Is::Word(&["system", "user", "assistant"]),
                "Who says it.",
            ),
            required("text", Is::Template, "What is said."),
        ],
    )
};
